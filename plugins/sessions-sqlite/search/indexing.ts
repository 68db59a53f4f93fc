/** Puts messages into the indices, the newest first, a piece at a time: an append only notes them. */
import type { Connection } from '../database.ts';
import { SEARCH } from './limits.ts';

interface Span {
  readonly first: number;
  readonly last: number;
}
interface Row {
  readonly id: number;
  readonly role: string;
  readonly content_json: string;
}

/** Goes on until all is indexed or the time is over; answers whether all is. */
export const indexSome = (connection: Connection, budgetMs: number): boolean => {
  const endsAt = performance.now() + budgetMs;
  for (;;) {
    if (connection.atomic(() => indexPiece(connection)) === 0) return true;
    if (performance.now() >= endsAt) return false;
  }
};

const indexPiece = (connection: Connection): number => {
  const span = connection.prepare<[], Span>('SELECT first, last FROM indexed').get() ?? { first: 1, last: 1 };
  const newer = rowsOf(connection, 'd.id >= ? ORDER BY d.id', span.last);
  if (newer.length > 0) {
    for (const row of newer) indexRow(connection, row);
    moveTo(connection, { first: span.first, last: (newer.at(-1)?.id ?? span.last) + 1 });
    return newer.length;
  }
  const older = rowsOf(connection, 'd.id < ? ORDER BY d.id DESC', span.first);
  for (const row of older) indexRow(connection, row);
  if (older.length > 0) moveTo(connection, { first: older.at(-1)?.id ?? span.first, last: span.last });
  return older.length;
};

const rowsOf = (connection: Connection, where: string, from: number): readonly Row[] =>
  connection
    .prepare<[number, number], Row>(
      `SELECT d.id, d.role, m.content_json FROM documents d CROSS JOIN messages m ON m.session_id = d.session_id AND m.seq = d.seq WHERE ${where} LIMIT ?`,
    )
    .all(from, SEARCH.piece);

const moveTo = (connection: Connection, { first, last }: Span): void =>
  void connection.prepare<[number, number]>('UPDATE indexed SET first = ?, last = ?').run(first, last);

const indexRow = (connection: Connection, { id, role, content_json: json }: Row): void => {
  const text = contentOf(json);
  if (text === '') return;
  const put = (table: string): void => void connection.prepare<[number, string]>(`INSERT INTO ${table} (rowid, text) VALUES (?, ?)`).run(id, text);
  if (role === 'tool') return put('tool_words');
  put('words');
  put('triples');
};

/** Of a row of messages: what was said, as far as it is found. */
export const contentOf = (json: string): string => {
  try {
    const { content } = JSON.parse(json) as { readonly content?: unknown };
    return typeof content === 'string' ? content.slice(0, SEARCH.textChars) : '';
  } catch {
    return '';
  }
};
