/** The leases that are held through one store. */
import type { Clock } from '../../kernel/index.ts';
import type { Connection } from './database.ts';
import { thisProcess, type Holder } from './holder.ts';
import { beat, busy, checkNotHeld, dropLease, putLease, restoreLease, takeLease } from './leases.ts';

/** Milliseconds between stamps on the leases that are held. */
const BEAT_MS = 10_000;

export interface Holdings {
  /** Epoch under which a session is held; undefined when it is not. */
  epochOf(session: string): number | undefined;
  /** Throws SESSION_BUSY when this store, or any living process, holds the session. */
  checkFree(connection: Connection, session: string): void;
  /** Takes the lease and returns its epoch. To be called in a transaction, and followed by `add` once that is committed. */
  take(connection: Connection, session: string): number;
  /** Writes the lease of a session that has only now got a row. */
  put(connection: Connection, session: string, epoch: number): void;
  add(session: string, epoch: number): void;
  /** False when it is not held under this epoch any more. */
  remove(session: string, epoch: number): boolean;
  /** Notes a lease whose release could not be written: nobody uses it, and the next claim may take it. */
  abandon(session: string, epoch: number): void;
  /** Writes what is held into a database that has taken the place of another. */
  restore(connection: Connection): void;
  /** Writes that none of them is held any more. */
  dropAll(connection: Connection): void;
  /** Forgets them all. */
  clear(): void;
}

/** `opened` gives the connection through which held leases are stamped. */
export const createHoldings = (clock: Clock, opened: () => Connection | undefined): Holdings => {
  const held = new Map<string, number>();
  const abandoned = new Map<string, number>();
  let identity: Holder | undefined;
  let timer: NodeJS.Timeout | undefined;

  const me = (): Holder => (identity ??= thisProcess());
  const stamp = (): void => {
    const connection = opened();
    if (!connection) return;
    try {
      beat(connection, me(), clock.now());
    } catch {
      // The stamp is for other machines only, and the next one is not far.
    }
  };
  const stopBeat = (): void => {
    clearInterval(timer);
    timer = undefined;
  };
  const checkOwn = (session: string): void => {
    if (held.has(session)) throw busy(session, process.pid);
  };

  return {
    epochOf: (session) => held.get(session),
    checkFree(connection, session) {
      checkOwn(session);
      checkNotHeld(connection, session, me(), clock.now());
    },
    take(connection, session) {
      checkOwn(session);
      const left = abandoned.get(session);
      if (left !== undefined) dropLease(connection, session, left);
      return takeLease(connection, session, me(), clock.now());
    },
    put: (connection, session, epoch) => putLease(connection, session, epoch, me(), clock.now()),
    add(session, epoch) {
      checkOwn(session);
      held.set(session, epoch);
      abandoned.delete(session);
      timer ??= setInterval(stamp, BEAT_MS).unref();
    },
    remove(session, epoch) {
      if (held.get(session) !== epoch) return false;
      held.delete(session);
      if (held.size === 0) stopBeat();
      return true;
    },
    abandon(session, epoch) {
      abandoned.set(session, epoch);
    },
    restore(connection) {
      for (const [session, epoch] of held) restoreLease(connection, session, epoch, me(), clock.now());
    },
    dropAll(connection) {
      for (const [session, epoch] of held) dropLease(connection, session, epoch);
    },
    clear() {
      held.clear();
      stopBeat();
    },
  };
};
