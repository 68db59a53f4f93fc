import { CastError } from '../errors.ts';
import type { Registry } from '../plugin.ts';

export interface Owned<T> {
  readonly item: T;
  /** The plugin that brought it. */
  readonly from: string;
}

/** Named items of one kind; each knows who brought it. */
export class NamedItems<T extends { readonly name: string }> {
  readonly #items = new Map<string, Owned<T>>();
  readonly #kind: string;

  constructor(kind: string) {
    this.#kind = kind;
  }
  all(): readonly Owned<T>[] {
    return [...this.#items.values()];
  }
  get(name: string): T | undefined {
    return this.#items.get(name)?.item;
  }
  /** What one plugin sees: it adds in its own name. */
  for(plugin: string): Registry<T> {
    return {
      get: (name) => this.get(name),
      list: () => this.all().map(({ item, from }) => ({ ...item, from })),
      add: (item) => this.#add(item, plugin),
    };
  }
  /** Takes out whatever a plugin brought: it could not be applied as a whole. */
  removeAllOf(plugin: string): void {
    for (const [name, { from }] of this.#items) if (from === plugin) this.#items.delete(name);
  }

  #add(item: T, plugin: string): Disposable {
    const there = this.#items.get(item.name);
    if (there) {
      throw new CastError('REGISTRY_CONFLICT', `plugin ${plugin} brings the ${this.#kind} ${item.name}, which ${there.from} has brought already`, {
        plugin,
        fix: `Rename it, or switch one of the two off with --plugin ${plugin}=off.`,
      });
    }
    const owned = { item, from: plugin };
    this.#items.set(item.name, owned);
    return {
      [Symbol.dispose]: () => {
        if (this.#items.get(item.name) === owned) this.#items.delete(item.name);
      },
    };
  }
}
