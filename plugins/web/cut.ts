/** Texts that are too long. */
import { LIMITS } from './limits.ts';

/** The first units of a text, and never half a character. */
export const firstOf = (text: string, max: number): string => {
  if (text.length <= max) return text;
  const isHalf = /[\ud800-\udbff]/.test(text.charAt(max - 1));
  return text.slice(0, isHalf ? max - 1 : max);
};

export const oneLine = (text: string, max: number): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > max ? `${firstOf(line, max)}…` : line;
};

/** Share of the budget from which on a paragraph's end is worth what is lost behind it. */
const ENOUGH = 0.7;

export interface Cut {
  readonly text: string;
  /** It was not the budget that it had to fit into, but what any result may have. */
  readonly isAtCeiling: boolean;
}
/** Ends with a paragraph where one ends late enough. */
export const withinBudget = (text: string, maxChars: number): Cut => {
  const wanted = firstOf(text, maxChars);
  const fits = withinBytes(wanted);
  const isAtCeiling = fits.length < wanted.length;
  const end = fits.length === text.length ? -1 : Math.max(fits.lastIndexOf('\n\n'), fits.lastIndexOf('\r\n\r\n'));
  return { text: end >= ENOUGH * fits.length ? fits.slice(0, end) : fits, isAtCeiling };
};
const withinBytes = (text: string): string => {
  const bytes = Buffer.from(text);
  if (bytes.length <= LIMITS.textBytes) return text;
  let end = LIMITS.textBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
};
