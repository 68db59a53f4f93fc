/** Entries and the rows of messages beside them. */
import { CastError, type Append, type Entry } from '../../kernel/index.ts';
import type { Connection } from './database.ts';
import { contentJson, messageIn, summarise } from './projection.ts';
import { standingOf, unknownSession } from './records.ts';
import { indexEntry, isSearched } from './search-index.ts';
import type { StoredEntry } from './tables.ts';

/** To be called in a transaction, and by whoever holds the session. */
export const appendEntries = (connection: Connection, session: string, batch: readonly Entry[], how: Append, now: number): void => {
  const standing = standingOf(connection, session);
  if (!standing) throw unknownSession(session);
  let last = standing.last_seq;
  for (const entry of batch) {
    if (entry.seq <= last) throw new CastError('INTERNAL', `Entry ${entry.id} of session ${session} has the number ${entry.seq}, which does not rise.`);
    insertEntry(connection, session, entry, true);
    if (isSearched(standing.kind)) indexEntry(connection, session, entry);
    last = entry.seq;
  }
  setInContext(connection, session, how.leave ?? [], false);
  setInContext(connection, session, how.enter ?? [], true);
  const head = how.head === undefined ? (batch.at(-1)?.id ?? standing.head) : how.head;
  if (typeof how.head === 'string') seqOf(connection, session, how.head);
  const { title, messages } = summarise(standing, batch);
  connection
    .prepare<unknown[]>('UPDATE sessions SET head = ?, last_seq = ?, title = ?, messages = ?, updated_at = ? WHERE id = ?')
    .run(head, last, title, messages, now, session);
};

export const insertEntry = (connection: Connection, session: string, entry: Entry, inContext: boolean): void => {
  connection
    .prepare<unknown[]>('INSERT INTO entries (id, session_id, parent_id, seq, kind, created_at, data_json) VALUES (?, ?, ?, ?, ?, ?, ?)')
    .run(entry.id, session, entry.parent, entry.seq, entry.kind, entry.at, JSON.stringify(entry.data));
  const message = messageIn(entry);
  if (!message) return;
  connection
    .prepare<unknown[]>('INSERT INTO messages (session_id, seq, entry_id, role, in_context, created_at, content_json) VALUES (?, ?, ?, ?, ?, ?, ?)')
    .run(session, entry.seq, entry.id, message.role, Number(inContext), entry.at, contentJson(message));
};

const setInContext = (connection: Connection, session: string, entries: readonly string[], inContext: boolean): void => {
  const update = connection.prepare<[number, string, string]>('UPDATE messages SET in_context = ? WHERE session_id = ? AND entry_id = ?');
  for (const entry of entries) update.run(Number(inContext), session, entry);
};

const seqOf = (connection: Connection, session: string, entry: string): number => {
  const row = connection.prepare<[string, string], { seq: number }>('SELECT seq FROM entries WHERE session_id = ? AND id = ?').get(session, entry);
  if (!row) throw new CastError('HISTORY_BAD_MOVE', `Session ${session} has no entry ${entry}.`);
  return row.seq;
};

/** The chain that ends with `head`, newest first. */
export function* chainOf(connection: Connection, session: string, head: string): Generator<StoredEntry> {
  const before = connection.prepare<[string, number], End>('SELECT id, seq FROM entries WHERE session_id = ? AND seq < ? ORDER BY seq DESC LIMIT 1');
  for (let end: End | undefined = { id: head, seq: seqOf(connection, session, head) }; end; ) {
    let oldest: StoredEntry | undefined;
    for (const row of linksTo(connection, session, end)) {
      yield row;
      oldest = row;
    }
    // A parent that is missing was lost with a damaged file: the entry before takes its place.
    end = oldest && oldest.parent_id !== null ? before.get(session, oldest.seq) : undefined;
  }
}

type End = Pick<StoredEntry, 'id' | 'seq'>;

/** From an entry back to the first one, or to one whose parent is missing. */
function* linksTo(connection: Connection, session: string, end: End): Generator<StoredEntry> {
  // A parent is older than its child, so one pass from the newest to the oldest meets every link.
  const older = connection.prepare<[string, number], StoredEntry>(
    'SELECT id, parent_id, seq, kind, created_at, data_json FROM entries WHERE session_id = ? AND seq <= ? ORDER BY seq DESC',
  );
  let wanted: string | null = end.id;
  for (const row of older.iterate(session, end.seq)) {
    if (row.id !== wanted) continue;
    yield row;
    wanted = row.parent_id;
    if (wanted === null) return;
  }
}
