/** Makes searchable what was stored before there was a search, or saved from a damaged file: the newest first, in pieces that stop nobody. */
import type { Connection } from './database.ts';
import { isDamage } from './failure.ts';
import { indexText } from './search-index.ts';

/** Messages, and bytes of them, that are indexed in one transaction: 10 to 20 ms. */
const PIECE_MESSAGES = 100;
const PIECE_BYTES = 128 * 1024;

interface Waiting {
  readonly at: number;
  readonly session_id: string;
  readonly seq: number;
  /** Null where nobody searches: results, notes for the model, other sessions than conversations. */
  readonly content_json: string | null;
}

/** How many messages wait at most. */
export const waiting = (connection: Connection): number => backlogOf(connection)?.below ?? 0;

const backlogOf = (connection: Connection): { below: number; next_id: number } | undefined =>
  connection.prepare<[], { below: number; next_id: number }>('SELECT below, next_id FROM search_backlog').get();

/** Indexes the next piece and returns how many wait still; none where nothing can be written. */
export const indexPiece = (connection: Connection): number => {
  if (!backlogOf(connection)) return 0;
  try {
    return connection.atomic(() => pieceOf(connection));
  } catch (error) {
    if (isDamage(error)) throw error;
    return 0;
  }
};

const pieceOf = (connection: Connection): number => {
  const backlog = backlogOf(connection);
  if (!backlog) return 0;
  const piece = nextPiece(connection, backlog.below);
  const oldest = piece.at(-1);
  const next = store(connection, piece, backlog.next_id);
  if (oldest && oldest.at > 1) connection.prepare<[number, number]>('UPDATE search_backlog SET below = ?, next_id = ?').run(oldest.at, next);
  else connection.prepare<[]>('DELETE FROM search_backlog').run();
  return oldest && oldest.at > 1 ? oldest.at : 0;
};

const nextPiece = (connection: Connection, below: number): Waiting[] => {
  const rows = connection.prepare<[number, number], Waiting>(`
    SELECT messages.rowid AS at, messages.session_id, messages.seq,
      CASE WHEN messages.role <> 'tool' AND entries.kind = 'message' AND sessions.kind = 'conversation' THEN messages.content_json END AS content_json
    FROM messages JOIN entries USING (session_id, seq) JOIN sessions ON sessions.id = messages.session_id
    WHERE messages.rowid < ? ORDER BY messages.rowid DESC LIMIT ?`);
  const piece: Waiting[] = [];
  let bytes = 0;
  for (const row of rows.iterate(below, PIECE_MESSAGES)) {
    piece.push(row);
    bytes += row.content_json?.length ?? 0;
    if (bytes >= PIECE_BYTES) break;
  }
  return piece;
};

/** With rising numbers, as the index wants them. Returns the next free one below. */
const store = (connection: Connection, piece: readonly Waiting[], last: number): number => {
  const first = last - piece.length + 1;
  for (const [index, { session_id: session, seq, content_json: json }] of [...piece].reverse().entries()) {
    const text = json === null ? '' : saidText(json);
    if (text !== '') indexText(connection, first + index, session, seq, text);
  }
  return first - 1;
};

/** The text of a message as its row has it; empty for a note to the model, and for what cannot be read. */
export const saidText = (json: string): string => {
  try {
    const { content, reminder } = JSON.parse(json) as { content?: unknown; reminder?: unknown };
    return typeof content === 'string' && reminder !== true ? content : '';
  } catch {
    return '';
  }
};
