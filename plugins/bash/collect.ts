/** Reads a command's output to its end, in bounded memory. What has come can be looked at meanwhile. */
import type { Child } from '../../kernel/index.ts';
import { headOf, type ShellLimits } from './limits.ts';
import { newestText } from './render.ts';
import type { Spill, SpillFolder } from './spill.ts';
import { OutputHead, OutputTail } from './tail.ts';
import { decodeTail, isBinary, lastPart } from './text.ts';

export interface Collected {
  readonly head: OutputHead;
  readonly tail: OutputTail;
  /** Holds all of it, once that is more than the result can hold. */
  readonly spill: Spill | undefined;
}

/** At most this many bytes at a time, so that the tail still holds everything when the limits are passed. */
const SLICE_BYTES = 65_536;
const PROGRESS_MS = 250;
const PROGRESS_LINES = 5;
const PROGRESS_BYTES = 2048;

export class OutputCollector implements Collected {
  readonly head: OutputHead;
  readonly tail: OutputTail;
  spill: Spill | undefined;
  /** Bytes that the spill has been given. */
  #spilled = 0;
  #writing: Promise<unknown> = Promise.resolve();
  #isOver = false;
  readonly #followers = new Set<() => void>();
  readonly #limits: ShellLimits;
  readonly #spills: SpillFolder;

  constructor(limits: ShellLimits, spills: SpillFolder) {
    this.#limits = limits;
    this.#spills = spills;
    // Several times what is shown: escape sequences take room and are removed only at the end.
    this.head = new OutputHead(headOf(limits).maxBytes * 4);
    this.tail = new OutputTail(limits.maxBytes * 4 + SLICE_BYTES);
  }

  async read(output: Child['output']): Promise<void> {
    try {
      for await (const { bytes } of output) {
        const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
        for (let start = 0; start < whole.length; start += SLICE_BYTES) await this.#take(whole.subarray(start, start + SLICE_BYTES));
        for (const changed of this.#followers) changed();
      }
      // Nobody wants binary output in a result, but it need not be lost.
      if (!this.spill && isBinary(decodeTail(this.tail.newest(), { start: this.tail.overflowed, open: false }))) await this.keep();
    } finally {
      this.#isOver = true;
      await this.#writing;
      await this.spill?.close();
    }
  }

  async #take(slice: Buffer): Promise<void> {
    this.head.push(slice);
    this.tail.push(slice);
    const isOver = this.tail.bytes > this.#limits.maxBytes || this.tail.lines > this.#limits.maxLines;
    if ((this.spill || isOver) && !this.spill?.isFull) await this.keep();
  }

  /** All that has come is in the file then, and so is what comes from then on. */
  keep(): Promise<Spill> {
    // One after another: who asks for the file comes at any time, also while it is written.
    const writing = this.#writing.then(async () => {
      this.spill ??= await this.#spills.create();
      const missing = this.tail.bytes - this.#spilled;
      this.#spilled = this.tail.bytes;
      await this.spill.write(this.tail.newest(missing));
      if (this.#isOver) await this.spill.close();
      return this.spill;
    });
    this.#writing = writing;
    return writing;
  }

  /** Tells the newest lines, at most four times a second. Returns how to stop. */
  follow(tell: (text: string) => void): () => void {
    let timer: NodeJS.Timeout | undefined;
    const report = (): void => {
      timer = undefined;
      tell(lastPart(newestText(this, PROGRESS_BYTES).trimEnd(), PROGRESS_LINES, PROGRESS_BYTES));
    };
    const changed = (): void => {
      timer ??= setTimeout(report, PROGRESS_MS);
    };
    this.#followers.add(changed);
    return () => {
      this.#followers.delete(changed);
      clearTimeout(timer);
    };
  }
}
