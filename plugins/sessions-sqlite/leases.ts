/** Who may write a session: one process at a time, known by an epoch that rises with each claim. */
import { CastError } from '../../kernel/index.ts';
import type { Connection } from './database.ts';
import { isAlive, type Holder } from './holder.ts';
import type { LeaseRow } from './tables.ts';

type Held = Pick<LeaseRow, 'epoch' | 'pid' | 'started' | 'place' | 'beat_at'>;

/** Takes the lease of a session and returns its epoch. To be called in a transaction; throws SESSION_BUSY while somebody alive holds it. */
export const takeLease = (connection: Connection, session: string, me: Holder, now: number): number => {
  const lease = leaseOf(connection, session);
  if (lease) checkFree(session, lease, me, now);
  const epoch = (lease?.epoch ?? 0) + 1;
  putLease(connection, session, epoch, me, now);
  return epoch;
};

const leaseOf = (connection: Connection, session: string): Held | undefined =>
  connection.prepare<[string], Held>('SELECT epoch, pid, started, place, beat_at FROM leases WHERE session_id = ?').get(session);

export const putLease = (connection: Connection, session: string, epoch: number, me: Holder, now: number): void => {
  connection
    .prepare<unknown[]>('INSERT OR REPLACE INTO leases (session_id, epoch, pid, started, place, beat_at) VALUES (?, ?, ?, ?, ?, ?)')
    .run(session, epoch, me.pid, me.started, me.place, now);
};

/** Throws SESSION_BUSY while a living process holds the session. */
export const checkNotHeld = (connection: Connection, session: string, me: Holder, now: number): void => {
  const lease = leaseOf(connection, session);
  if (lease) checkFree(session, lease, me, now);
};

const checkFree = (session: string, lease: Held, me: Holder, now: number): void => {
  if (lease.pid === null || lease.place === null) return;
  if (isAlive({ pid: lease.pid, started: lease.started, place: lease.place }, me.place, lease.beat_at, now)) {
    throw busy(session, lease.pid, lease.place === me.place ? '' : ' on another machine or in a container');
  }
};

export const busy = (session: string, pid: number, where = ''): CastError =>
  new CastError('SESSION_BUSY', `Session ${session} is being written by process ${pid}${where}.`, {
    fix: pid === process.pid ? 'Wait until its turn is done.' : 'Wait until its turn is done, or end that process.',
  });

/** Throws STORE_LEASE_LOST unless this epoch is the current one and not released. */
export const checkLease = (connection: Connection, session: string, epoch: number): void => {
  const lease = leaseOf(connection, session);
  if (lease?.epoch === epoch && lease.pid !== null) return;
  const by = lease?.pid ? `process ${lease.pid} has taken it over` : 'it was released';
  throw new CastError('STORE_LEASE_LOST', `Session ${session} is no longer held under epoch ${epoch}: ${by}.`, {
    fix: 'Nothing was written. Open the session again to go on from where it stands.',
  });
};

export const dropLease = (connection: Connection, session: string, epoch: number): void => {
  connection.prepare<[string, number]>('UPDATE leases SET pid = NULL, started = NULL, place = NULL WHERE session_id = ? AND epoch = ?').run(session, epoch);
};

/** Puts a lease that this process holds into a database that has taken the place of another. */
export const restoreLease = (connection: Connection, session: string, epoch: number, me: Holder, now: number): void => {
  connection
    .prepare<unknown[]>(`INSERT OR IGNORE INTO leases (session_id, epoch, pid, started, place, beat_at) SELECT id, ?, ?, ?, ?, ? FROM sessions WHERE id = ?`)
    .run(epoch, me.pid, me.started, me.place, now, session);
};

/** Stamps every lease of this process, for those who cannot look whether it lives. */
export const beat = (connection: Connection, me: Holder, now: number): void => {
  connection.prepare<[number, number, string]>('UPDATE leases SET beat_at = ? WHERE pid = ? AND place = ?').run(now, me.pid, me.place);
};
