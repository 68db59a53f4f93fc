import { structuredPatch, type StructuredPatchHunk } from 'diff';
import type { Sketch } from '../../kernel/index.ts';
import { type ChangedPart, changedPart } from './changed-part.ts';
import { countOf, toLf } from './endings.ts';
import { shorten } from './shorten.ts';

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

/** Characters of both texts that are compared line by line. */
const MAX_COMPARED = 4 * 1024 * 1024;

/** Compares two texts line by line; line endings and a missing final line feed do not count. */
export const diffOf = (path: string, before: string, after: string): FileDiff => {
  const [old, now] = [closed(toLf(before)), closed(toLf(after))];
  const hunks = exactHunks(changedPart(old, now, 1));
  if (!hunks) return roughDiff(path, changedPart(old, now, 0));
  const count = (sign: string): number => hunks.reduce((sum, hunk) => sum + hunk.lines.filter((line) => line.startsWith(sign)).length, 0);
  return { path, added: count('+'), removed: count('-'), hunks: bounded(hunks) };
};

const closed = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`);

const isLarge = ({ old, now }: ChangedPart): boolean => old.length + now.length > MAX_COMPARED;

const exactHunks = (part: ChangedPart): readonly StructuredPatchHunk[] | undefined => {
  if (isLarge(part)) return undefined;
  const patch = structuredPatch('', '', part.old, part.now, '', '', { context: 1, maxEditLength: 3000, timeout: 500 });
  return patch?.hunks.map((hunk) => ({ ...hunk, oldStart: hunk.oldStart + part.skipped, newStart: hunk.newStart + part.skipped }));
};

// Too different to be compared in time: everything between the first and the last difference.
const roughDiff = (path: string, { old, now, skipped }: ChangedPart): FileDiff => {
  const [removed, added] = [countOf(old, '\n'), countOf(now, '\n')];
  const lines = [...firstLines(old).map((line) => `-${line}`), ...firstLines(now).map((line) => `+${line}`)];
  const hunk = { oldStart: skipped + 1, oldLines: removed, newStart: skipped + 1, newLines: added, lines };
  return { path, added, removed, hunks: bounded([hunk]) };
};

const firstLines = (text: string): readonly string[] => {
  const lines: string[] = [];
  for (let at = 0; at < text.length && lines.length < MAX_DRAWN; ) {
    const feed = text.indexOf('\n', at);
    lines.push(text.slice(at, feed));
    at = feed + 1;
  }
  return lines;
};

const bounded = (hunks: readonly StructuredPatchHunk[]): readonly StructuredPatchHunk[] => {
  let room = MAX_DRAWN;
  return hunks.flatMap((hunk) => {
    const lines = hunk.lines.slice(0, room).map((line) => shorten(line, MAX_LINE));
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
  const part = changedPart(toLf(before), toLf(after), 1);
  if (isLarge(part)) return undefined;
  const pairs = new Set(repeats(part.old).map(({ line }) => line));
  const slip = repeats(part.now).find(({ line }) => !pairs.has(line));
  return slip && `Warning: lines ${part.skipped + slip.at} and ${part.skipped + slip.at + 1} are identical.`;
};
const repeats = (text: string): readonly { readonly line: string; readonly at: number }[] => {
  const lines = text.split('\n');
  return lines.flatMap((line, index) => (index > 0 && line === lines[index - 1] && /[\p{L}\p{N}]/u.test(line) ? [{ line, at: index }] : []));
};
