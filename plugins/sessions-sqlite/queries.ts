/** Questions with conditions that vary. Kysely is loaded with this file, so nothing on the way to a first request may need it. */
import { Kysely, SqliteDialect } from 'kysely';
import type { EntryKind, SessionQuery, SessionRecord } from '../../kernel/index.ts';
import { folderOf } from './files.ts';
import type { Database } from './native.ts';
import { recordOfValues, SESSION_COLUMNS, type SessionValues, type StoredEntry, type Tables } from './tables.ts';

export interface EntryQuery {
  readonly before?: number;
  readonly limit: number;
  readonly kinds?: readonly EntryKind[];
}
export interface Queries {
  /** Newest first. */
  sessions(query: SessionQuery): Promise<SessionRecord[]>;
  /** Newest first, of every branch. */
  entries(session: string, query: EntryQuery): Promise<StoredEntry[]>;
}

const known = new WeakMap<Database, Queries>();

export const queriesOn = (db: Database): Queries => {
  const queries = known.get(db) ?? createQueries(db);
  known.set(db, queries);
  return queries;
};

/** Asks through the connection of the store; never destroyed, for that would close it. */
const createQueries = (db: Database): Queries => {
  const kysely = new Kysely<Tables>({ dialect: new SqliteDialect({ database: db }) });
  return {
    async sessions({ root, cwd, kind, before, limit }) {
      let query = kysely.selectFrom('sessions').select(SESSION_COLUMNS);
      if (root !== undefined) query = query.where(({ or, eb }) => or([eb('root', '=', root), eb('folder', '=', folderOf(root))]));
      if (cwd !== undefined) query = query.where('cwd', '=', cwd);
      if (kind !== undefined) query = query.where('kind', '=', kind);
      if (before !== undefined) query = query.where('updated_at', '<', before);
      // Run as it is, and read as lists: for ten thousand rows Kysely, and an object for each, would take twice as long.
      const { sql, parameters } = query.orderBy('updated_at', 'desc').orderBy('id', 'desc').limit(limit).compile();
      return db
        .prepare<unknown[], SessionValues>(sql)
        .raw()
        .all(...parameters)
        .map(recordOfValues);
    },
    async entries(session, { before, kinds, limit }) {
      let query = kysely.selectFrom('entries').select(['id', 'parent_id', 'seq', 'kind', 'created_at', 'data_json']).where('session_id', '=', session);
      if (before !== undefined) query = query.where('seq', '<', before);
      if (kinds !== undefined) query = query.where('kind', 'in', kinds);
      return query.orderBy('seq', 'desc').limit(limit).execute();
    },
  };
};
