import { lined, replaceSpans, type Span } from '../endings.ts';
import type { LineTable } from './line-table.ts';
import type { Hunk } from './plan.ts';
import type { Range } from './rows.ts';

/** The raw text with the hunks in place. Lines that stay keep their bytes, and a final line feed stays as present or absent as it was. */
export const applyHunks = (table: LineTable, hunks: readonly Hunk[]): string => {
  const changes = hunks.map((hunk) => {
    const span = { start: table.start(hunk.from), end: table.start(hunk.to) };
    const isOpenEnd = hunk.to === table.count && !table.hasFinalFeed;
    return isOpenEnd ? atOpenEnd(span, hunk) : { span, text: hunk.lines.map((line) => `${line}\n`).join('') };
  });
  return replaceSpans(lined(table.file.text), changes);
};

// The last line has no line feed of its own: the one before the hunk goes with it.
const atOpenEnd = ({ start, end }: Span, { from, lines }: Hunk): { readonly span: Span; readonly text: string } => {
  const text = lines.join('\n');
  if (from === 0) return { span: { start: 0, end: end - 1 }, text };
  return { span: { start: start - 1, end: end - 1 }, text: lines.length === 0 ? '' : `\n${text}` };
};

/** Where the lines of the hunks are once they are in place. */
export const regionsAfter = (hunks: readonly Hunk[]): readonly Range[] => {
  let shift = 0;
  return hunks.map(({ from, to, lines }) => {
    const start = from + shift;
    shift += lines.length - (to - from);
    return { from: start, to: start + lines.length };
  });
};
