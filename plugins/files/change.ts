import { structuredPatch, type StructuredPatchHunk } from 'diff';
import { toLf } from './endings.ts';

/** What a change did to a file, for surfaces to draw. */
export interface FileDiff {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  readonly hunks: readonly StructuredPatchHunk[];
  /** Hunks were left out: there are more than are drawn. */
  readonly cut: boolean;
}

/** Lines that a diff shows to the model, and that it keeps for surfaces. */
const MAX_SHOWN = 80;
const MAX_KEPT = 2000;
const MAX_LINE = 400;

/** Compares two texts line by line; line endings and a missing final line feed do not count. */
export const diffOf = (path: string, before: string, after: string): FileDiff => {
  const [old, now] = [closed(toLf(before)), closed(toLf(after))];
  const hunks = structuredPatch('', '', old, now, '', '', { context: 1, maxEditLength: 3000, timeout: 500 })?.hunks ?? [roughHunk(old, now)];
  const count = (sign: string): number => hunks.reduce((sum, hunk) => sum + hunk.lines.filter((line) => line.startsWith(sign)).length, 0);
  return { path, added: count('+'), removed: count('-'), ...bounded(hunks) };
};

const closed = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`);

// Too different to be compared in time: everything between the first and the last difference.
const roughHunk = (before: string, after: string): StructuredPatchHunk => {
  const [old, now] = [before.split('\n').slice(0, -1), after.split('\n').slice(0, -1)];
  const most = Math.min(old.length, now.length);
  let head = 0;
  while (head < most && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < most - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  const gone = old.slice(head, old.length - tail).map((line) => `-${line}`);
  const come = now.slice(head, now.length - tail).map((line) => `+${line}`);
  return { oldStart: head + 1, oldLines: gone.length, newStart: head + 1, newLines: come.length, lines: [...gone, ...come] };
};

const bounded = (hunks: readonly StructuredPatchHunk[]): Pick<FileDiff, 'hunks' | 'cut'> => {
  let room = MAX_KEPT;
  const kept = hunks.flatMap((hunk) => {
    const lines = hunk.lines.slice(0, room).map((line) => (line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line));
    room -= lines.length;
    return lines.length > 0 ? [{ ...hunk, lines }] : [];
  });
  return { hunks: kept, cut: hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0) > MAX_KEPT };
};

/** The diff as the model reads it: at most 80 lines, then how many changed lines are not shown. */
export const renderDiff = (diff: FileDiff): string => {
  const rows = diff.hunks.flatMap((hunk) => [`@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`, ...hunk.lines]);
  const shown = rows.slice(0, MAX_SHOWN);
  const left = diff.added + diff.removed - shown.filter((row) => /^[+-]/.test(row)).length;
  return left > 0 ? [...shown, `(${left} more changed lines)`].join('\n') : shown.join('\n');
};

/** Two neighbouring lines that are alike and were not before: often a slip at the edge of a replacement. */
export const repeatedLines = (before: string, after: string): string | undefined => {
  const pairs = new Set(repeats(before).map(({ line }) => line));
  const slip = repeats(after).find(({ line }) => !pairs.has(line));
  return slip && `Warning: lines ${slip.at} and ${slip.at + 1} are identical.`;
};
const repeats = (text: string): readonly { readonly line: string; readonly at: number }[] => {
  const lines = toLf(text).split('\n');
  return lines.flatMap((line, index) => (index > 0 && line === lines[index - 1] && /[\p{L}\p{N}]/u.test(line) ? [{ line, at: index }] : []));
};
