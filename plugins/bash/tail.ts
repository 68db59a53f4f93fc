/** The last bytes of an output of any length, and how much there was in all. */

const LF = 10;
const CR = 13;

export class OutputTail {
  /** Bytes that came. */
  bytes = 0;
  #lineEnds = 0;
  #last = LF;
  #ring: Buffer;
  readonly #capacity: number;

  /** `capacity` in bytes. */
  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#ring = Buffer.allocUnsafe(Math.min(capacity, 16_384));
  }

  /** Lines that came; a last one without its end counts. */
  get lines(): number {
    return this.#lineEnds + (this.#last === LF || this.#last === CR ? 0 : 1);
  }
  /** Whether the first bytes are gone. */
  get overflowed(): boolean {
    return this.bytes > this.#capacity;
  }

  push(chunk: Uint8Array): void {
    this.#count(chunk);
    this.#grow(this.bytes + chunk.length);
    const kept = chunk.subarray(Math.max(0, chunk.length - this.#capacity));
    const start = (this.bytes + chunk.length - kept.length) % this.#ring.length;
    const first = kept.subarray(0, this.#ring.length - start);
    this.#ring.set(first, start);
    this.#ring.set(kept.subarray(first.length), 0);
    this.bytes += chunk.length;
  }

  /** The newest bytes in order, at most `limit` of them. */
  newest(limit: number = this.#capacity): Buffer {
    const length = Math.min(limit, this.bytes, this.#capacity);
    const end = this.bytes % this.#ring.length;
    const straight = this.#ring.subarray(Math.max(0, end - length), end);
    const wrapped = this.#ring.subarray(this.#ring.length - (length - straight.length));
    return length === straight.length ? Buffer.from(straight) : Buffer.concat([wrapped, straight]);
  }

  /** As CR LF, CR and LF all end a line. */
  #count(chunk: Uint8Array): void {
    let last = this.#last;
    let ends = 0;
    // By index, which is faster than an iterator: output may be gigabytes.
    for (let index = 0; index < chunk.length; index += 1) {
      const byte = chunk[index];
      if (byte === CR || (byte === LF && last !== CR)) ends += 1;
      last = byte ?? LF;
    }
    this.#lineEnds += ends;
    this.#last = last;
  }

  /** Only while nothing has been overwritten, so that bytes keep their places. */
  #grow(needed: number): void {
    if (needed <= this.#ring.length || this.#ring.length === this.#capacity) return;
    const grown = Buffer.allocUnsafe(Math.min(this.#capacity, Math.max(needed, this.#ring.length * 2)));
    this.#ring.copy(grown, 0, 0, this.bytes);
    this.#ring = grown;
  }
}
