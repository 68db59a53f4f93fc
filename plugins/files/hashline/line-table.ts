import { hash } from 'node:crypto';
import type { TextFile } from '../encoding.ts';
import { countOf, toLf } from '../endings.ts';

/** Lines of a chunk; chunks begin at lines 1, 9, 17, … */
const CHUNK = 8;
const LETTERS = 26;
const VALUES = LETTERS ** 3;

/**
 * The lines of a text as a reader counts them, each with the anchor that names it. An index counts from 0. Positions are kept and no
 * strings, and a line is hashed when that is first asked for: a large file may have millions of them.
 */
export class LineTable {
  readonly file: TextFile;
  /** With LF for CRLF, in the decoded form. */
  readonly text: string;
  /** A line feed at the end begins no new line. */
  readonly count: number;
  readonly #starts: Uint32Array;
  // One more than the value; 0 is one that was not asked for yet.
  readonly #locals: Uint16Array;
  readonly #chunks: Uint16Array;

  constructor(file: TextFile) {
    this.file = file;
    this.text = toLf(file.text);
    this.count = countOf(this.text, '\n') + (this.hasFinalFeed ? 0 : 1);
    this.#starts = startsOf(this.text, this.count);
    this.#locals = new Uint16Array(this.count);
    this.#chunks = new Uint16Array(Math.ceil(this.count / CHUNK));
  }

  /** True also of an empty text: what is put into it ends with one. */
  get hasFinalFeed(): boolean {
    return this.text === '' || this.text.endsWith('\n');
  }

  /** Where a line begins in the text; behind the last one, where the next would. */
  start(index: number): number {
    return this.#starts[index] ?? 0;
  }

  /** Lines with the line feeds between them. */
  slice(from: number, to: number): string {
    return to > from ? this.text.slice(this.start(from), this.start(to) - 1) : '';
  }

  line(index: number): string {
    return this.slice(index, index + 1);
  }

  /** Of the line alone, whatever its white space. */
  local(index: number): string {
    return letters(this.#kept(this.#locals, index, () => this.line(index).trim().replace(/\s+/g, ' ')));
  }

  /** Of the chunk in which the line stands. */
  chunk(index: number): string {
    const chunk = Math.floor(index / CHUNK);
    return letters(this.#kept(this.#chunks, chunk, () => this.slice(chunk * CHUNK, Math.min(this.count, (chunk + 1) * CHUNK))));
  }

  /** What stands before the text of a line. `number` counts from 1. */
  gutter(number: number): string {
    return `${number}:${this.local(number - 1)}:${this.chunk(number - 1)}→`;
  }

  #kept(values: Uint16Array, at: number, text: () => string): number {
    const known = values[at] ?? 0;
    if (known > 0) return known - 1;
    const value = Number.parseInt(hash('sha1', text()).slice(0, 8), 16) % VALUES;
    values[at] = value + 1;
    return value;
  }
}

const startsOf = (text: string, count: number): Uint32Array => {
  const starts = new Uint32Array(count + 1);
  for (let index = 1, start = 0; index <= count; index++) {
    const feed = text.indexOf('\n', start);
    start = (feed < 0 ? text.length : feed) + 1;
    starts[index] = start;
  }
  return starts;
};

const letters = (value: number): string =>
  [Math.floor(value / LETTERS ** 2), Math.floor(value / LETTERS) % LETTERS, value % LETTERS].map((part) => String.fromCharCode(97 + part)).join('');
