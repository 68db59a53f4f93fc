import { CastError, type Clock } from '../../../kernel/index.ts';

interface Patience {
  readonly clock: Clock;
  /** Milliseconds. */
  readonly ms: number;
  /** Who is waited for, in messages. */
  readonly who: string;
}

/** The signal that `run` gets aborts with the outer one, or with MODEL_UNREACHABLE when the time is up. */
export const withinTime = async <T>({ clock, ms, who }: Patience, outer: AbortSignal, run: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const [late, over] = [new AbortController(), new AbortController()];
  const timer = clock.sleep(ms, over.signal).then(
    () => late.abort(new CastError('MODEL_UNREACHABLE', `${who} gave no answer within ${ms / 1000} s`, { fix: 'Check that it is running, or try again.' })),
    () => undefined,
  );
  try {
    return await run(AbortSignal.any([outer, late.signal]));
  } catch (error) {
    // Whatever the end of the wait looks like from inside.
    if (!outer.aborted) late.signal.throwIfAborted();
    throw error;
  } finally {
    over.abort();
    await timer;
  }
};
