/** Ends a request of which nothing comes any more. Time to the first part and time between parts are two limits. */
import { type Clock, ProviderError } from '../../../kernel/index.ts';
import { inWordsFor } from '../failures/retry-after.ts';

export interface Limits {
  /** Milliseconds to the first part of the reply. */
  readonly firstTokenMs: number;
  /** Milliseconds between two parts. */
  readonly idleMs: number;
}
/** Milliseconds for what may follow a complete reply. */
const TRAIL_MS = 5_000;

/** Waiting for the first part, for the next, or for what may follow the last. */
export type Stage = 'first' | 'between' | 'after';

export interface Watch {
  /** Aborts with the reason of the outer signal, or with a `stall`. */
  readonly signal: AbortSignal;
  /** Something has come; `isMore` when it was part of the reply. */
  heard(stage: Stage, isMore: boolean): void;
  /** Nothing more is expected; the request is aborted with it unless it is over. */
  stop(): void;
}

export const startWatch = (clock: Clock, limits: Limits, host: string, outer: AbortSignal): Watch => {
  const inner = new AbortController();
  const spans: Readonly<Record<Stage, number>> = { first: limits.firstTokenMs, between: limits.idleMs, after: Math.min(TRAIL_MS, limits.idleMs) };
  let stage: Stage = 'first';
  let since = clock.now();
  let stopped = false;
  let nap = new AbortController();

  const abort = () => inner.abort(outer.reason);
  if (outer.aborted) abort();
  else outer.addEventListener('abort', abort, { once: true });

  const guard = async (): Promise<void> => {
    while (!stopped) {
      const left = since + spans[stage] - clock.now();
      if (left <= 0) return inner.abort(stall(stage, spans[stage], host));
      // Woken early when the stage, and with it the limit, changes.
      await clock.sleep(left, nap.signal).catch(() => {});
    }
  };
  const wake = () => {
    const before = nap;
    nap = new AbortController();
    // A reason of its own: the built-in one is an error with a stack.
    before.abort(null);
  };
  void guard();

  return {
    signal: inner.signal,
    heard(next, isMore) {
      // What says nothing begins nothing, and draws no end out.
      if (next === 'first' || (next === 'after' && stage === 'after' && !isMore)) return;
      since = clock.now();
      if (next === stage) return;
      stage = next;
      wake();
    },
    stop() {
      stopped = true;
      outer.removeEventListener('abort', abort);
      wake();
      inner.abort(null);
    },
  };
};

const stall = (stage: Stage, span: number, host: string): ProviderError =>
  new ProviderError(
    'stall',
    `${host} sent ${stage === 'first' ? 'nothing' : 'no more of its reply'} for ${inWordsFor(span)}, so the request was given up as stalled`,
    {
      fix: 'Try again; the limits are plugins.providers.firstTokenMs and idleMs.',
    },
  );
