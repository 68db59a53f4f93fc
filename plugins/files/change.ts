import { structuredPatch, type StructuredPatchHunk } from 'diff';
import type { Sketch } from '../../kernel/index.ts';
import { toLf } from './endings.ts';

/** What a change did to a file. */
export interface FileDiff {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  /** As many of their lines as are drawn. */
  readonly hunks: readonly StructuredPatchHunk[];
}

/** Lines of a diff as the model reads it, which has written the change itself, and as surfaces draw it. */
const MAX_SHOWN = 80;
const MAX_DRAWN = 400;
/** Characters of one of its lines. */
const MAX_LINE = 400;

/** Compares two texts line by line; line endings and a missing final line feed do not count. */
export const diffOf = (path: string, before: string, after: string): FileDiff => {
  const [old, now] = [closed(toLf(before)), closed(toLf(after))];
  const hunks = structuredPatch('', '', old, now, '', '', { context: 1, maxEditLength: 3000, timeout: 500 })?.hunks ?? [roughHunk(old, now)];
  const count = (sign: string): number => hunks.reduce((sum, hunk) => sum + hunk.lines.filter((line) => line.startsWith(sign)).length, 0);
  return { path, added: count('+'), removed: count('-'), hunks: bounded(hunks) };
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

const bounded = (hunks: readonly StructuredPatchHunk[]): readonly StructuredPatchHunk[] => {
  let room = MAX_DRAWN;
  return hunks.flatMap((hunk) => {
    const lines = hunk.lines.slice(0, room).map((line) => (line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line));
    room -= lines.length;
    return lines.length > 0 ? [{ ...hunk, lines }] : [];
  });
};

/** The diff as the model reads it: at most 80 lines, then how many changed lines are not shown. */
export const renderDiff = (diff: FileDiff): string => {
  const { rows, left } = firstRows(diff, MAX_SHOWN);
  return (left > 0 ? [...rows, `(${left} more changed lines)`] : rows).join('\n');
};

/** The diff for surfaces. A line that begins with a backslash is a remark in this format. */
export const diffView = (diff: FileDiff): Sketch => {
  const { rows, left } = firstRows(diff, MAX_DRAWN);
  return { kind: 'diff', path: diff.path, text: (left > 0 ? [...rows, `\\ ${left} more changed lines`] : rows).join('\n') };
};

const firstRows = ({ hunks, added, removed }: FileDiff, most: number): { readonly rows: readonly string[]; readonly left: number } => {
  const rows = hunks.flatMap((hunk) => [`@@ -${range(hunk.oldStart, hunk.oldLines)} +${range(hunk.newStart, hunk.newLines)} @@`, ...hunk.lines]).slice(0, most);
  return { rows, left: added + removed - rows.filter((row) => /^[+-]/.test(row)).length };
};

// Of no lines the format names the one before.
const range = (start: number, lines: number): string => `${lines === 0 ? start - 1 : start},${lines}`;

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
