import type { FileHandle } from 'node:fs/promises';
import { encodingOf } from './encoding.ts';
import { countFeeds } from './feeds.ts';

/** A stretch of lines, and what is known of the rest. */
export interface Window {
  readonly lines: readonly string[];
  /** Lines of the whole file; absent when it was not read to its end. */
  readonly total?: number;
  /** The first line, which is longer than a page, was cut. */
  readonly isCut?: boolean;
}

export const MAX_LINES = 2000;
/** UTF-8 bytes. */
export const MAX_BYTES = 131_072;

/** Lines of a text as a reader counts them: a line feed at the end begins no new one. */
export const windowOf = (text: string, offset: number, limit: number): Window => {
  const lines = text === '' ? [] : text.split('\n');
  if (text.endsWith('\n')) lines.pop();
  return { lines: lines.slice(offset - 1, offset - 1 + Math.min(limit, MAX_LINES)).map((line) => line.replace(/\r$/, '')), total: lines.length };
};

/** Where in a file its text begins, and which of its lines are wanted. */
export interface Stretch {
  /** Bytes of the byte order mark. */
  readonly start: number;
  readonly offset: number;
  readonly limit: number;
}

/** The same for a file that is too large to be held: reads no further than the window, and keeps no more than a page. */
export const windowOfFile = async (handle: FileHandle, { start, offset, limit }: Stretch, signal: AbortSignal): Promise<Window> => {
  const chunk = Buffer.allocUnsafe(1 << 18);
  const collector = new Collector(offset, Math.min(limit, MAX_LINES));
  for (let position = start; ; ) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) return collector.atEnd();
    position += bytesRead;
    const bytes = chunk.subarray(0, bytesRead);
    if (collector.skip(bytes)) continue;
    for (let from = 0; from < bytesRead; ) {
      if (collector.isFull) return collector.window();
      const feed = bytes.indexOf(10, from);
      collector.take(bytes.subarray(from, feed < 0 ? bytesRead : feed), feed >= 0);
      from = feed < 0 ? bytesRead : feed + 1;
    }
  }
};

/** Gathers the lines of a window from pieces of lines. */
class Collector {
  readonly #offset: number;
  readonly #most: number;
  readonly #done: Buffer[] = [];
  #pieces: Buffer[] = [];
  #bytes = 0;
  #number = 1;
  #isOpen = false;
  constructor(offset: number, most: number) {
    this.#offset = offset;
    this.#most = most;
  }

  get isFull(): boolean {
    return this.#number >= this.#offset && (this.#done.length >= this.#most || this.#bytes > MAX_BYTES);
  }

  /** Passes over bytes that end before the window. False: they reach into it. */
  skip(bytes: Buffer): boolean {
    if (this.#number >= this.#offset) return false;
    const next = this.#number + countFeeds(bytes);
    if (next >= this.#offset) return false;
    this.#number = next;
    this.#isOpen = bytes.at(-1) !== 10;
    return true;
  }

  take(piece: Buffer, endsLine: boolean): void {
    this.#isOpen = !endsLine;
    if (this.#number >= this.#offset) {
      // The chunk is used again, so what is kept is copied.
      this.#pieces.push(Buffer.from(piece));
      this.#bytes += piece.length + 1;
    }
    if (endsLine) this.#endLine();
  }

  async window(): Promise<Window> {
    // A page that ends within its first line shows what there is of it.
    const isCut = this.#done.length === 0 && this.#pieces.length > 0;
    return isCut ? { lines: await decoded([Buffer.concat(this.#pieces)]), isCut } : { lines: await decoded(this.#done) };
  }

  async atEnd(): Promise<Window> {
    if (this.#isOpen) this.#endLine();
    return { lines: await decoded(this.#done), total: this.#number - 1 };
  }

  #endLine(): void {
    if (this.#number >= this.#offset) this.#done.push(Buffer.concat(this.#pieces));
    this.#pieces = [];
    this.#number += 1;
  }
}

/** The encoding is that of the page: nothing else of the file is known. */
const decoded = async (lines: readonly Buffer[]): Promise<readonly string[]> => {
  const { decode, outward } = await encodingOf(Buffer.concat(lines.flatMap((line) => [line, FEED])));
  return lines.map((line) => outward(decode(line)).replace(/\r$/, ''));
};
const FEED = Buffer.from('\n');

/** Lines with their gutters within the byte cap, the same without them, and the line from which to go on. */
export interface Page {
  readonly rows: readonly string[];
  readonly lines: readonly string[];
  readonly next: number;
  readonly isCut: boolean;
}

/** How a line begins: by its number, from 1, or by more. */
export type Gutter = (number: number) => string;
export const byNumber: Gutter = (number) => `${number}: `;

export const numbered = (window: Window, offset: number, gutterOf: Gutter): Page => {
  const rows: string[] = [];
  let bytes = 0;
  for (const line of window.lines) {
    const gutter = gutterOf(offset + rows.length);
    bytes += Buffer.byteLength(gutter) + Buffer.byteLength(line) + 1;
    if (bytes > MAX_BYTES) {
      if (rows.length > 0) break;
      const beginning = cutBytes(line, MAX_BYTES - Buffer.byteLength(gutter));
      return { rows: [gutter + beginning], lines: [beginning], next: offset + 1, isCut: true };
    }
    rows.push(gutter + line);
  }
  return { rows, lines: window.lines.slice(0, rows.length), next: offset + rows.length, isCut: window.isCut ?? false };
};

/** The beginning of a text, at most so many bytes, ending with a whole character. */
const cutBytes = (text: string, max: number): string => {
  const bytes = Buffer.from(text);
  let end = Math.min(max, bytes.length);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString('utf8');
};
