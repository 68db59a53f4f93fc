import type { Clock, Ids } from '../plugin.ts';

export interface ManualClock extends Clock {
  /** Moves time on; sleepers whose time has come wake in order. */
  advance(ms: number): Promise<void>;
}

/** Time that stands still until a test moves it. */
export const manualClock = (start = 1_750_000_000_000): ManualClock => {
  let now = start;
  const sleepers = new Set<{ readonly at: number; readonly wake: () => void }>();
  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const sleeper = { at: now + ms, wake: () => resolve() };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', () => {
          sleepers.delete(sleeper);
          reject(signal.reason);
        });
      }),
    advance: async (ms) => {
      const until = now + ms;
      for (;;) {
        const next = [...sleepers].filter((sleeper) => sleeper.at <= until).sort((a, b) => a.at - b.at)[0];
        if (!next) break;
        now = next.at;
        sleepers.delete(next);
        next.wake();
        await new Promise((resolve) => setImmediate(resolve));
      }
      now = until;
    },
  };
};

/** Ids that a test can foretell: `session-1`, `entry-2`, … */
export const countingIds = (): Ids => {
  let count = 0;
  return { next: (kind) => `${kind}-${++count}` };
};
