import { closeSync, constants, openSync, readSync } from 'node:fs';
import { LIMITS } from './limits.ts';
import { onDisk } from './name.ts';
import { wideEncoding } from './text.ts';

/** Whole lines of a file, as UTF-8. */
export interface Piece {
  /** Valid until the next step. */
  readonly bytes: Buffer;
  readonly isLast: boolean;
}

/** A byte that is no UTF-8, so that it stands for a line without being matched. */
const LEFT_OUT = Buffer.from([0xff]);
const MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const FEED = 10;
/** For all files: nothing that is read outlives the step that reads it. */
const buffer = Buffer.allocUnsafe(LIMITS.chunk);

/** Ends with undefined when the file is binary: when there is a NUL anywhere in it. */
export function* piecesOf(path: string, onLongLine: () => void): Generator<Piece | undefined> {
  let carried: readonly Buffer[] = [];
  let size = 0;
  for (const { bytes, isLast } of chunksOf(path)) {
    if (bytes.includes(0)) return yield undefined;
    const end = isLast ? bytes.length : bytes.lastIndexOf(FEED) + 1;
    const first = lineEnd(bytes);
    const isLong = size + first > LIMITS.line;
    if (end === 0 && !isLast) {
      carried = isLong ? [] : [...carried, Buffer.from(bytes)];
      size += bytes.length;
      continue;
    }
    if (isLong) onLongLine();
    const whole = joined(isLong ? [LEFT_OUT, bytes.subarray(first, end)] : [...carried, bytes.subarray(0, end)]);
    // Copied before others read: they may, between two steps.
    carried = end < bytes.length ? [Buffer.from(bytes.subarray(end))] : [];
    size = bytes.length - end;
    yield { bytes: whole, isLast };
  }
}

const lineEnd = (bytes: Buffer): number => {
  const end = bytes.indexOf(FEED);
  return end < 0 ? bytes.length : end;
};
const joined = ([first = LEFT_OUT, ...rest]: readonly Buffer[]): Buffer => (rest.length === 0 ? first : Buffer.concat([first, ...rest]));

/** In UTF-8, without the mark at the beginning. */
function* chunksOf(path: string): Generator<Piece> {
  // Without waiting: what was a file when it was listed may be a pipe by now.
  const file = openSync(onDisk(path), constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    let chunk = fill(file);
    const encoding = wideEncoding(chunk);
    const decoder = encoding && new TextDecoder(encoding);
    for (let isFirst = true, isLast = false; !isLast; isFirst = false) {
      isLast = chunk.length < buffer.length;
      const bytes = decoder ? Buffer.from(decoder.decode(chunk, { stream: !isLast })) : chunk;
      // Behind a mark of two bytes, which the decoder takes, ripgrep takes a second one.
      yield { bytes: isFirst && bytes.subarray(0, MARK.length).equals(MARK) ? bytes.subarray(MARK.length) : bytes, isLast };
      if (!isLast) chunk = fill(file);
    }
  } finally {
    closeSync(file);
  }
}

const fill = (file: number): Buffer => {
  let size = 0;
  for (let count = -1; count !== 0 && size < buffer.length; size += count) count = readSync(file, buffer, size, buffer.length - size, null);
  return buffer.subarray(0, size);
};
