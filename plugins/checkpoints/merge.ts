/** Takes one change of a text back and keeps another that was made since. */
import { diffArrays } from 'diff';
import { LIMITS } from './limits.ts';

/** Lines `from` to `to` of the base become `lines`. */
interface Hunk {
  readonly from: number;
  readonly to: number;
  readonly lines: readonly string[];
}

/** What both sides made of `base`; undefined where they touch the same or neighbouring lines, or where it is no text. */
export const merge = (base: Buffer, ours: Buffer, theirs: Buffer): Buffer | undefined => {
  const [from, one, other] = [base, ours, theirs].map(linesOf);
  if (!from || !one || !other) return undefined;
  const left = hunksOf(from, one);
  const right = hunksOf(from, other);
  const all = left && right && together(left, right);
  if (!all) return undefined;
  const lines: string[] = [];
  let at = 0;
  for (const hunk of all) {
    lines.push(...from.slice(at, hunk.from), ...hunk.lines);
    at = hunk.to;
  }
  return Buffer.from([...lines, ...from.slice(at)].join(''), 'latin1');
};

/** Byte for byte, whatever the encoding; undefined for what holds a zero byte. */
const linesOf = (bytes: Buffer): readonly string[] | undefined => (bytes.includes(0) ? undefined : bytes.toString('latin1').split(/(?<=\n)/));

const hunksOf = (base: readonly string[], made: readonly string[]): readonly Hunk[] | undefined => {
  const parts = diffArrays([...base], [...made], { timeout: LIMITS.mergeMs });
  if (!parts) return undefined;
  const hunks: Hunk[] = [];
  let at = 0;
  for (const { added, removed, value } of parts) {
    const to = added ? at : at + value.length;
    if (added || removed) add(hunks, { from: at, to, lines: added ? value : [] });
    at = to;
  }
  return hunks;
};
/** What is taken out and what is put in at one place are one change. */
const add = (hunks: Hunk[], hunk: Hunk): void => {
  const last = hunks.at(-1);
  if (last?.to === hunk.from) hunks[hunks.length - 1] = { from: last.from, to: hunk.to, lines: [...last.lines, ...hunk.lines] };
  else hunks.push(hunk);
};

/** Undefined where two of them touch and are not the same. */
const together = (left: readonly Hunk[], right: readonly Hunk[]): readonly Hunk[] | undefined => {
  const all: Hunk[] = [];
  const isSameHunk = (one: Hunk, other: Hunk): boolean => one.from === other.from && one.to === other.to && one.lines.join('') === other.lines.join('');
  for (const hunk of [...left, ...right].toSorted((one, other) => one.from - other.from || one.to - other.to)) {
    const last = all.at(-1);
    if (last && isSameHunk(last, hunk)) continue;
    if (last && hunk.from <= last.to) return undefined;
    all.push(hunk);
  }
  return all;
};
