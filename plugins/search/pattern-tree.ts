import { ToolError } from '../../kernel/index.ts';

/** A regular expression taken apart: what both engines are given is made from it. */

/** Characters of which one is meant: those of `body`, and all but those of each of `complements`. Negated, all others. */
export interface CharSet {
  readonly kind: 'set';
  /** As between brackets. Without anything that is negated, which engines treat in different ways when case is ignored. */
  readonly body: string;
  readonly complements: readonly string[];
  readonly isNegated: boolean;
  readonly ignoreCase: boolean;
}
export type Edge = 'start' | 'end' | 'word' | 'inside' | 'wordStart' | 'wordEnd';
export type Look = '?=' | '?!' | '?<=' | '?<!';

export type Node =
  | { readonly kind: 'char'; readonly char: string; readonly ignoreCase: boolean }
  | CharSet
  | { readonly kind: 'edge'; readonly edge: Edge }
  | { readonly kind: 'group'; readonly name: string | undefined; readonly number: number | undefined; readonly body: Choice }
  | { readonly kind: 'look'; readonly look: Look; readonly body: Choice }
  | { readonly kind: 'repeat'; readonly of: Node; readonly least: number; readonly most: number }
  | { readonly kind: 'back'; readonly to: string; readonly ignoreCase: boolean };
export type Sequence = readonly Node[];
/** Alternatives. */
export type Choice = readonly Sequence[];

/**
 * The pattern is wrong, for every engine. So is what only one of the engines of ripgrep knows, and what is so rare that it is not told
 * from what is wrong: otherwise what an answer is would depend on whether there is a ripgrep.
 */
export class PatternWrong extends Error {}
/** Something that only ripgrep knows. */
export class PatternForeign extends Error {}

/** It can never match within a line, and a silent "no match" would mislead. */
export const lineFeed = (): ToolError =>
  new ToolError('INVALID_ARGUMENT', 'The pattern contains a line feed, but matches lie within one line.', {
    fix: 'Search for one of the lines and set `context`.',
  });

export const NO_NUL = 'a NUL is in no file that is searched';

/** In the notation that is the same everywhere, inside of brackets and outside. */
export const escaped = (char: string): string => {
  const code = char.codePointAt(0) ?? 0;
  return code < 0x80 && !/\w/.test(char) ? `\\x${code.toString(16).padStart(2, '0')}` : char;
};

/** With all letters that count as the same when case does not. */
export const withoutCase = (body: string): string => {
  if (body === '') return '';
  const same = new RegExp(`[${body}]`, 'iu');
  const others = cased().filter((char) => same.test(char));
  return body + others.join('');
};

let allCased: readonly string[] | undefined;
const cased = (): readonly string[] => {
  const isCased = /\p{Changes_When_Casemapped}/u;
  allCased ??= Array.from({ length: LAST_CASED }, (_, code) => code)
    .filter((code) => code < 0xd800 || code > 0xdfff)
    .map((code) => String.fromCodePoint(code))
    .filter((char) => isCased.test(char));
  return allCased;
};
/** Behind the last script that has two cases. */
const LAST_CASED = 0x1ea00;

/** `\q` and the like. */
export const unknown = (text: string): PatternWrong => new PatternWrong(`${text} has no meaning here`);
