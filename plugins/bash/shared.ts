/** Something that the generations of a session hand on to each other: made when it is first needed, closed behind the last of them. */
export class Shared<T extends { close(): Promise<void> }> {
  #users = 0;
  #made: Promise<T> | undefined;
  readonly #make: () => Promise<T>;

  constructor(make: () => Promise<T>) {
    this.#make = make;
  }

  get(): Promise<T> {
    return (this.#made ??= this.#make());
  }

  /** Returns how to leave. */
  join(): () => Promise<void> {
    this.#users += 1;
    return async () => {
      this.#users -= 1;
      const made = this.#made;
      if (this.#users > 0 || !made) return;
      this.#made = undefined;
      await (await made).close();
    };
  }
}
