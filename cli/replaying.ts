/** Ids and time that are the same when a session is played again. */
import type { Clock, Ids } from '../kernel/index.ts';
import { createIds, systemClock } from '../kernel/host/clock.ts';

/** The first session has the seed as its id; all else is counted by kind. */
export const seededIds = (seed: string): Ids => {
  const counts = new Map<string, number>();
  return {
    next: (kind) => {
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      return kind === 'session' && count === 1 ? seed : `${seed}-${kind}-${count.toString(36)}`;
    },
  };
};

/** For a session that is recorded. */
export const newSeededIds = (): Ids => seededIds(createIds(systemClock).next('session'));

/** From here on it is not the replies that are waited for: others may need the time. */
const LONG_MS = 1_000;
const REAL_MS = 100;

/** Nobody waits: who sleeps moves the time on. */
export const countingClock = (start: number): Clock => {
  let now = start;
  return {
    now: () => now,
    sleep: async (ms, signal) => {
      await systemClock.sleep(ms >= LONG_MS ? REAL_MS : 0, signal);
      now += ms;
    },
  };
};
