/** How a model does in the running step, and when to go on without it. */
import { type Failure, isProviderError, type ModelRef, type ProviderFailure } from '../../kernel/index.ts';

/** The kernel makes 16 attempts at a reply. Each model has its share of them, so that the last one is asked as well. */
const ATTEMPTS = 15;
/** One less than the providers make by themselves, behind which the turn would end. */
const MAX_FAILURES = 7;
/** The providers ask twice more for a reply that broke off. */
const MAX_BREAKS = 2;

const TRANSIENT: ReadonlySet<ProviderFailure> = new Set(['rate', 'overload', 'network', 'stall']);
/** Faults of a configuration: told for the first model, passed over in the middle of a chain. */
const UNUSABLE: ReadonlySet<ProviderFailure> = new Set(['auth', 'not_found']);

/** One model in one step. */
export interface Trial {
  readonly model: ModelRef;
  /** The first model, then those of the fallback. */
  readonly chain: readonly ModelRef[];
  /** It has failed before and not answered since. */
  readonly isOnProbation: boolean;
  /** Epoch milliseconds: when it was first asked in this step, or a reply of it broke off last. */
  since: number;
  failures: number;
  /** Failures in the middle of a reply. */
  breaks: number;
}

/** `hopeless`: asking again would not help. `lasting`: it might, but has been tried for long enough. `passing`: it is to be asked again, or the turn ends. */
export type Verdict = 'hopeless' | 'lasting' | 'passing';

/** Counts a failure. A long reply that broke off leaves the time for its restart. */
export const note = (failure: Failure, trial: Trial, now: number): void => {
  trial.failures += 1;
  if (!failure.began) return;
  trial.breaks += 1;
  trial.since = now;
};

export const verdictOn = (failure: Failure, trial: Trial, now: number, patienceMs: number): Verdict => {
  const { kind } = failure;
  if (kind === 'quota') return 'hopeless';
  if (UNUSABLE.has(kind)) return trial.model === trial.chain[0] ? 'passing' : 'hopeless';
  if (!TRANSIENT.has(kind)) return 'passing';
  const asked = askedBy(failure) ?? 0;
  if (now - trial.since + asked > patienceMs) return asked > 0 ? 'hopeless' : 'lasting';
  return isSpent(trial) ? 'lasting' : 'passing';
};

const isSpent = ({ isOnProbation, breaks, failures, chain }: Trial): boolean =>
  isOnProbation || breaks > MAX_BREAKS || failures >= Math.min(MAX_FAILURES, Math.max(1, Math.floor(ATTEMPTS / chain.length)));

/** Milliseconds that the provider asks to wait; undefined when it does not say. */
export const askedBy = ({ error }: Failure): number | undefined => (isProviderError(error) && error.retryAfterMs ? error.retryAfterMs : undefined);
