import { diffArrays } from 'diff';

/** The line that another one continues: word for word (`same`), or as its changed form. */
export interface Ancestor {
  readonly at: number;
  readonly same: boolean;
}

/** For each line of `after`, the line of `before` that it continues; undefined for a line that is new. */
export const alignLines = (before: readonly string[], after: readonly string[]): readonly (Ancestor | undefined)[] => {
  const parts = diffArrays([...before], [...after], { maxEditLength: 1000, timeout: 200 });
  if (!parts) return after.map((line, at) => (at < before.length ? { at, same: before[at] === line } : undefined));
  const ancestors: (Ancestor | undefined)[] = [];
  let at = 0;
  let removed: number[] = [];
  let added = 0;
  const settle = (): void => {
    for (let index = 0; index < added; index++) {
      const partner = removed[index];
      ancestors.push(partner === undefined ? undefined : { at: partner, same: false });
    }
    removed = [];
    added = 0;
  };
  for (const part of parts) {
    if (part.added) {
      added += part.count;
      continue;
    }
    if (!part.removed) settle();
    for (let index = 0; index < part.count; index++, at++) {
      if (part.removed) removed.push(at);
      else ancestors.push({ at, same: true });
    }
  }
  settle();
  return ancestors;
};
