/** A stream that its first read opens; `began` is called when its first part is there. An async generator around it would cost several promises for every part that passes through. */
export const lateStream = <T>(open: () => Promise<AsyncIterable<T>>, began?: () => void): AsyncIterable<T> => ({
  [Symbol.asyncIterator]: () => new LateIterator(open, began),
});

class LateIterator<T> implements AsyncIterator<T> {
  readonly #open: () => Promise<AsyncIterable<T>>;
  readonly #began: (() => void) | undefined;
  #parts: AsyncIterator<T> | undefined;
  #isLeft = false;

  constructor(open: () => Promise<AsyncIterable<T>>, began: (() => void) | undefined) {
    this.#open = open;
    this.#began = began;
  }

  next(): Promise<IteratorResult<T>> {
    return this.#parts ? this.#parts.next() : this.#first();
  }
  async return(): Promise<IteratorResult<T>> {
    this.#isLeft = true;
    await this.#parts?.return?.();
    return { done: true, value: undefined };
  }

  async #first(): Promise<IteratorResult<T>> {
    const stream = await this.#open();
    // Left while it was being opened: nothing of it may begin.
    if (this.#isLeft) return { done: true, value: undefined };
    this.#parts = stream[Symbol.asyncIterator]();
    const first = await this.#parts.next();
    this.#began?.();
    return first;
  }
}
