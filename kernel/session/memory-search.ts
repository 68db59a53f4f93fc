/** Searches sessions that are in memory, one after another. */
import type { SearchAnswer, SearchHit, SearchQuery, SessionRecord } from '../contracts/store.ts';
import type { Entry } from '../data.ts';
import { foldText, saidIn } from './searchable.ts';
import { holds, metadataHit, orderOf, rank, readQuery, snippetOf, type Candidate } from './text-search.ts';

interface Kept {
  readonly record: SessionRecord;
  readonly entries: readonly Entry[];
}

/** Sessions come newest first. */
export const searchMemory = (sessions: readonly Kept[], { text, limit }: SearchQuery): SearchAnswer => {
  const query = readQuery(text);
  if (query.terms.length === 0) {
    const hits = sessions.slice(0, limit).map(({ record }): SearchHit => ({ session: record, match: 'title' }));
    return { hits, hasMore: sessions.length > limit, waiting: 0 };
  }
  const texts = new Map<string, string>();
  const candidates: Candidate[] = [];
  for (const { record, entries } of sessions) {
    const found = entries.toReversed().flatMap((entry): Candidate[] => {
      const said = entry.kind === 'message' ? saidIn(entry.data) : '';
      const folded = foldText(said);
      const terms = new Set(query.terms.flatMap((term, index) => (said !== '' && holds(folded, term) ? [index] : [])));
      if (terms.size === 0) return [];
      texts.set(`${record.id} ${entry.seq}`, said);
      return [{ session: record.id, seq: entry.seq, chars: said.length, terms, text: folded }];
    });
    if (query.terms.every((_, index) => found.some(({ terms }) => terms.has(index)))) candidates.push(...found);
  }
  const best = rank(candidates, query, texts.size);
  const seqs = new Map(best.map(({ session, seq }) => [session, seq]));
  const told = sessions.flatMap(({ record }) => {
    const hit = metadataHit(record, query);
    return hit ? [{ ...hit, id: record.id }] : [];
  });
  const order = orderOf(told, best);
  const hits = [...order].slice(0, limit).flatMap(([id, match]): SearchHit[] => {
    const session = sessions.find(({ record }) => record.id === id)?.record;
    const seq = seqs.get(id);
    const snippet = seq === undefined ? undefined : { seq, ...snippetOf(texts.get(`${id} ${seq}`) ?? '', query) };
    return session ? [{ session, match, ...(snippet && { snippet }) }] : [];
  });
  return { hits, hasMore: order.size > limit, waiting: 0 };
};
