/** The first bytes of a stream; the rest is counted as cut. */
export class HeadBuffer {
  cut = false;
  #bytes: Buffer;
  #length = 0;
  readonly #limit: number;

  /** `limit` in bytes. */
  constructor(limit: number) {
    this.#limit = limit;
    this.#bytes = Buffer.allocUnsafe(Math.min(limit, 4096));
  }

  push(bytes: Uint8Array): void {
    const wanted = Math.min(bytes.length, this.#limit - this.#length);
    if (wanted < bytes.length) this.cut = true;
    if (this.#length + wanted > this.#bytes.length) this.#grow(this.#length + wanted);
    this.#bytes.set(bytes.subarray(0, wanted), this.#length);
    this.#length += wanted;
  }

  /** As UTF-8; a character that the limit cuts in two is left out. */
  text(): string {
    // A stream decoder keeps an incomplete character back instead of replacing it.
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.#bytes.subarray(0, this.#length), { stream: this.cut });
  }

  #grow(needed: number): void {
    const grown = Buffer.allocUnsafe(Math.min(this.#limit, Math.max(needed, this.#bytes.length * 2)));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
