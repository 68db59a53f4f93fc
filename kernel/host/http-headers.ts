/** Headers of an answer, to be read only. Node's own class brings all of its built-in fetch with it. */
export class HttpHeaders implements Headers {
  readonly #values = new Map<string, string[]>();

  /** Names and values in turn, as node:http hands them over. */
  constructor(raw: readonly string[]) {
    for (let at = 0; at + 1 < raw.length; at += 2) {
      const name = (raw[at] ?? '').toLowerCase();
      const value = raw[at + 1] ?? '';
      const known = this.#values.get(name);
      if (known) known.push(value);
      else this.#values.set(name, [value]);
    }
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase())?.join(', ') ?? null;
  }
  has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }
  getSetCookie(): string[] {
    return [...(this.#values.get('set-cookie') ?? [])];
  }

  /** By name; cookies one by one, for their values may hold commas. */
  *entries(): Generator<[string, string], undefined, undefined> {
    for (const name of [...this.#values.keys()].sort()) {
      const values = this.#values.get(name) ?? [];
      for (const value of name === 'set-cookie' ? values : [values.join(', ')]) yield [name, value];
    }
  }
  *keys(): Generator<string, undefined, undefined> {
    for (const [name] of this.entries()) yield name;
  }
  *values(): Generator<string, undefined, undefined> {
    for (const [, value] of this.entries()) yield value;
  }
  [Symbol.iterator](): Generator<[string, string], undefined, undefined> {
    return this.entries();
  }
  forEach(run: (value: string, name: string, headers: Headers) => void, self?: unknown): void {
    for (const [name, value] of this.entries()) run.call(self, value, name, this);
  }

  append(): never {
    return readOnly();
  }
  set(): never {
    return readOnly();
  }
  delete(): never {
    return readOnly();
  }
}

const readOnly = (): never => {
  throw new TypeError('the headers of an answer cannot be changed');
};
