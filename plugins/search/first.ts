import { byPath } from './place.ts';

/** Keeps what comes first in the order of paths, whatever the order of arrival, within bounds. */
export class First<T> {
  readonly #most: number;
  #kept: { readonly path: string; readonly item: T; readonly weight: number }[] = [];
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

  hasPlaceFor(path: string): boolean {
    return this.#last === undefined || byPath(path, this.#last) <= 0;
  }

  add(path: string, item: T, weight: number): void {
    this.#total += weight;
    if (!this.hasPlaceFor(path)) return;
    this.#kept.push({ path, item, weight });
    this.#weight += weight;
    if (this.#weight > 2 * this.#most) this.#prune();
  }

  items(): readonly T[] {
    this.#prune();
    return this.#kept.map(({ item }) => item);
  }

  #prune(): void {
    this.#kept.sort((a, b) => byPath(a.path, b.path));
    let weight = 0;
    const end = this.#kept.findIndex((entry) => {
      weight += entry.weight;
      return weight >= this.#most;
    });
    if (end >= 0) {
      this.#kept = this.#kept.slice(0, end + 1);
      this.#last = this.#kept[end]?.path;
    }
    this.#weight = weight;
  }
}
