import { randomBytes } from 'node:crypto';
import type { Clock, Ids, Log } from '../plugin.ts';

/** The only place where cast reads the time of day. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise<void>((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = (): void => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      }, ms);
      signal?.addEventListener('abort', onAbort, { once: true });
    }),
};

/** Base-36 time, a counter within the millisecond, and six random characters: short, sortable, unique over processes. */
export const createIds = (clock: Clock): Ids => {
  let lastAt = 0;
  let count = 0;
  return {
    next: () => {
      const at = Math.max(clock.now(), lastAt);
      count = at === lastAt ? count + 1 : 0;
      lastAt = at;
      const random = randomBytes(4).readUInt32BE().toString(36).padStart(6, '0').slice(-6);
      return `${at.toString(36)}${count.toString(36).padStart(2, '0')}${random}`;
    },
  };
};

export const silentLog: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
