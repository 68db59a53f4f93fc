import { ToolError, type RunningCall, type ToolInputs, type ToolResult } from '../../kernel/index.ts';
import { within } from './deadline.ts';
import type { Desk } from './desk.ts';
import { endpoint } from './endpoints.ts';
import { ENGINES, type Query } from './engines.ts';
import { type Hit, hitsAsTable, hitsAsText, tidy } from './hits.ts';

export const DEFAULT_RESULTS = 10;

export const webSearch = (input: ToolInputs['web_search'], call: RunningCall, desk: Desk): Promise<ToolResult> => {
  const text = input.query.trim();
  if (text === '') throw new ToolError('INVALID_ARGUMENT', 'The query is empty.', { fix: 'Say what to search for.' });
  const query: Query = { text, region: input.region, time: input.time };
  return within(desk.options.timeoutMs, call.signal, 'The search', async (signal) => {
    const found = await find(query, desk, signal);
    const hits = found.slice(0, input.maxResults ?? DEFAULT_RESULTS);
    const content = hits.length === 0 ? `${hitsAsText([], 0)}\n\nNothing was found.` : hitsAsText(hits, found.length);
    return { status: 'ok', content, view: hitsAsTable(hits) };
  });
};

const find = async (query: Query, desk: Desk, signal: AbortSignal): Promise<readonly Hit[]> => {
  const { search } = desk.options;
  const key = JSON.stringify([search, endpoint(search, desk), query.text, query.region, query.time]);
  const known = desk.cache.get(key, desk.clock.now());
  if (known) return known;
  const hits = (await ENGINES[search](query, desk, signal)).flatMap(tidy);
  desk.cache.set(key, hits, desk.clock.now());
  return hits;
};
