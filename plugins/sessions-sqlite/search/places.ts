/** Messages in which a word occurs, the newest first. */
import type { SearchQuery } from '../../../kernel/index.ts';
import type { Connection } from '../database.ts';
import { messageIn } from './indexing.ts';
import { SEARCH } from './limits.ts';
import { folded, hasLetters, hasSigns, isIdeographic, quoted, triplesOf } from './words.ts';

export interface Found {
  readonly ids: readonly number[];
  /** There are more, further back. */
  readonly hasMore: boolean;
}
interface Look {
  readonly connection: Connection;
  readonly query: SearchQuery;
  /** Candidates, at most. */
  readonly most: number;
}

export const placesOf = (connection: Connection, query: SearchQuery, word: string): Found => {
  const look: Look = { connection, query, most: SEARCH.candidates * Math.max(1, Math.floor(query.depth ?? 1)) };
  const { roles = ['user', 'assistant'] } = query;
  const isTool = roles.includes('tool');
  const isSaid = roles.includes('user') || roles.includes('assistant');
  const found = [...(isSaid ? wholeWords(look, 'words', word) : []), ...(isTool ? wholeWords(look, 'tool_words', word) : [])];
  const within = isSaid && new Set(found).size < SEARCH.enough ? withinWords(look, word) : [];
  const ids = [...new Set([...found, ...within])].sort((a, b) => b - a);
  return { ids: ids.slice(0, look.most), hasMore: ids.length >= look.most };
};

/** The word itself first: words that begin with it cost the more, the more there are. */
const wholeWords = (look: Look, table: 'words' | 'tool_words', word: string): readonly number[] => {
  if (!hasLetters(word)) return [];
  const exact = matches(look, table, quoted(word));
  const found = exact.isFull ? exact.ids : [...exact.ids, ...matches(look, table, `${quoted(word)} *`).ids];
  // The index knows no signs: to it `C++` is `c`.
  return hasSigns(word) ? holding(look, found, word) : found;
};

const withinWords = (look: Look, word: string): readonly number[] => {
  const triples = triplesOf(word);
  if (triples !== undefined) return holding(look, matches(look, 'triples', triples).ids, word);
  return isIdeographic(word) ? scanned(look, word) : [];
};

interface Matches {
  readonly ids: readonly number[];
  /** As many as are looked at: there may be older ones. */
  readonly isFull: boolean;
}
const matches = ({ connection, query: { root }, most }: Look, table: 'words' | 'tool_words' | 'triples', expression: string): Matches => {
  const newest = `SELECT rowid AS id FROM ${table} WHERE ${table} MATCH ? ORDER BY rowid DESC LIMIT ?`;
  if (root === undefined) {
    const ids = connection.prepare<[string, number], number>(newest).pluck().all(expression, most);
    return { ids, isFull: ids.length >= most };
  }
  const looked = most * SEARCH.lookedAt;
  const rows = connection
    .prepare<[string, string, number], [id: number, isOwn: 0 | 1]>(
      `SELECT d.id, s.root = ? FROM (${newest}) f CROSS JOIN documents d ON d.id = f.id CROSS JOIN sessions s ON s.id = d.session_id`,
    )
    .raw()
    .all(root, expression, looked);
  return { ids: rows.flatMap(([id, isOwn]) => (isOwn ? [id] : [])).slice(0, most), isFull: rows.length >= looked };
};

/** Of messages that have all its triples those in which they make up the word. */
const holding = (look: Look, ids: readonly number[], word: string): readonly number[] => {
  const wanted = folded(word);
  return contentsOf(look.connection, ids).flatMap(({ id, text }) => (folded(text).includes(wanted) ? [id] : []));
};

const scanned = ({ connection, query: { root }, most }: Look, word: string): readonly number[] => {
  const like = `%${word.replace(/[\\%_]/g, '\\$&')}%`;
  return connection
    .prepare<[number, string, string | null, string | null, number], { id: number }>(
      `SELECT d.id FROM (SELECT * FROM documents WHERE role <> 'tool' ORDER BY id DESC LIMIT ?) d
       CROSS JOIN messages m ON m.session_id = d.session_id AND m.seq = d.seq CROSS JOIN sessions s ON s.id = d.session_id
       WHERE m.content_json LIKE ? ESCAPE '\\' AND (? IS NULL OR s.root = ?) LIMIT ?`,
    )
    .all(SEARCH.scanned, like, root ?? null, root ?? null, most)
    .map(({ id }) => id);
};

export interface Content {
  readonly id: number;
  readonly session: string;
  readonly seq: number;
  readonly role: 'user' | 'assistant' | 'tool';
  readonly text: string;
}
/** Texts of documents, the newest first, until enough has been read. */
export const contentsOf = (connection: Connection, ids: readonly number[]): readonly Content[] => {
  const statement = connection
    .prepare<[string], [id: number, session: string, seq: number, role: Content['role'], json: string]>(
      `SELECT d.id, d.session_id, d.seq, d.role, substr(m.content_json, 1, ${2 * SEARCH.textChars}) FROM json_each(?) e
       CROSS JOIN documents d ON d.id = e.value CROSS JOIN messages m ON m.session_id = d.session_id AND m.seq = d.seq`,
    )
    .raw();
  const newest = [...ids].sort((a, b) => b - a);
  const contents: Content[] = [];
  let size = 0;
  // Some at a time: all of them could be a hundred times as much as is wanted.
  for (let from = 0; from < newest.length && size < SEARCH.rankedBytes; from += AT_A_TIME) {
    for (const [id, session, seq, role, json] of statement.all(JSON.stringify(newest.slice(from, from + AT_A_TIME)))) {
      contents.push({ id, session, seq, role, text: textIn(json) });
      size += json.length;
    }
  }
  return contents;
};
const AT_A_TIME = 100;

/** The text stands first in a row of messages, so that what follows need not be read, nor be whole. */
const textIn = (json: string): string => {
  const [, text] = TEXT.exec(json) ?? [];
  if (text === undefined) return messageIn(json).text || cutContent(json);
  return (text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text).slice(0, SEARCH.textChars);
};
const TEXT = /^\{"content":"((?:[^"\\]|\\.)*)"/s;
/** Of a long message whose JSON was cut. */
const cutContent = (json: string): string => (json.startsWith('{"content":"') ? json.slice(12, 12 + SEARCH.textChars).replace(/\\[nrt"\\]/g, ' ') : '');
