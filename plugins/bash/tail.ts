/** The first and the last bytes of an output of any length, and how much there was in all. */
import { LineEnds } from './line-ends.ts';

export class OutputTail {
  /** Bytes that came. */
  bytes = 0;
  readonly #ends = new LineEnds();
  #ring: Buffer;
  readonly #capacity: number;

  /** `capacity` in bytes. */
  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#ring = Buffer.allocUnsafe(Math.min(capacity, 16_384));
  }

  /** Lines that came; a last one without its end counts. */
  get lines(): number {
    return this.#ends.lines;
  }
  /** Whether the first bytes are gone. */
  get overflowed(): boolean {
    return this.bytes > this.#capacity;
  }

  push(chunk: Buffer): void {
    this.#ends.push(chunk);
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

  /** Only while nothing has been overwritten, so that bytes keep their places. */
  #grow(needed: number): void {
    if (needed <= this.#ring.length || this.#ring.length === this.#capacity) return;
    const grown = Buffer.allocUnsafe(Math.min(this.#capacity, Math.max(needed, this.#ring.length * 2)));
    this.#ring.copy(grown, 0, 0, this.bytes);
    this.#ring = grown;
  }
}

export class OutputHead {
  #kept = Buffer.alloc(0);
  readonly #capacity: number;

  /** `capacity` in bytes. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }
  get bytes(): Buffer {
    return this.#kept;
  }
  push(chunk: Buffer): void {
    const room = this.#capacity - this.#kept.length;
    if (room > 0) this.#kept = Buffer.concat([this.#kept, chunk.subarray(0, room)]);
  }
}
