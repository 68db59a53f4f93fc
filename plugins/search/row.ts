import { LIMITS } from './limits.ts';
import type { Row } from './query.ts';

/** `at`: where in `text` the first match begins; undefined in a line that is only shown around one. */
export const rowOf = (line: number, text: string, at: number | undefined): Row => ({
  line,
  text: own(excerpt(withoutReturns(text), at ?? 0)),
  isMatch: at !== undefined,
});

const withoutReturns = (text: string): string => {
  let end = text.length;
  while (text[end - 1] === '\r') end -= 1;
  return text.slice(0, end);
};

const excerpt = (text: string, at: number): string => {
  if (text.length <= LIMITS.lineShown) return text;
  const start = at + LIMITS.beforeMatch < LIMITS.lineShown ? 0 : at - LIMITS.beforeMatch;
  const end = start + LIMITS.lineShown;
  return `${start > 0 ? '…' : ''}${text.slice(start, end)}${end < text.length ? '…' : ''} (${text.length} characters)`;
};

// A part of a text keeps the whole of it in memory. Halves of characters become the sign for what cannot be read.
const own = (text: string): string => Buffer.from(text).toString();
