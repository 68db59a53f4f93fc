/** One open database: how it is set up, and statements that are compiled once. */
import { identityOf, sizeOf } from './files.ts';
import { checkVersion, migrate } from './migrations.ts';
import { Sqlite, type Database, type Statement } from './native.ts';

/** Milliseconds that a statement waits for another process to finish its transaction. */
const BUSY_MS = 5_000;
/** Tries at what does not wait by itself, and milliseconds between them. */
const BUSY_TRIES = 250;
const BUSY_PAUSE_MS = 20;
/** A database up to this size is checked whole when it is opened (4 ms at most); a larger one where it is read. */
const CHECKED_BYTES = 2 * 1024 * 1024;

export interface Connection {
  readonly db: Database;
  /** Of the file when it was opened: another one may have taken its place since. */
  readonly identity: string | undefined;
  prepare<P extends unknown[], R = unknown>(sql: string): Statement<P, R>;
  /** All or nothing, and alone: no other process writes meanwhile. */
  atomic<T>(work: () => T): T;
}

export const connectTo = (file: string): Connection => {
  // Before it is opened: should the file be replaced in between, the difference shows at the next use.
  const identity = identityOf(file);
  const db = new Sqlite(file, { timeout: BUSY_MS, fileMustExist: true });
  const statements = new Map<string, unknown>();
  return {
    db,
    identity,
    prepare<P extends unknown[], R>(sql: string): Statement<P, R> {
      const known = statements.get(sql) as Statement<P, R> | undefined;
      if (known) return known;
      const statement = db.prepare<P, R>(sql) as Statement<P, R>;
      statements.set(sql, statement);
      return statement;
    },
    atomic: (work) => db.transaction(work).immediate(),
  };
};

/**
 * A commit is in the hands of the operating system when an append returns: it outlives the process, however that ends.
 * It is not synced to the disk one by one (`synchronous = NORMAL`): a power cut may take the commits of the last seconds,
 * and never leaves a damaged database. Syncing each commit would stop the event loop for 0.4 ms here and for 5 to 30 ms on slow disks.
 */
export const setUp = (db: Database, now: number): void => {
  const size = sizeOf(db.name);
  checkVersion(db);
  // Nothing can be lost yet, and the syncs of a new file would cost more than all the rest of it.
  if (size === 0) db.pragma('synchronous = OFF');
  whileBusy(() => db.pragma('journal_mode = WAL'));
  db.pragma('foreign_keys = ON');
  if (size > 0 && size <= CHECKED_BYTES) checkWhole(db);
  migrate(db, now);
  db.pragma('synchronous = NORMAL');
};

const checkWhole = (db: Database): void => {
  const verdict = db.pragma('quick_check(1)', { simple: true });
  if (verdict !== 'ok') throw new Sqlite.SqliteError(String(verdict), 'SQLITE_CORRUPT');
};

/** The change to WAL fails at once, without the usual waiting, when several processes ask for it together. */
const whileBusy = (work: () => void): void => {
  for (let tries = 1; ; tries += 1) {
    try {
      return work();
    } catch (error) {
      const isBusy = error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY');
      if (!isBusy || tries >= BUSY_TRIES) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_PAUSE_MS);
    }
  }
};
