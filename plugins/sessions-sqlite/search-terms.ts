/** From a term of a query to the messages that hold it, the newest first. */
import type { Term } from '../../kernel/index.ts';
import type { Connection } from './database.ts';
import { wordOf } from './search-index.ts';

/** Words that a beginning of four or more characters stands for; behind them the parts of words are asked. */
const MAX_WORDS = 200;
/** What a beginning of two or three characters stands for is indexed itself. */
const INDEXED_CHARS: readonly number[] = [2, 3];
const PART_CHARS = 3;

export interface Found {
  readonly id: number;
  readonly session_id: string;
  readonly seq: number;
  readonly chars: number;
}

/** What to ask the index of words for; undefined when no message can hold the term. */
export const wordsExpression = (connection: Connection, { words }: Term): string | undefined => {
  const parts = words.map((word) => alternatives(connection, word));
  return parts.length === 0 || parts.includes(undefined) ? undefined : parts.join(' AND ');
};

const alternatives = (connection: Connection, word: string): string | undefined => {
  const { length } = [...word];
  if (INDEXED_CHARS.includes(length)) return `${quoted(word)}*`;
  // One letter of an alphabet stands for itself: a thousand words begin with it.
  if (length === 1 && /[a-z0-9]/.test(word)) return quoted(word);
  const known = beginningWith(connection, word);
  return known.length === 0 ? undefined : `(${known.map(quoted).join(' OR ')})`;
};

/** Words never hold a quote, but nothing that is asked may hang on that. */
const quoted = (word: string): string => `"${word.replaceAll('"', '""')}"`;

/** From one word to the next: counting the messages of each, as a list of words would, takes as long as there are messages. */
const beginningWith = (connection: Connection, beginning: string): string[] => {
  const next = connection.prepare<[string], { term: string }>('SELECT term FROM search_vocabulary WHERE term >= ? LIMIT 1');
  const found: string[] = [];
  for (let from = beginning; found.length < MAX_WORDS; ) {
    const term = next.get(from)?.term;
    if (!term?.startsWith(beginning)) break;
    found.push(term);
    from = `${term}\u0001`;
  }
  return found;
};

export const ofSessions = (sessions: readonly string[]): string => `(${sessions.map((session) => quoted(wordOf(session))).join(' OR ')})`;

export const byWords = (connection: Connection, expression: string, limit: number): Found[] =>
  connection
    .prepare<[string, number], Found>(`
      SELECT found.id, found.session_id, found.seq, found.chars FROM search_words AS words CROSS JOIN search_messages AS found ON found.id = words.rowid
      WHERE search_words MATCH ? ORDER BY words.rowid DESC LIMIT ?`)
    .all(expression, limit);

/** Messages in which every three characters of the text occur; whether they stand together has to be looked up in them. */
export const byParts = (connection: Connection, text: string, limit: number): Found[] => {
  const characters = [...text];
  const parts = new Set<string>();
  for (let at = 0; at + PART_CHARS <= characters.length; at += 1) parts.add(quoted(characters.slice(at, at + PART_CHARS).join('')));
  if (parts.size === 0) return [];
  return connection
    .prepare<[string, number], Found>(`
      SELECT found.id, found.session_id, found.seq, found.chars FROM search_parts AS parts CROSS JOIN search_messages AS found ON found.id = parts.rowid
      WHERE search_parts MATCH ? ORDER BY parts.rowid DESC LIMIT ?`)
    .all([...parts].join(' AND '), limit);
};
