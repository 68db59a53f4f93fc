/** Whether and when a failed request is sent again. */
import { type Failure, isProviderError, messageOf, type Recovery } from '../../../kernel/index.ts';
import { isLasting } from './causes.ts';
import { inWordsFor } from './retry-after.ts';

const MAX_ATTEMPTS = 8;
const MAX_TOTAL_MS = 120_000;
const MAX_RESTARTS = 2;
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;
/** Share of a delay by which it may be shorter, so that clients do not come back all at once. */
const JITTER = 0.2;

const TRANSIENT: ReadonlySet<Failure['kind']> = new Set(['rate', 'overload', 'network', 'stall']);
const REMINDERS: Partial<Record<Failure['kind'], string>> = {
  empty: 'Your last reply was empty. Answer the user, or call a tool.',
  cut: 'Your last reply was cut off by the limit on its length, and is lost. Answer again, more briefly, or in smaller steps with tools.',
};

/** One step of one turn. */
export interface StepKey {
  readonly turn: number;
  readonly step: number;
}
interface Progress extends StepKey, Pick<Failure, 'provider' | 'model'> {
  /** Failures before the first part of a reply, since the step or its last restart began. */
  attempts: number;
  restarts: number;
  /** When the running count of attempts began, on the clock of `Failure.elapsedMs`. */
  sinceMs: number;
  /** Kinds of which the model was already reminded. */
  readonly reminded: Set<Failure['kind']>;
}

/** Remembers how far the running step has got with its model. `random` gives a share from 0 to 1. */
export const createRetry = (random: () => number): ((failure: Failure, at: StepKey) => Recovery | undefined) => {
  let progress: Progress | undefined;
  return (failure, at) => {
    if (!progress || !isOf(progress, failure, at)) progress = begun(failure, at);
    const reminder = REMINDERS[failure.kind];
    if (reminder !== undefined) return remindOnce(failure, reminder, progress);
    if (!TRANSIENT.has(failure.kind) || (failure.kind === 'network' && isLasting(failure.error))) return undefined;
    return failure.began ? restart(failure, progress, random) : again(failure, progress, random);
  };
};

/** Another model counts from the beginning, and so does a step that is taken again after a rewind. */
const isOf = (progress: Progress, { provider, model, seenInStep }: Failure, { turn, step }: StepKey): boolean =>
  seenInStep > 1 && progress.turn === turn && progress.step === step && progress.provider === provider && progress.model === model;

const begun = ({ provider, model, seenInStep, elapsedMs }: Failure, { turn, step }: StepKey): Progress => ({
  turn,
  step,
  provider,
  model,
  attempts: 0,
  restarts: 0,
  // What was spent on another model is not this one's.
  sinceMs: seenInStep > 1 ? elapsedMs : 0,
  reminded: new Set(),
});

const remindOnce = (failure: Failure, remind: string, progress: Progress): Recovery => {
  if (progress.reminded.has(failure.kind)) return { stop: messageOf(failure.error) };
  progress.reminded.add(failure.kind);
  return { retry: { afterMs: 0, reason: messageOf(failure.error), remind } };
};

/** After the first part: what was shown is taken back, so seldom. */
const restart = (failure: Failure, progress: Progress, random: () => number): Recovery => {
  progress.restarts++;
  if (progress.restarts > MAX_RESTARTS) return { stop: `${messageOf(failure.error)} (the reply broke off ${progress.restarts} times)` };
  progress.attempts = 0;
  progress.sinceMs = failure.elapsedMs;
  return wait(failure, progress.restarts, MAX_TOTAL_MS, random);
};

const again = (failure: Failure, progress: Progress, random: () => number): Recovery => {
  progress.attempts++;
  if (progress.attempts >= MAX_ATTEMPTS) return { stop: `${messageOf(failure.error)} (tried ${progress.attempts} times)` };
  return wait(failure, progress.attempts, MAX_TOTAL_MS - (failure.elapsedMs - progress.sinceMs), random);
};

const wait = (failure: Failure, count: number, leftMs: number, random: () => number): Recovery => {
  const message = messageOf(failure.error);
  const asked = isProviderError(failure.error) ? failure.error.retryAfterMs : undefined;
  if (asked !== undefined && asked > leftMs) return { stop: `${message} (it asks to wait ${inWordsFor(asked)}, which is too long to wait for)` };
  // What the provider asks for is obeyed to the letter; a wait of nothing says nothing.
  const afterMs = asked !== undefined && asked > 0 ? asked : backOff(count, random);
  if (afterMs > leftMs) return { stop: `${message} (tried for ${inWordsFor(failure.elapsedMs)})` };
  return { retry: { afterMs, reason: message } };
};

const backOff = (count: number, random: () => number): number => {
  const delay = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (count - 1));
  return Math.round(delay * (1 - JITTER * random()));
};
