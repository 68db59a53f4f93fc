/** Answers a search. Loaded by the first one. */
import { foldText, type Candidate, type Query, type SearchAnswer, type SearchHit, type SearchQuery, type SessionRecord } from '../../kernel/index.ts';
import { saidText, waiting } from './backlog.ts';
import type { Connection } from './database.ts';
import { folderOf } from './files.ts';
import { findSession } from './records.ts';
import { byParts, byWords, ofSessions, wordsExpression, type Found } from './search-terms.ts';

type TextSearch = Awaited<ReturnType<typeof import('../../kernel/index.ts').loadTextSearch>>;

/** The newest hits of a term, among which the best are looked for; as many again for each `more`, up to ten times. */
const CANDIDATES = 2_000;
const MAX_MORE = 9;
/** Characters of messages that are read to rank them; what lies further back counts by its length alone. */
const RANKED_CHARS = 250_000;
/** Characters of messages that are read to see whether parts of words stand together. */
const COMPARED_CHARS = 250_000;
/** Sessions of a project, or with the rarest term, that are asked for by themselves. */
const ASKED_SESSIONS = 200;
/** Letters that a description has to hold in this order. */
const LOOSE_CHARS = 24;
/** The newest sessions that match by what describes them, among which the best are looked for. */
const DESCRIBED = 1_000;
/** Sessions of one project. */
const IN_PROJECT = 20_000;

interface Hits {
  readonly expression: string | undefined;
  readonly byId: Map<number, Found>;
  readonly isComplete: boolean;
}
type Described = Pick<SessionRecord, 'id' | 'title' | 'cwd' | 'root' | 'model'>;

export const search = (connection: Connection, { text, root, limit, more = 0 }: SearchQuery, tools: TextSearch): SearchAnswer => {
  const query = tools.readQuery(text);
  const described = descriptions(connection, query, root);
  if (query.terms.length === 0) return newest(connection, described, limit);
  const scope = root === undefined ? undefined : new Set(sessionsOf(connection, root));
  const depth = CANDIDATES * (1 + Math.min(Math.max(0, Math.trunc(more)), MAX_MORE));
  const terms = query.terms.map((_, index) => hitsOf(connection, query, index, depth, scope, tools));
  const candidates = inEverySession(connection, terms, depth, scope);
  const best = tools.rank(withTexts(connection, candidates, tools), query, totalOf(connection));

  const told = described.flatMap((record) => {
    const hit = tools.metadataHit(record, query);
    return hit ? [{ ...hit, id: record.id }] : [];
  });
  const seqs = new Map(best.map(({ session, seq }) => [session, seq]));
  const order = tools.orderOf(told, best);
  const hits = [...order].slice(0, limit).flatMap(([id, match]): SearchHit[] => {
    const session = findSession(connection, id);
    if (!session) return [];
    const seq = seqs.get(id);
    const snippet = seq === undefined ? undefined : { seq, ...tools.snippetOf(textOf(connection, id, seq), query) };
    return [{ session, match, ...(snippet && { snippet }) }];
  });
  return { hits, hasMore: order.size > limit || (more < MAX_MORE && terms.some(({ isComplete }) => !isComplete)), waiting: waiting(connection) };
};

const newest = (connection: Connection, described: readonly Described[], limit: number): SearchAnswer => ({
  hits: described.slice(0, limit).flatMap(({ id }) => {
    const session = findSession(connection, id);
    return session ? [{ session, match: 'title' as const }] : [];
  }),
  hasMore: described.length > limit,
  waiting: waiting(connection),
});

/** Sessions that may match by what describes them, the newest first. Letters beyond ASCII are compared by whoever asked, for LIKE does not fold them. */
const descriptions = (connection: Connection, { whole, terms }: Query, root: string | undefined): Described[] => {
  const letters = [...whole.replaceAll(' ', '')].slice(0, LOOSE_CHARS);
  const patterns = terms.map(({ text }) => `%${likeText(text)}%`);
  const loose = `%${letters.map(likeText).join('%')}%`;
  const about = '(title || char(10) || cwd || char(10) || root || char(10) || id || char(10) || model)';
  const like = `${about} LIKE ? ESCAPE '\\'`;
  const isAscii = /^[ -~]*$/.test(whole);
  const matches =
    isAscii && terms.length > 0
      ? `((${patterns.map(() => like).join(' AND ')}) OR ${like} OR title GLOB '*[^ -~]*' OR cwd GLOB '*[^ -~]*')`
      : `${about} GLOB '*[^ -~]*'`;
  const where = terms.length === 0 ? '1' : matches;
  const project = root === undefined ? '' : 'AND (root = ? OR folder = ?)';
  return connection
    .prepare<unknown[], Described>(
      `SELECT id, title, cwd, root, model FROM sessions WHERE kind = 'conversation' ${project} AND ${where} ORDER BY updated_at DESC LIMIT ?`,
    )
    .all(...(root === undefined ? [] : [root, folderOf(root)]), ...(isAscii && terms.length > 0 ? [...patterns, loose] : []), DESCRIBED);
};

