/** Counts lines of output of any size: gigabytes go through it, so it takes four bytes at a time where it can. */

const LF = 10;
const CR = 13;
const LF_IN_ALL = 0x0a0a0a0a;
const LOW_BITS = 0x7f7f7f7f;
/** Words whose counts fit into one byte each. */
const STRIDE = 255;

/** CR LF, CR and LF all end a line, also where a CR and its LF come apart. */
export class LineEnds {
  #count = 0;
  #last = LF;

  /** Lines that came; a last one without its end counts. */
  get lines(): number {
    return this.#count + (this.#last === LF || this.#last === CR ? 0 : 1);
  }

  push(chunk: Buffer): void {
    const { length } = chunk;
    if (length === 0) return;
    const isSplitPair = this.#last === CR && chunk[0] === LF;
    this.#count += (chunk.includes(CR) ? countMixed(chunk) : countLineFeeds(chunk)) - (isSplitPair ? 1 : 0);
    this.#last = chunk[length - 1] ?? LF;
  }
}

const countMixed = (chunk: Buffer): number => {
  let count = 0;
  let last = 0;
  for (let index = 0; index < chunk.length; index += 1) {
    const byte = chunk[index] ?? 0;
    if (byte === CR || (byte === LF && last !== CR)) count += 1;
    last = byte;
  }
  return count;
};

const countLineFeeds = (chunk: Buffer): number => {
  if (chunk.length < 4) return countSingly(chunk, 0, chunk.length);
  const start = -chunk.byteOffset & 3;
  const words = new Uint32Array(chunk.buffer, chunk.byteOffset + start, (chunk.length - start) >> 2);
  const end = start + words.length * 4;
  return countSingly(chunk, 0, start) + countInWords(words) + countSingly(chunk, end, chunk.length);
};

const countSingly = (chunk: Buffer, start: number, end: number): number => {
  let count = 0;
  for (let index = start; index < end; index += 1) if (chunk[index] === LF) count += 1;
  return count;
};

const countInWords = (words: Uint32Array): number => {
  let count = 0;
  for (let index = 0; index < words.length; ) {
    const end = Math.min(words.length, index + STRIDE);
    let sums = 0;
    for (; index < end; index += 1) {
      // The top bit of each byte that is zero, which is where the line feeds were; no carry leaves a byte.
      const rest = (words[index] ?? 0) ^ LF_IN_ALL;
      sums = (sums + (~(((rest & LOW_BITS) + LOW_BITS) | rest | LOW_BITS) >>> 7)) | 0;
    }
    count += (sums & 0xff) + ((sums >>> 8) & 0xff) + ((sums >>> 16) & 0xff) + (sums >>> 24);
  }
  return count;
};
