/** Copies what can be read of a damaged database into a new one, row by row. */
import { connectTo, setUp, type Connection } from './database.ts';
import { buildingPlace, identityOf, prepareFile, removeDatabase, replaceDamaged } from './files.ts';
import { insertEntry } from './entries.ts';
import { Sqlite, type Database, type Statement } from './native.ts';
import { summarise, type Summary } from './projection.ts';
import { entriesOf, LEASE_COLUMNS, SESSION_COLUMNS, type EntryRow, type LeaseRow, type MessageRow, type SessionRow } from './tables.ts';

/** Rows that are copied at most: a recovery must end. */
const MAX_ROWS = 1_000_000;
/** Row numbers that are tried behind an unreadable place before the rest of a table is given up. */
const MAX_MISSES = 20_000;

export interface Recovery {
  /** Where the damaged file is kept. */
  readonly aside: string;
  readonly sessions: number;
  readonly entries: number;
}

/** Undefined when another process has replaced the file meanwhile. */
export const replaceWithReadable = (damaged: Connection, file: string, now: number): Recovery | undefined => {
  const building = buildingPlace(file);
  removeDatabase(building);
  try {
    const counts = buildFrom(damaged.db, building, now);
    if (identityOf(file) !== damaged.identity) return undefined;
    return { aside: replaceDamaged(file, building, now), ...counts };
  } finally {
    removeDatabase(building);
  }
};

const buildFrom = (damaged: Database, building: string, now: number): { sessions: number; entries: number } => {
  prepareFile(building);
  const fresh = connectTo(building);
  try {
    setUp(fresh.db, now);
    return fresh.atomic(() => copyAll(damaged, fresh));
  } finally {
    // Closing plays the log into the file, so that one file is all there is to move.
    fresh.db.close();
  }
};

const copyAll = (damaged: Database, fresh: Connection): { sessions: number; entries: number } => {
  for (const row of readable<SessionRow>(damaged, 'sessions')) {
    // The file may be of an older version.
    attempt(() => insertRow(fresh, 'sessions', SESSION_COLUMNS, { ...row, folder: row.folder ?? null }));
  }
  copyEntries(damaged, fresh);
  mendHeads(fresh);
  for (const row of readable<LeaseRow>(damaged, 'leases')) attempt(() => insertRow(fresh, 'leases', LEASE_COLUMNS, row));
  const count = (table: string): number => Number(fresh.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
  return { sessions: count('sessions'), entries: count('entries') };
};

const copyEntries = (damaged: Database, fresh: Connection): void => {
  const hidden = outOfContext(damaged);
  /** Sessions whose own row is lost. */
  const found = new Map<string, Summary>();
  for (const row of readable<EntryRow>(damaged, 'entries')) {
    const entry = entriesOf([row]).entries[0];
    if (!entry) continue;
    const { session_id: session } = row;
    attempt(() => {
      if (insertFoundSession(fresh, row)) found.set(session, { title: '', messages: 0 });
      insertEntry(fresh, session, entry, !hidden.has(placeOf(row)));
      const summary = found.get(session);
      if (summary) found.set(session, summarise(summary, [entry]));
    });
  }
  const name = fresh.prepare<[string, number, string]>('UPDATE sessions SET title = ?, messages = ? WHERE id = ?');
  for (const [session, { title, messages }] of found) name.run(title, messages, session);
};

const placeOf = (row: { readonly session_id: string; readonly seq: number }): string => `${row.session_id} ${row.seq}`;

const outOfContext = (damaged: Database): Set<string> => {
  const hidden = new Set<string>();
  for (const row of readable<MessageRow>(damaged, 'messages', 'session_id, seq, in_context')) {
    if (row.in_context === 0) hidden.add(placeOf(row));
  }
  return hidden;
};

/** A session of which only entries are left is found by its id. Returns whether it was missing. */
const insertFoundSession = (fresh: Connection, row: EntryRow): boolean => {
  const insert = fresh.prepare<[string, number, number]>(
    `INSERT OR IGNORE INTO sessions (id, cwd, root, title, model, provider, kind, created_at, updated_at) VALUES (?, '', '', '', '', '', 'conversation', ?, ?)`,
  );
  return insert.run(row.session_id, row.created_at, row.created_at).changes > 0;
};

/** A session whose head is lost goes on from its newest entry; one without any entry is dropped. */
const mendHeads = (fresh: Connection): void => {
  fresh.db.exec(`
    DELETE FROM sessions WHERE NOT EXISTS (SELECT 1 FROM entries WHERE session_id = sessions.id);
    UPDATE sessions SET last_seq = (SELECT max(seq) FROM entries WHERE session_id = sessions.id);
    UPDATE sessions SET head = (SELECT id FROM entries WHERE session_id = sessions.id ORDER BY seq DESC LIMIT 1)
      WHERE head IS NULL AND cwd = '' OR head IS NOT NULL AND NOT EXISTS (SELECT 1 FROM entries WHERE session_id = sessions.id AND id = sessions.head);
  `);
};

const insertRow = (fresh: Connection, table: string, columns: readonly string[], row: object): void => {
  const sql = `INSERT OR IGNORE INTO ${table} (${columns.join(', ')}) VALUES (${columns.map((column) => `@${column}`).join(', ')})`;
  fresh.prepare<[object]>(sql).run(row);
};

/** Leaves out a row that the new database refuses, or that is not what it claims to be; a full disk ends the recovery. */
const attempt = (insert: () => void): void => {
  try {
    insert();
  } catch (error) {
    if (error instanceof Sqlite.SqliteError && !error.code.startsWith('SQLITE_CONSTRAINT')) throw error;
  }
};

/** The rows of a table in order, without those that cannot be read. */
function* readable<R extends object>(db: Database, table: string, columns = '*'): Generator<R> {
  let from = 0;
  for (let count = 0; count < MAX_ROWS; ) {
    try {
      const rows = db.prepare<[number], R & { at_row: number }>(`SELECT rowid AS at_row, ${columns} FROM ${table} WHERE rowid >= ? ORDER BY rowid`);
      for (const row of rows.iterate(from)) {
        from = row.at_row + 1;
        count += 1;
        yield row;
        if (count >= MAX_ROWS) return;
      }
      return;
    } catch {
      const next = nextReadable(db, table, from);
      if (next === undefined) return;
      from = next;
    }
  }
}

const nextReadable = (db: Database, table: string, from: number): number | undefined => {
  const probe = statementFor(db, `SELECT * FROM ${table} WHERE rowid = ?`);
  for (let row = from; probe && row < from + MAX_MISSES; row += 1) {
    try {
      if (probe.get(row)) return row;
    } catch {
      // Unreadable too: on to the next.
    }
  }
  return undefined;
};

/** Undefined when the table is not there, or nothing at all can be read. */
const statementFor = (db: Database, sql: string): Statement<[number], unknown> | undefined => {
  try {
    return db.prepare<[number]>(sql);
  } catch {
    return undefined;
  }
};
