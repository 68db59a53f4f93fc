/**
 * What is found by is kept in a file of its own beside the store, made by the first search. It holds nothing that is not in the store as
 * well: where it is damaged, or of another version, it is made anew.
 */
import { dirname, join } from 'node:path';
import { connectTo, type Connection } from '../database.ts';
import { isDamage } from '../failure.ts';
import { identityOf, prepareFile, removeDatabase } from '../files.ts';

const VERSION = 2;
const SCHEMA = `
  -- Which file it was made of, and up to which time nothing is left to be put in.
  CREATE TABLE about (only INTEGER PRIMARY KEY CHECK (only = 1), store TEXT NOT NULL, seen INTEGER NOT NULL);
  -- Up to which entry a session is in.
  CREATE TABLE progress (session_id TEXT NOT NULL PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID;
  -- One row for each message, numbered by time. The indices below have that number, and the text of none.
  CREATE TABLE documents (id INTEGER PRIMARY KEY, session_id TEXT NOT NULL, seq INTEGER NOT NULL, role TEXT NOT NULL);
  CREATE INDEX documents_by_session ON documents (session_id);
  -- Words of what people and models said, words of what tools answered, and triples of letters of the former. Short beginnings of words
  -- have lists of their own: else all places of all words that begin so are read.
  CREATE VIRTUAL TABLE words USING fts5(text, content = '', contentless_delete = 1, tokenize = 'unicode61', prefix = '1 2 3');
  CREATE VIRTUAL TABLE tool_words USING fts5(text, content = '', contentless_delete = 1, tokenize = 'unicode61', prefix = '1 2 3');
  CREATE VIRTUAL TABLE triples USING fts5(text, content = '', contentless_delete = 1, tokenize = 'trigram', detail = none);
  CREATE TRIGGER documents_gone AFTER DELETE ON documents
  BEGIN
    DELETE FROM words WHERE rowid = OLD.id;
    DELETE FROM tool_words WHERE rowid = OLD.id;
    DELETE FROM triples WHERE rowid = OLD.id;
  END;
  PRAGMA user_version = ${VERSION};
`;

export interface IndexFile {
  /** `work` sees the tables of the store beside those of the index; it may run a second time, on an index that was made anew. */
  use<T>(work: (connection: Connection) => Promise<T>): Promise<T>;
  /** Takes a session out, if there is an index. */
  forget(session: string): void;
  /** Sessions of a time that was passed already have come. */
  lookBack(): void;
  close(): void;
}

/** `store`: the database of the sessions, which is there. */
export const createIndexFile = (store: string): IndexFile => {
  const file = join(dirname(store), 'search.db');
  let opened: { readonly connection: Connection; readonly store: string } | undefined;

  const close = (): void => {
    opened?.connection.db.close();
    opened = undefined;
  };
  const open = (): Connection => {
    const identity = identityOf(store) ?? '';
    if (opened && (opened.store !== identity || identityOf(file) !== opened.connection.identity)) close();
    opened ??= { store: identity, connection: connect(file, store, identity) };
    return opened.connection;
  };
  const renew = (): void => {
    close();
    removeDatabase(file);
  };
  return {
    async use(work) {
      try {
        return await work(open());
      } catch (error) {
        if (!isDamage(error)) throw error;
        renew();
        return work(open());
      }
    },
    forget(session) {
      if (identityOf(file) === undefined) return;
      try {
        const connection = open();
        connection.atomic(() => {
          connection.prepare<[string]>('DELETE FROM documents WHERE session_id = ?').run(session);
          connection.prepare<[string]>('DELETE FROM progress WHERE session_id = ?').run(session);
        });
      } catch {
        // Removed with the file: what is in no index is not found.
        renew();
      }
    },
    lookBack() {
      if (identityOf(file) === undefined) return;
      try {
        open().prepare<[]>('UPDATE about SET seen = 0').run();
      } catch {
        renew();
      }
    },
    close,
  };
};

const connect = (file: string, store: string, identity: string): Connection => {
  prepareFile(file);
  const connection = connectTo(file);
  try {
    connection.db.pragma('journal_mode = WAL');
    connection.db.pragma('synchronous = NORMAL');
    if (connection.db.pragma('user_version', { simple: true }) === 0) connection.atomic(() => make(connection, identity));
    if (isOf(connection, identity)) {
      connection.prepare<[string]>('ATTACH ? AS store').run(store);
      return connection;
    }
  } catch (error) {
    connection.db.close();
    throw error;
  }
  connection.db.close();
  removeDatabase(file);
  return connect(file, store, identity);
};

const make = (connection: Connection, identity: string): void => {
  // Another process may have been faster.
  if (connection.db.pragma('user_version', { simple: true }) !== 0) return;
  connection.db.exec(SCHEMA);
  connection.prepare<[string]>('INSERT INTO about (only, store, seen) VALUES (1, ?, 0)').run(identity);
};

const isOf = (connection: Connection, identity: string): boolean =>
  connection.db.pragma('user_version', { simple: true }) === VERSION &&
  connection.prepare<[], { store: string }>('SELECT store FROM about').get()?.store === identity;
