/** Which models are left alone after a failure, and until when. */
import type { ModelRef, ProviderFailure } from '../../kernel/index.ts';
import { nameOf } from './chain.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** What the provider asks for is believed up to here: a month's quota may be raised on any day. */
const MAX_MS = 7 * 24 * HOUR;
const RATE_MS = MINUTE;
const QUOTA_MS = HOUR;
const OUTAGE_MS = 2 * MINUTE;
const MAX_OUTAGE_MS = 30 * MINUTE;

interface Cooldown {
  readonly until: number;
  /** Outages in a row, without an answer between them. */
  readonly outages: number;
}

/** Shared by the sessions of a process that ask the same providers, so that each outage is found out once. */
export class Cooldowns {
  readonly #cooling = new Map<string, Cooldown>();

  /** Epoch milliseconds from which the model may be asked again; 0 when nothing is known against it. */
  until(model: ModelRef): number {
    return this.#cooling.get(nameOf(model))?.until ?? 0;
  }
  /** Whether it has not answered since it failed last. */
  isOnProbation(model: ModelRef): boolean {
    return this.#cooling.has(nameOf(model));
  }
  /** `askedMs` is how long the provider asks to wait. Returns for how many milliseconds the model is left alone. */
  start(model: ModelRef, kind: ProviderFailure, askedMs: number | undefined, now: number): number {
    const before = this.#cooling.get(nameOf(model))?.outages ?? 0;
    const ms = Math.min(MAX_MS, durationOf(kind, askedMs ?? 0, before));
    this.#cooling.set(nameOf(model), { until: now + ms, outages: OUTAGES.has(kind) ? before + 1 : before });
    return ms;
  }
  answered(model: ModelRef): void {
    this.#cooling.delete(nameOf(model));
  }
}

const OUTAGES: ReadonlySet<ProviderFailure> = new Set(['overload', 'network', 'stall']);

const durationOf = (kind: ProviderFailure, askedMs: number, outages: number): number => {
  if (OUTAGES.has(kind)) return Math.max(askedMs, Math.min(MAX_OUTAGE_MS, OUTAGE_MS * 2 ** outages));
  return askedMs || (kind === 'rate' ? RATE_MS : QUOTA_MS);
};

/** For people: `45 s`, `7 min`, `24 h`. */
export const inWords = (ms: number): string => {
  if (ms < 90_000) return `${Math.max(1, Math.round(ms / 1000))} s`;
  return ms < 90 * MINUTE ? `${Math.round(ms / MINUTE)} min` : `${Math.round(ms / HOUR)} h`;
};
