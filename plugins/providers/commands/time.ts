import type { Clock } from '../../../kernel/index.ts';

/** The signal that `run` gets aborts with the outer one, or when the time is up. */
export const withinTime = async <T>(clock: Clock, ms: number, outer: AbortSignal, run: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const [late, over] = [new AbortController(), new AbortController()];
  const timer = clock.sleep(ms, over.signal).then(
    () => late.abort(new Error(`there was no answer within ${ms / 1000} s`)),
    () => undefined,
  );
  try {
    return await run(AbortSignal.any([outer, late.signal]));
  } finally {
    over.abort();
    await timer;
  }
};
