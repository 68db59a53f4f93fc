/** The running sums of one session. */
import type { Usage, UsageRecord, UsageService, UsageTotals } from '../../kernel/index.ts';
import { add, NOTHING, totalsOf } from './count.ts';

/** All of it, so that the newest record alone is enough. */
export interface Sums {
  /** The session that it belongs to: a fork begins at nothing. */
  readonly session: string;
  /** Whose models stand there by their names alone: the provider that was active first. Absent in older records. */
  readonly provider?: string;
  readonly models: Readonly<Record<string, UsageTotals>>;
  readonly contextTokens: number;
  /** Since the record before, so that what was used can be told by day. Absent in older records. */
  readonly added?: readonly UsageRecord[];
}

export interface Booking {
  readonly provider: string;
  readonly model: string;
  readonly usage: Usage;
  /** Provider of the session now. */
  readonly active: string;
  readonly isChild: boolean;
  /** A request of the conversation itself, whose prompt is what fills the window. */
  readonly isMain: boolean;
}

/** Tokens are spent whatever becomes of the conversation: a rewind does not bring them back, so sums only ever grow. */
export class Ledger implements UsageService {
  readonly #session: string;
  readonly #kept: () => Sums | null;
  #own: Sums | undefined;
  /** What no record has yet, oldest first. */
  readonly #added: UsageRecord[] = [];
  #written = 0;

  /** `kept` gives what was recorded before, once the session is there. */
  constructor(session: string, kept: () => Sums | null) {
    this.#session = session;
    this.#kept = kept;
  }

  get sums(): Sums {
    return (this.#own ??= this.#resumed());
  }
  book({ provider, model, usage, active, isChild, isMain }: Booking): void {
    const { models, contextTokens, provider: first = active } = this.sums;
    // Two providers may serve one model, at prices of their own, and another may become the active one.
    const name = provider === first ? model : `${provider}/${model}`;
    const totals = totalsOf(usage, isChild);
    this.#own = {
      session: this.#session,
      provider: first,
      models: { ...models, [name]: add(models[name] ?? NOTHING, totals) },
      contextTokens: isMain && !isChild ? totals.promptTokens : contextTokens,
    };
    this.#added.push({ ...totals, provider, model });
  }
  /** What is to be recorded; undefined when all of it has been. It counts as recorded once that is confirmed. */
  write(): Sums | undefined {
    this.#written = this.#added.length;
    return this.#written === 0 && !this.#isAhead() ? undefined : { ...this.sums, added: merged(this.#added) };
  }
  #isAhead(): boolean {
    if (!this.#own) return false;
    const kept = this.#kept();
    const models = kept?.session === this.#session ? Object.values(kept.models) : [];
    return models.reduce(add, NOTHING).totalTokens < this.total().totalTokens;
  }
  confirm(): void {
    this.#added.splice(0, this.#written);
    this.#written = 0;
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

/** One record for each model. */
const merged = (records: readonly UsageRecord[]): readonly UsageRecord[] => {
  const sums = new Map<string, UsageRecord>();
  for (const record of records) {
    const name = JSON.stringify([record.provider, record.model]);
    sums.set(name, { ...add(sums.get(name) ?? NOTHING, record), provider: record.provider, model: record.model });
  }
  return [...sums.values()];
};
