import type { Hit } from './hits.ts';
import { LIMITS } from './limits.ts';

/** What was found for a query lately; all of it, so that who asks for few first can have more later. */
export class SearchCache {
  readonly #found = new Map<string, { readonly hits: readonly Hit[]; readonly until: number }>();

  get(key: string, now: number): readonly Hit[] | undefined {
    const found = this.#found.get(key);
    return found && found.until > now ? found.hits : undefined;
  }
  /** The oldest makes room. */
  set(key: string, hits: readonly Hit[], now: number): void {
    this.#found.delete(key);
    this.#found.set(key, { hits, until: now + LIMITS.cacheMs });
    const [oldest] = this.#found.keys();
    if (this.#found.size > LIMITS.cached && oldest !== undefined) this.#found.delete(oldest);
  }
}
