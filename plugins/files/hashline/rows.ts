import { shorten } from '../shorten.ts';
import type { LineTable } from './line-table.ts';

/** Lines of the table, by index from 0; `to` is the first that does not belong to it. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** A row is for its anchor; the text only tells which line it is. */
const MAX_ROW = 400;
/** An error has no more room than for a few lines. */
const MAX_ERROR_ROW = 80;
const MAX_ERROR_ROWS = 20;
const MAX_REGION_ROWS = 60;
const CONTEXT = 2;

/** Lines as `read` shows them, shortened; `…` stands between lines that do not follow one another. */
const rowsOf = (table: LineTable, indexes: readonly number[], maxChars: number): readonly string[] =>
  indexes.flatMap((index, at) => {
    const text = table.file.encoding.outward(table.line(index));
    const row = table.gutter(index + 1) + shorten(text, maxChars);
    return at > 0 && indexes[at - 1] !== index - 1 ? ['…', row] : [row];
  });

/** Ranges with the lines around them, in order, those that touch made one. */
const withContext = (table: LineTable, ranges: readonly Range[]): readonly Range[] => {
  const merged: Range[] = [];
  for (const range of ranges) {
    const from = Math.max(0, range.from - CONTEXT);
    const to = Math.min(table.count, range.to + CONTEXT);
    const last = merged.at(-1);
    if (last && from <= last.to) merged[merged.length - 1] = { from: last.from, to: Math.max(last.to, to) };
    else merged.push({ from, to });
  }
  return merged;
};

/** The first lines of ranges, which come in order. */
const firstOf = (ranges: readonly Range[], most: number): readonly number[] => {
  const indexes: number[] = [];
  for (const { from, to } of ranges) for (let index = from; index < to && indexes.length < most; index++) indexes.push(index);
  return indexes;
};

/** What stands where an anchor pointed, for an error. */
export const freshRows = (table: LineTable, ranges: readonly Range[]): string =>
  rowsOf(table, firstOf(withContext(table, ranges), MAX_ERROR_ROWS), MAX_ERROR_ROW).join('\n');

/** The places that an edit changed, for its answer. */
export const regionRows = (table: LineTable, ranges: readonly Range[]): string => {
  if (table.count === 0) return '(The file is empty now.)';
  const all = withContext(table, ranges);
  const shown = firstOf(all, MAX_REGION_ROWS);
  const left = all.reduce((sum, { from, to }) => sum + to - from, 0) - shown.length;
  const [next] = firstOf(all, shown.length + 1).slice(shown.length);
  const more = next === undefined ? [] : [`(${left} more lines; read from offset ${next + 1} for their anchors.)`];
  return [...rowsOf(table, shown, MAX_ROW), ...more].join('\n');
};
