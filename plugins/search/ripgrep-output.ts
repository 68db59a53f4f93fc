import { LIMITS } from './limits.ts';
import { nameFrom } from './name.ts';
import type { FileMatches, Row } from './query.ts';
import { rowOf } from './row.ts';
import { decodeUtf8 } from './text.ts';

/** So that its output is a path and a NUL, then a row a line, then an empty line. Rows with a match have NULs, which no text has, others dashes. */
export const OUTPUT_FLAGS: readonly string[] = [
  '--heading',
  '--with-filename',
  '--null',
  '--line-number',
  '--column',
  '--color=never',
  '--no-context-separator',
  '--field-match-separator=\\x00',
  '--field-context-separator=-',
];

const NUL = 0;
const FEED = 10;
const EMPTY_LINE = Buffer.from('\n\n');

/** Reads what ripgrep prints as it comes. JSON would say the same in four times the bytes. */
export class OutputReader {
  /** Lines that were too long to be held. */
  longLines = 0;
  readonly #isOpen: (path: string) => boolean;
  readonly #find: (line: string) => number | undefined;
  #path: string | undefined;
  #rows: Row[] = [];
  #isBinary = false;
  /** Nobody wants this file: its rows are passed over. */
  #isSkipped = false;
  #pieces: Buffer[] = [];
  #size = 0;

  /**
   * `find` is asked about lines, with their ends, of which ripgrep says that they match and not where: with `--crlf` and `$` some of
   * them do not. It answers where the first match begins, -1 without one, undefined where only ripgrep can know.
   */
  constructor(isOpen: (path: string) => boolean, find: (line: string) => number | undefined) {
    this.#isOpen = isOpen;
    this.#find = find;
  }

  /** The files that are complete with these bytes. */
  *take(bytes: Uint8Array): Generator<FileMatches> {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let from = 0;
    while (from < chunk.length) {
      if (this.#isSkipped) {
        from = this.#skip(chunk, from);
        continue;
      }
      const end = chunk.indexOf(this.#path === undefined ? NUL : FEED, from);
      if (end < 0) return this.#keep(chunk.subarray(from));
      const record = this.#join(chunk.subarray(from, end));
      from = end + 1;
      if (this.#path === undefined) this.#begin(nameFrom(record));
      else if (record.length === 0) yield* this.end();
      else this.#row(record);
    }
  }

  *end(): Generator<FileMatches> {
    if (this.#path !== undefined && !this.#isBinary && this.#rows.length > 0) yield { path: this.#path, rows: this.#rows };
    this.#path = undefined;
    this.#rows = [];
    this.#isBinary = false;
  }

  #begin(path: string): void {
    this.#path = path;
    this.#isSkipped = !this.#isOpen(path);
  }

  /** To behind the empty line, whose first half may have come before. */
  #skip(chunk: Buffer, from: number): number {
    const isSecondHalf = this.#size > 0 && chunk[from] === FEED;
    const empty = chunk.indexOf(EMPTY_LINE, from);
    this.#size = 0;
    if (isSecondHalf || empty >= 0) {
      this.#isSkipped = false;
      this.#path = undefined;
      return isSecondHalf ? from + 1 : empty + EMPTY_LINE.length;
    }
    if (chunk.at(-1) === FEED) this.#size = 1;
    return chunk.length;
  }

  #row(record: Buffer): void {
    const [head, line, mark = ''] = HEAD.exec(record.toString('latin1', 0, MAX_HEAD)) ?? [];
    // Anything else is the remark that a binary file was not searched to its end.
    if (head === undefined) {
      this.#isBinary = true;
      return;
    }
    this.#rows.push(this.#shown(Number(line), record.subarray(head.length), mark));
  }

  #shown(line: number, bytes: Buffer, mark: string): Row {
    const text = bytes.toString();
    if (mark === '-') return rowOf(line, text, undefined);
    if (mark === '\0') {
      const found = this.#find(`${decodeUtf8(bytes)}\n`) ?? text.length;
      return rowOf(line, text, found < 0 ? undefined : found);
    }
    // Where in the text it is matters only for what is shown of a long line.
    const start = Number(mark.slice(1, -1)) - 1;
    return rowOf(line, text, text.length > LIMITS.lineShown ? bytes.toString('utf8', 0, start).length : start);
  }

  #keep(rest: Buffer): void {
    this.#size += rest.length;
    if (this.#size > LIMITS.line) this.#pieces = [];
    else this.#pieces.push(Buffer.from(rest));
  }

  #join(last: Buffer): Buffer {
    const isLong = this.#size > LIMITS.line;
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#size = 0;
    if (isLong) this.longLines += 1;
    return pieces.length === 0 ? last : Buffer.concat([...pieces, last]);
  }
}

/** Number of the line, and of a match the column; that is left out behind the end of a last line that has no line feed. */
const HEAD = /^(\d+)(-|\0(?:\d+\0)?)/;
const MAX_HEAD = 48;
