/** The shape of the database, version by version. A migration that has shipped is never edited. */
import { CastError } from '../../kernel/index.ts';
import type { Database } from './native.ts';

export interface Migration {
  readonly name: string;
  readonly sql: string;
}

/** The version of a migration is its place, from 1. */
export const MIGRATIONS: readonly Migration[] = [
  {
    name: 'sessions, entries, messages, leases',
    sql: `
      CREATE TABLE sessions (
        id TEXT NOT NULL PRIMARY KEY,
        cwd TEXT NOT NULL,
        root TEXT NOT NULL,
        title TEXT NOT NULL,
        model TEXT NOT NULL,
        provider TEXT NOT NULL,
        parent_id TEXT,
        kind TEXT NOT NULL,
        pinned INTEGER NOT NULL DEFAULT 0,
        head TEXT,
        last_seq INTEGER NOT NULL DEFAULT 0,
        messages INTEGER NOT NULL DEFAULT 0,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL
      );
      CREATE INDEX sessions_by_time ON sessions (updated_at);
      CREATE INDEX sessions_by_root ON sessions (root, updated_at);
      CREATE INDEX sessions_by_cwd ON sessions (cwd, updated_at);

      -- Long values stand last, so that reading the others does not walk over their pages.
      CREATE TABLE entries (
        id TEXT NOT NULL,
        session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        parent_id TEXT,
        seq INTEGER NOT NULL,
        kind TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        data_json TEXT NOT NULL,
        PRIMARY KEY (session_id, seq),
        UNIQUE (session_id, id)
      );
      CREATE TABLE messages (
        session_id TEXT NOT NULL,
        seq INTEGER NOT NULL,
        entry_id TEXT NOT NULL,
        role TEXT NOT NULL,
        in_context INTEGER NOT NULL DEFAULT 1,
        created_at INTEGER NOT NULL,
        content_json TEXT NOT NULL,
        PRIMARY KEY (session_id, seq),
        UNIQUE (session_id, entry_id),
        FOREIGN KEY (session_id, seq) REFERENCES entries (session_id, seq) ON DELETE CASCADE
      );

      CREATE TRIGGER entries_never_change BEFORE UPDATE ON entries
      BEGIN SELECT raise(ABORT, 'entries are never changed'); END;
      CREATE TRIGGER messages_never_change BEFORE UPDATE OF session_id, seq, entry_id, role, created_at, content_json ON messages
      BEGIN SELECT raise(ABORT, 'messages are never changed'); END;
      -- A cascade deletes after the row of the session is gone.
      CREATE TRIGGER entries_stay BEFORE DELETE ON entries WHEN EXISTS (SELECT 1 FROM sessions WHERE id = OLD.session_id)
      BEGIN SELECT raise(ABORT, 'entries go only with their session'); END;
      CREATE TRIGGER messages_stay BEFORE DELETE ON messages WHEN EXISTS (SELECT 1 FROM sessions WHERE id = OLD.session_id)
      BEGIN SELECT raise(ABORT, 'messages go only with their session'); END;

      -- pid is null while nobody holds the session; the epoch stays, for it must rise.
      CREATE TABLE leases (
        session_id TEXT NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
        epoch INTEGER NOT NULL,
        pid INTEGER,
        started TEXT,
        place TEXT,
        beat_at INTEGER NOT NULL
      );
    `,
  },
  {
    name: 'projects that move',
    sql: `
      -- What tells the folder of a project from others, wherever it is moved.
      ALTER TABLE sessions ADD COLUMN folder TEXT;
      CREATE INDEX sessions_by_folder ON sessions (folder, updated_at) WHERE folder IS NOT NULL;
    `,
  },
];

/** Throws when the database was written by a newer cast; changes nothing. */
export const checkVersion = (db: Database, migrations: readonly Migration[] = MIGRATIONS): void => {
  const version = versionOf(db);
  if (version <= migrations.length) return;
  throw new CastError('STORE_UNAVAILABLE', `The session store ${db.name} is of version ${version}, and this cast knows versions up to ${migrations.length}.`, {
    fix: 'Install a newer cast, or set CAST_HOME to another folder.',
  });
};

/** Brings a database up to date, each step in a transaction of its own. Several processes may do it at once. */
export const migrate = (db: Database, now: number, migrations: readonly Migration[] = MIGRATIONS): void => {
  let version = versionOf(db);
  while (version < migrations.length) version = db.transaction(() => step(db, now, migrations)).immediate();
};

const step = (db: Database, now: number, migrations: readonly Migration[]): number => {
  // Read again under the lock: another process may have been faster.
  const version = versionOf(db);
  const next = migrations[version];
  if (!next) return version;
  db.exec('CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL)');
  db.exec(next.sql);
  db.prepare('INSERT INTO schema_migrations (version, name, applied_at) VALUES (?, ?, ?)').run(version + 1, next.name, now);
  return version + 1;
};

const versionOf = (db: Database): number => {
  const has = db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_migrations'").get();
  return has ? Number(db.prepare('SELECT coalesce(max(version), 0) FROM schema_migrations').pluck().get()) : 0;
};
