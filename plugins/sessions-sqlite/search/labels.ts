/** Sessions by what they are called: title, folder, model and id. */
import type { SearchQuery, SessionRecord } from '../../../kernel/index.ts';
import type { Connection } from '../database.ts';
import { recordOf, SESSION_COLUMNS, type SessionRow } from '../tables.ts';

const COLUMNS = SESSION_COLUMNS.map((column) => `s.${column}`).join(', ');

/** Every word occurs in one of them. The newest first. */
export const labelled = (connection: Connection, query: SearchQuery, words: readonly string[]): readonly SessionRecord[] =>
  ask(
    connection,
    query,
    words.map(() => "(s.title LIKE ? ESCAPE '\\' OR s.cwd LIKE ? ESCAPE '\\' OR s.model LIKE ? ESCAPE '\\' OR s.id LIKE ? ESCAPE '\\')"),
    words.flatMap((word) => Array<string>(4).fill(`%${escaped(word)}%`)),
  );

/** Its letters occur in one of them, in this order: words that were mistyped. */
export const looselyLabelled = (connection: Connection, query: SearchQuery): readonly SessionRecord[] => {
  const letters = [...query.text.replace(/[\s"]+/g, '')];
  if (letters.length < 3 || letters.length > MOST_LETTERS) return [];
  const like = `%${letters.map(escaped).join('%')}%`;
  return ask(connection, query, ["(s.title LIKE ? ESCAPE '\\' OR s.cwd LIKE ? ESCAPE '\\' OR s.id LIKE ? ESCAPE '\\')"], Array<string>(3).fill(like));
};
/** Each is a place at which a comparison may begin anew. */
const MOST_LETTERS = 24;

const ask = (connection: Connection, { root, limit }: SearchQuery, conditions: readonly string[], values: readonly string[]): readonly SessionRecord[] =>
  connection
    .prepare<unknown[], SessionRow>(
      `SELECT ${COLUMNS} FROM sessions s WHERE ${["s.kind = 'conversation'", ...(root === undefined ? [] : ['s.root = ?']), ...conditions].join(' AND ')}
       ORDER BY s.updated_at DESC, s.id DESC LIMIT ?`,
    )
    .all(...(root === undefined ? [] : [root]), ...values, limit)
    .map(recordOf);

const escaped = (text: string): string => text.replace(/[\\%_]/g, '\\$&');
