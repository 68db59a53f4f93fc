/** The running sums of one session. */
import type { Usage, UsageService, UsageTotals } from '../../kernel/index.ts';
import { add, NOTHING, totalsOf } from './count.ts';

/** All of it, so that the newest record alone is enough. */
export interface Sums {
  /** The session that it belongs to: a fork begins at nothing. */
  readonly session: string;
  readonly models: Readonly<Record<string, UsageTotals>>;
  readonly contextTokens: number;
}

/** Tokens are spent whatever becomes of the conversation: a rewind does not bring them back, so sums only ever grow. */
export class Ledger implements UsageService {
  readonly #session: string;
  readonly #kept: () => Sums | null;
  #own: Sums | undefined;
  isChanged = false;

  /** `kept` gives what was recorded before, once the session is there. */
  constructor(session: string, kept: () => Sums | null) {
    this.#session = session;
    this.#kept = kept;
  }

  get sums(): Sums {
    return (this.#own ??= this.#resumed());
  }
  /** `isMain`: a request of this conversation itself, whose prompt is what fills the window. */
  book(model: string, usage: Usage, { isChild, isMain }: { readonly isChild: boolean; readonly isMain: boolean }): void {
    const { models, contextTokens } = this.sums;
    const totals = totalsOf(usage, isChild);
    this.#own = {
      session: this.#session,
      models: { ...models, [model]: add(models[model] ?? NOTHING, totals) },
      contextTokens: isMain && !isChild ? totals.promptTokens : contextTokens,
    };
    this.isChanged = true;
  }

  total(): UsageTotals {
    return Object.values(this.sums.models).reduce(add, NOTHING);
  }
  byModel(): Readonly<Record<string, UsageTotals>> {
    return this.sums.models;
  }
  contextTokens(): number {
    return this.sums.contextTokens;
  }

  #resumed(): Sums {
    const kept = this.#kept();
    return kept?.session === this.#session ? kept : { session: this.#session, models: {}, contextTokens: 0 };
  }
}
