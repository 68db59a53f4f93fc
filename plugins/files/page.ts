import type { FileHandle } from 'node:fs/promises';

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

/** The same for a file that is too large to be held: reads no further than the window, and keeps no more than a page. */
export const windowOfFile = async (handle: FileHandle, offset: number, limit: number, signal: AbortSignal): Promise<Window> => {
  const chunk = Buffer.allocUnsafe(1 << 18);
  const collector = new Collector(offset, Math.min(limit, MAX_LINES));
  for (let position = 0; ; ) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) return collector.atEnd();
    position += bytesRead;
    for (let from = 0; from < bytesRead; ) {
      if (collector.isFull) return collector.window();
      const feed = chunk.subarray(0, bytesRead).indexOf(10, from);
      collector.take(chunk.subarray(from, feed < 0 ? bytesRead : feed), feed >= 0);
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

  take(piece: Buffer, endsLine: boolean): void {
    this.#isOpen = !endsLine;
    if (this.#number >= this.#offset) {
      // The chunk is used again, so what is kept is copied.
      this.#pieces.push(Buffer.from(piece));
      this.#bytes += piece.length + 1;
    }
    if (endsLine) this.#endLine();
  }

  window(): Window {
    // A page that ends within its first line shows what there is of it.
    const isCut = this.#done.length === 0 && this.#pieces.length > 0;
    return isCut ? { lines: [Buffer.concat(this.#pieces).toString('utf8')], isCut } : { lines: this.#lines() };
  }

  atEnd(): Window {
    if (this.#isOpen) this.#endLine();
    return { lines: this.#lines(), total: this.#number - 1 };
  }

  #endLine(): void {
    if (this.#number >= this.#offset) this.#done.push(Buffer.concat(this.#pieces));
    this.#pieces = [];
    this.#number += 1;
  }

  #lines(): readonly string[] {
    return this.#done.map((line) => line.toString('utf8').replace(/\r$/, ''));
  }
}

/** Numbered lines within the byte cap, and the line from which to go on. */
export const numbered = (window: Window, offset: number): { readonly rows: readonly string[]; readonly next: number; readonly isCut: boolean } => {
  const rows: string[] = [];
  let bytes = 0;
  for (const line of window.lines) {
    const row = `${offset + rows.length}: ${line}`;
    bytes += Buffer.byteLength(row) + 1;
    if (bytes > MAX_BYTES) {
      if (rows.length > 0) break;
      return { rows: [cutBytes(row, MAX_BYTES)], next: offset + 1, isCut: true };
    }
    rows.push(row);
  }
  return { rows, next: offset + rows.length, isCut: window.isCut ?? false };
};

/** The beginning of a text, at most so many bytes, ending with a whole character. */
export const cutBytes = (text: string, max: number): string => {
  const bytes = Buffer.from(text);
  let end = Math.min(max, bytes.length);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString('utf8');
};
