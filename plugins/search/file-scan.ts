import type { FileMatches, Row, TextQuery } from './query.ts';
import { rowOf } from './row.ts';

/** Finds what is to be shown of a file that comes in pieces of whole lines. Like ripgrep, the first `limit` matches set what that is. */
export class FileScan implements FileMatches {
  readonly path: string;
  readonly rows: Row[] = [];
  readonly #regex: RegExp;
  readonly #context: number;
  /** Matches that are still wanted. */
  #wanted: number;
  /** Lines behind the last match that are still to be shown. */
  #owed = 0;
  /** Number of the next line. */
  #line = 1;
  /** The last lines that were not shown, as far as the next match may need them. */
  #before: readonly string[] = [];

  constructor(path: string, regex: RegExp, { context, limit }: Pick<TextQuery, 'context' | 'limit'>) {
    this.path = path;
    this.#regex = regex;
    this.#context = context;
    this.#wanted = limit;
  }

  get isDone(): boolean {
    return this.#wanted === 0 && this.#owed === 0;
  }

  /** The lines behind a match are yet to come. */
  get owes(): boolean {
    return this.#owed > 0;
  }

  feed(text: string): void {
    let from = 0;
    while (from < text.length && !this.isDone) {
      const at = this.#wanted > 0 ? this.#find(text, from) : -1;
      const start = at < 0 ? text.length : lineStart(text, at);
      this.#pass(text, from, start);
      if (at < 0) return;
      from = this.#show(text, start, at);
    }
  }

  /** Goes over lines that are known not to match, where none around a match are shown. */
  skip(bytes: Buffer): void {
    for (let at = bytes.indexOf(FEED); at >= 0; at = bytes.indexOf(FEED, at + 1)) this.#line += 1;
  }

  #find(text: string, from: number): number {
    return findIn(this.#regex, text, from);
  }

  #show(text: string, start: number, at: number): number {
    const first = this.#line - this.#before.length;
    this.rows.push(...this.#before.map((line, index) => rowOf(first + index, line, undefined)));
    this.#before = [];
    this.#wanted -= 1;
    this.#owed = this.#context;
    return this.#row(text, start, at - start);
  }

  #row(text: string, start: number, at: number | undefined): number {
    const end = lineEnd(text, start);
    this.rows.push(rowOf(this.#line, text.slice(start, end), at));
    this.#line += 1;
    return end + 1;
  }

  /** Lines without a match: some belong to the match before, some perhaps to the next. */
  #pass(text: string, from: number, to: number): void {
    let at = from;
    for (; this.#owed > 0 && at < to; this.#owed -= 1) {
      // Beyond the limit matches are not looked for, but told apart where they are shown.
      const found = this.#wanted > 0 ? -1 : this.#find(text.slice(at, lineEnd(text, at) + 1), 0);
      at = this.#row(text, at, found < 0 ? undefined : found);
    }
    if (at >= to) return;
    if (this.#context > 0) this.#before = [...this.#before, ...lastLines(text.slice(at, to), this.#context)].slice(-this.#context);
    for (let feed = text.indexOf('\n', at); feed >= 0 && feed < to; feed = text.indexOf('\n', feed + 1)) this.#line += 1;
  }
}
/** Where the first match from `from` on begins; -1 when there is none. */
export const findIn = (regex: RegExp, text: string, from: number): number => {
  regex.lastIndex = from;
  let at = regex.exec(text)?.index ?? -1;
  // V8 finds nothings in the middle of characters of two parts.
  for (; at > 0 && isInside(text, at); at = regex.exec(text)?.index ?? -1) regex.lastIndex = at + 1;
  // Behind the last line feed there is no line.
  return at === text.length && text.endsWith('\n') ? -1 : at;
};
const FEED = 10;

const isInside = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;

const lineStart = (text: string, at: number): number => (at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1);

const lineEnd = (text: string, at: number): number => {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
};

const lastLines = (text: string, count: number): readonly string[] => {
  let from = text.length - (text.endsWith('\n') ? 1 : 0);
  const end = from;
  for (let left = count; left > 0 && from >= 0; left -= 1) from = from === 0 ? -1 : text.lastIndexOf('\n', from - 1);
  return text.slice(from + 1, end).split('\n');
};
