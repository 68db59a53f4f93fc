/** Keeps what comes first in order of key, whatever the order of arrival, within bounds. */
export class First<T> {
  readonly #most: number;
  #kept: { readonly key: string; readonly item: T; readonly weight: number }[] = [];
  #weight = 0;
  #total = 0;
  /** What comes behind it is not kept. */
  #last: string | undefined;

  /** `most`: the weight that is certain to be kept, if there is so much. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Weight of everything that was added. */
  get total(): number {
    return this.#total;
  }

  hasPlaceFor(key: string): boolean {
    return this.#last === undefined || key <= this.#last;
  }

  add(key: string, item: T, weight: number): void {
    this.#total += weight;
    if (!this.hasPlaceFor(key)) return;
    this.#kept.push({ key, item, weight });
    this.#weight += weight;
    if (this.#weight > 2 * this.#most) this.#prune();
  }

  items(): readonly T[] {
    this.#prune();
    return this.#kept.map(({ item }) => item);
  }

  #prune(): void {
    this.#kept.sort((a, b) => (a.key < b.key ? -1 : 1));
    let weight = 0;
    const end = this.#kept.findIndex((entry) => {
      weight += entry.weight;
      return weight >= this.#most;
    });
    if (end >= 0) {
      this.#kept = this.#kept.slice(0, end + 1);
      this.#last = this.#kept[end]?.key;
    }
    this.#weight = weight;
  }
}
