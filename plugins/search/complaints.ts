import { LIMITS } from './limits.ts';

/** What ripgrep writes to its standard error, as far as it is kept. */
export class Complaints {
  #pieces: Uint8Array[] = [];
  #size = 0;
  #isCut = false;

  /** There was more than is kept. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** Whole complaints only. */
  get text(): string {
    const text = Buffer.concat(this.#pieces).toString();
    if (!this.#isCut) return text;
    // A name may have line feeds: a complaint of a path ends with the number of an error.
    const last = [...text.matchAll(END)].at(-1);
    return text.slice(0, last ? last.index + last[0].length : text.lastIndexOf('\n') + 1);
  }

  take(bytes: Uint8Array): void {
    const kept = bytes.subarray(0, LIMITS.complaints - this.#size);
    if (kept.length < bytes.length) this.#isCut = true;
    if (kept.length > 0) this.#pieces.push(Buffer.from(kept));
    this.#size += kept.length;
  }
}

const END = /\(os error \d+\)\n/g;
