/** Puts what was said since into the index, session by session, the newest first. */
import { setImmediate } from 'node:timers/promises';
import type { Connection } from '../database.ts';
import { SEARCH } from './limits.ts';

/** A clock that was set back in between must not hide a session. */
const MARGIN_MS = 86_400_000;
/** Numbers of one millisecond. */
const NUMBERS = 2_048;

/** Goes on until all is in or the time is over; answers whether all is. Everything else goes on between two pieces. */
export const indexSome = async (connection: Connection, budgetMs: number): Promise<boolean> => {
  const endsAt = performance.now() + budgetMs;
  const newest = connection.prepare<[], { at: number | null }>('SELECT max(updated_at) AS at FROM sessions').get()?.at ?? 0;
  while (connection.atomic(() => indexPiece(connection))) {
    if (performance.now() >= endsAt) return false;
    await setImmediate();
  }
  connection.prepare<[number]>('UPDATE about SET seen = max(seen, ?)').run(newest - MARGIN_MS);
  return true;
};

interface Behind {
  readonly id: string;
  readonly from: number;
  readonly last: number;
}

/** What fits into the time of one transaction, each of which costs some by itself. False when there was nothing to do. */
const indexPiece = (connection: Connection): boolean => {
  const endsAt = performance.now() + SEARCH.pieceMs;
  const behind = connection
    .prepare<[number], Behind>(
      `SELECT s.id, coalesce(p.seq, 0) AS "from", s.last_seq AS last FROM sessions s LEFT JOIN progress p ON p.session_id = s.id
       WHERE s.updated_at >= (SELECT seen FROM about) AND s.kind = 'conversation' AND s.last_seq > coalesce(p.seq, 0)
       ORDER BY s.updated_at DESC LIMIT ?`,
    )
    .all(SEARCH.sessions);
  for (const session of behind) {
    let { from } = session;
    while (from < session.last) {
      from = indexRows(connection, { ...session, from });
      if (performance.now() >= endsAt) return true;
    }
  }
  return behind.length > 0;
};

/** Answers up to where the session is in. */
const indexRows = (connection: Connection, { id, from, last }: Behind): number => {
  const rows = connection
    .prepare<[string, number, number], Row>(
      'SELECT session_id, seq, role, created_at, content_json FROM messages WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ?',
    )
    .all(id, from, SEARCH.rows);
  for (const row of rows) indexRow(connection, row);
  const reached = rows.length < SEARCH.rows ? last : (rows.at(-1)?.seq ?? last);
  connection.prepare<[string, number]>('INSERT INTO progress VALUES (?, ?) ON CONFLICT DO UPDATE SET seq = excluded.seq').run(id, reached);
  return reached;
};

interface Row {
  readonly session_id: string;
  readonly seq: number;
  readonly role: string;
  readonly created_at: number;
  readonly content_json: string;
}

const indexRow = (connection: Connection, row: Row): void => {
  const { text, isReminder } = messageIn(row.content_json);
  if (text === '' || isReminder) return;
  const id = numbered(connection, row);
  const put = (table: string): void => void connection.prepare<[number, string]>(`INSERT INTO ${table} (rowid, text) VALUES (?, ?)`).run(id, text);
  if (row.role === 'tool') return put('tool_words');
  put('words');
  put('triples');
};

/** By time, so that the newest places of a word are those with the highest numbers. */
const numbered = (connection: Connection, { session_id: session, seq, role, created_at: at }: Row): number => {
  const insert = connection.prepare<[number, string, number, string]>('INSERT OR IGNORE INTO documents (id, session_id, seq, role) VALUES (?, ?, ?, ?)');
  for (let id = at * NUMBERS + (seq % NUMBERS); ; id += 1) if (insert.run(id, session, seq, role).changes > 0) return id;
};

interface Said {
  readonly text: string;
  readonly isReminder: boolean;
}
/** Of a row of messages, as far as it is found. */
export const messageIn = (json: string): Said => {
  try {
    const { content, reminder } = JSON.parse(json) as { readonly content?: unknown; readonly reminder?: unknown };
    return { text: typeof content === 'string' ? content.slice(0, SEARCH.textChars) : '', isReminder: reminder === true };
  } catch {
    return { text: '', isReminder: false };
  }
};
