/** Follows the requests of one session, and says what is worth keeping of them. */
import type { ModelRequest, Section, StepContext } from '../../kernel/index.ts';
import type { CacheBreak } from './cache.ts';
import type { Prefix } from './prefix.ts';

export type Change = { readonly prefix: Prefix } | { readonly break: CacheBreak };
export interface Kept {
  /** Of the newest request; null before the first. */
  readonly prefix: Prefix | null;
  readonly breaks: number;
  readonly newest: readonly CacheBreak[];
}
/** Newest breaks that are kept to be shown. */
const SHOWN = 20;

export const NOTHING: Kept = { prefix: null, breaks: 0, newest: [] };
export const fold = (kept: Kept, change: Change): Kept =>
  'prefix' in change ? { ...kept, prefix: change.prefix } : { ...kept, breaks: kept.breaks + 1, newest: [...kept.newest, change.break].slice(-SHOWN) };

export class CacheWatch {
  #first: StepContext | undefined;
  #last: ModelRequest | undefined;
  /** The newest request whose prefix was looked at. */
  #noted: ModelRequest | undefined;
  #breaks: CacheBreak[] = [];

  async see(request: ModelRequest, at: StepContext): Promise<void> {
    if (request.purpose !== 'main') return;
    const before = this.#last;
    this.#first ??= at;
    this.#last = request;
    const difference = before && (await import('./cache.ts')).breakBetween(before, request);
    if (difference) this.#breaks.push({ turn: at.turn, step: at.step, ...difference });
  }

  /** What has changed since it was asked last; most turns change nothing. */
  async changes({ prefix: before }: Kept, sections: readonly Section[]): Promise<readonly Change[]> {
    const [request, noted, breaks] = [this.#last, this.#noted, this.#breaks.splice(0)];
    if (!request) return [];
    this.#noted = request;
    if (noted && hasSamePrefix(noted, request)) return breaks.map((each) => ({ break: each }));
    const { prefixBreak, prefixOf } = await import('./prefix.ts');
    const prefix = prefixOf(request, sections);
    if (before === null) return [...breaks.map((each) => ({ break: each })), { prefix }];
    const difference = prefixBreak(before, prefix);
    if (!difference) return breaks.map((each) => ({ break: each }));
    // A change between two processes was seen by nobody.
    if (!noted && this.#first) breaks.unshift({ turn: this.#first.turn, step: this.#first.step, ...difference });
    return [...breaks.map((each) => ({ break: each.at === difference.at ? { ...each, what: difference.what } : each })), { prefix }];
  }
}

const hasSamePrefix = (one: ModelRequest, other: ModelRequest): boolean =>
  one.system === other.system && one.tools === other.tools && one.provider === other.provider && one.model === other.model;
