/** Finds conversations by their words, wherever in them each one stands. */
import type { SearchHit, SearchPlace, SearchQuery, SearchResult, SessionRecord } from '../../../kernel/index.ts';
import type { Connection } from '../database.ts';
import { findSession } from '../records.ts';
import { indexSome } from './indexing.ts';
import { labelled, looselyLabelled } from './labels.ts';
import { SEARCH } from './limits.ts';
import { contentsOf, type Content, placesOf } from './places.ts';
import { scoresOf } from './rank.ts';
import { snippetOf } from './snippet.ts';
import { wordsOf } from './words.ts';

export const search = async (connection: Connection, query: SearchQuery): Promise<SearchResult> => {
  const words = wordsOf(query.text);
  if (words.length === 0) return { hits: labelled(connection, query, []).map(plainHit), hasMore: false };
  const isIndexed = await indexSome(connection, SEARCH.indexingMs);
  const hits = new Map<string, SearchHit>();
  const add = (hit: SearchHit): void => {
    const known = hits.get(hit.session.id);
    if (known ? known.places.length === 0 : hits.size < query.limit) hits.set(hit.session.id, hit);
  };
  for (const record of labelled(connection, query, words)) add(plainHit(record));
  const said = spoken(connection, query, words);
  for (const hit of said.hits) add(hit);
  if (hits.size < query.limit) for (const record of looselyLabelled(connection, query)) if (!hits.has(record.id)) add(plainHit(record));
  return { hits: [...hits.values()], hasMore: said.hasMore || !isIndexed };
};
const plainHit = (session: SessionRecord): SearchHit => ({ session, places: [] });

interface Document {
  readonly id: number;
  readonly session_id: string;
  readonly seq: number;
  readonly role: SearchPlace['role'];
}

const spoken = (connection: Connection, query: SearchQuery, words: readonly string[]): SearchResult => {
  const found = words.map((word) => placesOf(connection, query, word));
  const ids = [...new Set(found.flatMap((each) => each.ids))];
  // Of one word every place counts, so that all of it is read at one go; of several the sessions that have them all.
  const early = words.length === 1 ? contentsOf(connection, ids) : [];
  const documents = documentsOf(connection, query, ids, early);
  const places = found.map((each) => new Set(each.ids.filter((id) => documents.has(id))));
  const wanted = sessionsWithAll(places, documents);
  const inThem = (id: number): boolean => wanted.has(documents.get(id)?.session_id ?? '');
  const contents = words.length === 1 ? early : contentsOf(connection, [...new Set(places.flatMap((all) => [...all].filter(inThem)))]);
  const scores = scoresOf(words, places, inThem, contents);
  const texts = new Map(contents.map((content) => [content.id, content]));
  const hits = grouped(scores, documents)
    .slice(0, query.limit)
    .flatMap(({ session, best }): SearchHit[] => {
      const record = findSession(connection, session);
      const shown = best.slice(0, SEARCH.places).flatMap((document) => placeOf(connection, document, texts.get(document.id), words));
      return record?.kind === 'conversation' ? [{ session: record, places: shown }] : [];
    });
  return { hits, hasMore: found.some(({ hasMore }) => hasMore) };
};

/** Of the roles that are wanted. `known`: those of which all has been read. */
const documentsOf = (
  connection: Connection,
  { roles = ['user', 'assistant'] }: SearchQuery,
  ids: readonly number[],
  known: readonly Content[],
): ReadonlyMap<number, Document> => {
  const isKnown = new Set(known.map(({ id }) => id));
  const others = known.length === 0 ? ids : ids.filter((id) => !isKnown.has(id));
  const rows = connection
    .prepare<[string], Columns>('SELECT d.id, d.session_id, d.seq, d.role FROM json_each(?) e CROSS JOIN documents d ON d.id = e.value')
    .raw()
    .all(JSON.stringify(others));
  const all = [...known.map(({ id, session, seq, role }): Columns => [id, session, seq, role]), ...rows];
  return new Map(all.flatMap(([id, session_id, seq, role]) => (roles.includes(role) ? [[id, { id, session_id, seq, role }] as const] : [])));
};
type Columns = [id: number, session: string, seq: number, role: SearchPlace['role']];

const sessionsWithAll = (places: readonly ReadonlySet<number>[], documents: ReadonlyMap<number, Document>): ReadonlySet<string> => {
  const [first, ...others] = places.map((ids) => new Set([...ids].map((id) => documents.get(id)?.session_id ?? '')));
  return new Set([...(first ?? [])].filter((session) => others.every((sessions) => sessions.has(session))));
};

/** Sessions by their best message, among equals the newest, each with its messages in that order. */
const grouped = (scores: ReadonlyMap<number, number>, documents: ReadonlyMap<number, Document>) => {
  const ranked = [...scores].sort(([a, one], [b, other]) => other - one || b - a);
  const sessions = new Map<string, Document[]>();
  for (const [id] of ranked) {
    const document = documents.get(id);
    if (!document) continue;
    const known = sessions.get(document.session_id);
    if (known) known.push(document);
    else sessions.set(document.session_id, [document]);
  }
  return [...sessions].map(([session, best]) => ({ session, best }));
};

const placeOf = (
  connection: Connection,
  { session_id, seq, role }: Document,
  content: Content | undefined,
  words: readonly string[],
): readonly SearchPlace[] => {
  const row = connection
    .prepare<[string, number], { entry_id: string; created_at: number }>('SELECT entry_id, created_at FROM messages WHERE session_id = ? AND seq = ?')
    .get(session_id, seq);
  return row && content ? [{ entry: row.entry_id, seq, role, at: row.created_at, snippet: snippetOf(content.text, words) }] : [];
};
