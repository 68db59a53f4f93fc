import type { ToolError, ToolInputs } from '../../../kernel/index.ts';
import { elisionIn } from '../elision.ts';
import { anchorPart, parseAnchor } from './anchor.ts';
import { findLine, type LineAnchor, type Named, refusal, type Subject } from './find.ts';
import type { LineTable } from './line-table.ts';
import type { Range } from './rows.ts';

export type Op = NonNullable<ToolInputs['edit']['ops']>[number];

/** Lines in the place of a range; an empty range is a place between two lines. */
export interface Hunk extends Range {
  readonly lines: readonly string[];
}
interface Piece extends Hunk {
  /** Order of what begins at the same line: what follows the line before, what precedes this one, what takes its place. */
  readonly rank: 0 | 1 | 2;
  readonly label: string;
}
export interface Plan {
  /** In order; at least one line that stays is between two of them. */
  readonly hunks: readonly Hunk[];
  readonly notes: readonly string[];
}

/** What a list of ops does to a file, all of them seen against the file as it is. Throws when one of them cannot be done. */
export const planOf = (ops: readonly Op[], table: LineTable, shown: string): Plan => {
  const notes: string[] = [];
  const pieces = ops.map((op, index) => {
    const label = ops.length === 1 ? '' : `Op ${index + 1} of ${ops.length}: `;
    return pieceOf(op, { table, shown, label }, notes);
  });
  const ordered = pieces.toSorted((a, b) => a.from - b.from || a.rank - b.rank);
  mustBeApart(ordered, { table, shown, label: '' });
  return { hunks: joined(ordered), notes: notes.map((note) => `Note: ${note}`) };
};

const pieceOf = (op: Op, subject: Subject, notes: string[]): Piece => {
  const { label } = subject;
  const lines = linesOf(op.content, subject.table);
  if (op.op === 'replace') {
    const range = rangeOf(op, subject, notes);
    mustBeComplete(op, range, subject);
    return { ...range, lines, rank: 2, label };
  }
  if (op.end_anchor !== undefined) throw invalid(subject, `${op.op} takes no end_anchor`, 'Insert at one anchor, or replace a range.');
  if (lines.length === 0) throw invalid(subject, `${op.op} has no content`, 'Give the lines to insert.');
  const gap = gapOf(op, subject, notes);
  mustBeComplete(op, { from: gap, to: gap }, subject);
  return { from: gap, to: gap, lines, rank: op.op === 'insert_after' ? 0 : 1, label };
};

/** The content as lines in the file's decoded form: a line feed at its end begins no new one. */
const linesOf = (content: string, { file }: LineTable): readonly string[] => {
  const text = file.encoding.inward(content.replace(/^\ufeff/, '').replace(/(?<!\r)\r+(?=\n|$)/g, ''));
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
};

const rangeOf = (op: Op, subject: Subject, notes: string[]): Range => {
  const first = onLine(op, anchorOf(op, op.anchor, subject), subject);
  const from = placeOf(first, subject, notes);
  if (op.end_anchor === undefined) return { from, to: from + 1 };
  const last = onLine(op, anchorOf(op, op.end_anchor, subject), subject);
  const to = placeOf(last, subject, notes) + 1;
  const range = { from: Math.min(from, to - 1), to: Math.max(from + 1, to) };
  if (to <= from) throw refusal('INVALID_ARGUMENT', subject, `end_anchor \`${last.given}\` is before anchor \`${first.given}\``, ends(range));
  const asked = spread(first.anchor, last.anchor);
  if (asked !== undefined && asked !== to - from) {
    throw refusal('CONFLICT', subject, `the range \`${first.given}\` to \`${last.given}\` had ${asked} lines and has ${to - from} now`, ends(range));
  }
  return range;
};
const ends = ({ from, to }: Range): readonly Range[] => [
  { from, to: from + 1 },
  { from: to - 1, to },
];

/** How many lines were meant; a range that others put lines into holds some that the model never saw. */
const spread = (first: LineAnchor, last: LineAnchor): number | undefined =>
  first.kind === 'line' && last.kind === 'line' ? last.number - first.number + 1 : undefined;

const gapOf = (op: Op, subject: Subject, notes: string[]): number => {
  const named = anchorOf(op, op.anchor, subject);
  if (op.op === 'insert_after' && named.anchor.kind === 'top') return 0;
  if (op.op === 'insert_after' && named.anchor.kind === 'end') return subject.table.count;
  const index = placeOf(onLine(op, named, subject), subject, notes);
  return op.op === 'insert_after' ? index + 1 : index;
};

const placeOf = (named: Named<LineAnchor>, subject: Subject, notes: string[]): number => {
  const { index, note } = findLine(named, subject);
  if (note !== undefined) notes.push(note);
  return index;
};

const onLine = (op: Op, { anchor, given }: Named, subject: Subject): Named<LineAnchor> => {
  if (anchor.kind === 'line' || anchor.kind === 'hash') return { anchor, given };
  throw invalid(subject, `\`${given}\` is no line to ${op.op}`, 'Only insert_after takes `0:` (the top) and `EOF` (the end).');
};

const HOW = 'Copy an anchor as read shows it: `LINE:LOCAL:CHUNK`, for instance `12:abc:xyz`.';
const anchorOf = (op: Op, text: string | undefined, subject: Subject): Named => {
  if (text === undefined) throw invalid(subject, `${op.op} needs an anchor`, HOW);
  const given = anchorPart(text);
  const anchor = parseAnchor(given);
  if (!anchor) throw invalid(subject, `\`${given.slice(0, 40)}\` is no anchor`, HOW);
  return { anchor, given };
};

const invalid = (subject: Subject, why: string, fix: string): ToolError => refusal('INVALID_ARGUMENT', subject, why, [], fix);

const mustBeComplete = (op: Op, { from, to }: Range, subject: Subject): void => {
  const { table } = subject;
  const elision = elisionIn(op.content, table.file.encoding.outward(table.slice(from, to)));
  if (elision === undefined) return;
  throw invalid(subject, `the content stands for lines that it leaves out (\`${elision}\`)`, 'Give the complete lines, or only those that change.');
};

const mustBeApart = (ordered: readonly Piece[], subject: Subject): void => {
  let before: Piece | undefined;
  for (const piece of ordered) {
    if (before && piece.from < before.to) {
      const what = piece.rank === 2 ? 'two ranges to replace overlap' : 'a place to insert is inside a range to replace';
      const pair = `${before.label}${rangeText(before)}`;
      throw refusal('INVALID_ARGUMENT', subject, `${what} (${pair}; ${piece.label}${rangeText(piece)})`, ends(before), 'Make them one replace.');
    }
    if (piece.rank === 2) before = piece;
  }
};
const rangeText = ({ from, to }: Range): string => {
  if (from === to) return `behind line ${from}`;
  return to - from === 1 ? `line ${to}` : `lines ${from + 1}-${to}`;
};

const joined = (ordered: readonly Piece[]): readonly Hunk[] => {
  const hunks: Hunk[] = [];
  for (const { from, to, lines } of ordered) {
    const last = hunks.at(-1);
    if (!last || last.to < from) hunks.push({ from, to, lines });
    else hunks[hunks.length - 1] = { from: last.from, to, lines: [...last.lines, ...lines] };
  }
  return hunks;
};