const likeText = (text: string): string => text.replace(/[%_\\]/g, '\\$&');

/** Newest first. */
const sessionsOf = (connection: Connection, root: string): string[] =>
  connection
    .prepare<[string, string | null, number], { id: string }>(
      "SELECT id FROM sessions WHERE kind = 'conversation' AND (root = ? OR folder = ?) ORDER BY updated_at DESC LIMIT ?",
    )
    .all(root, folderOf(root), IN_PROJECT)
    .map(({ id }) => id);

const hitsOf = (connection: Connection, query: Query, index: number, depth: number, scope: ReadonlySet<string> | undefined, tools: TextSearch): Hits => {
  const term = query.terms[index];
  const byId = new Map<number, Found>();
  if (!term) return { expression: undefined, byId, isComplete: true };
  const expression = wordsExpression(connection, term);
  let isComplete = true;
  const take = (found: readonly Found[]): void => {
    if (found.length >= depth) isComplete = false;
    for (const each of found) if (!scope || scope.has(each.session_id)) byId.set(each.id, each);
  };
  if (expression !== undefined) {
    // Of a project, its newest sessions are asked by themselves: elsewhere there may be thousands of newer hits.
    if (scope && scope.size > 0) take(byWords(connection, `(${expression}) AND ${ofSessions([...scope].slice(0, ASKED_SESSIONS))}`, depth));
    if (!scope || scope.size > ASKED_SESSIONS) take(byWords(connection, expression, depth));
  }
  if (byId.size < depth) {
    const found = byParts(connection, term.text, depth);
    if (found.length >= depth) isComplete = false;
    let chars = 0;
    for (const each of found) {
      if (byId.has(each.id) || (scope && !scope.has(each.session_id))) continue;
      chars += each.chars;
      if (chars > COMPARED_CHARS) {
        isComplete = false;
        break;
      }
      if (tools.holds(foldedOf(connection, each), term)) byId.set(each.id, each);
    }
  }
  return { expression, byId, isComplete };
};

/** The hits in those sessions in which every term was found, the newest first. */
const inEverySession = (connection: Connection, terms: readonly Hits[], depth: number, scope: ReadonlySet<string> | undefined): [Found, Set<number>][] => {
  const all = new Map<number, [Found, Set<number>]>();
  const add = (found: Found, index: number): void => {
    const known = all.get(found.id);
    if (known) known[1].add(index);
    else all.set(found.id, [found, new Set([index])]);
  };
  for (const [index, { byId }] of terms.entries()) for (const found of byId.values()) add(found, index);
  const sessions = terms.map(({ byId }) => new Set([...byId.values()].map((found) => found.session_id)));
  // A term of which all hits are known says best in which sessions to look for the others.
  const known = sessions.filter((_, index) => terms[index]?.isComplete);
  const rarest = (known.length > 0 ? known : sessions).reduce((least, each) => (each.size < least.size ? each : least));
  const asked = [...rarest].slice(0, ASKED_SESSIONS);
  for (const [index, { isComplete, expression }] of terms.entries()) {
    if (isComplete || expression === undefined) continue;
    const missing = asked.filter((session) => !sessions[index]?.has(session));
    for (const session of missing) {
      const [found] = byWords(connection, `(${expression}) AND ${ofSessions([session])}`, 1);
      if (!found || found.session_id !== session || (scope && !scope.has(session))) continue;
      add(found, index);
      sessions[index]?.add(session);
    }
  }
  return [...all.values()]
    .filter(([{ session_id: session }]) => sessions.every((each) => each.has(session)))
    .sort(([a], [b]) => b.id - a.id)
    .slice(0, depth * Math.max(1, terms.length));
};

const withTexts = (connection: Connection, candidates: readonly [Found, Set<number>][], tools: TextSearch): Candidate[] => {
  let chars = 0;
  return candidates.map(([found, terms]) => {
    chars += found.chars;
    const text = chars <= RANKED_CHARS ? foldedOf(connection, found) : undefined;
    return { session: found.session_id, seq: found.seq, chars: found.chars, terms, text };
  });
};

const textOf = (connection: Connection, session: string, seq: number): string => {
  const row = connection
    .prepare<[string, number], { content_json: string }>('SELECT content_json FROM messages WHERE session_id = ? AND seq = ?')
    .get(session, seq);
  return row ? saidText(row.content_json) : '';
};
const foldedOf = (connection: Connection, { session_id: session, seq }: Found): string => foldText(textOf(connection, session, seq));

const totalOf = (connection: Connection): number => {
  const row = connection.prepare<[], { total: number | null }>('SELECT max(id) - min(id) + 1 AS total FROM search_messages').get();
  return row?.total ?? 0;
};
