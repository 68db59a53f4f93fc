/** The search engines: how each is asked, and what its refusals mean. */
import { ToolError } from '../../kernel/index.ts';
import { readCapped } from './body.ts';
import type { Desk, WebOptions } from './desk.ts';
import { endpoint, keyOf, KEYS } from './endpoints.ts';
import { decodeEntities } from './entities.ts';
import { detailOf, isTransient, unreached } from './failures.ts';
import type { Hit } from './hits.ts';
import { LIMITS } from './limits.ts';

export interface Query {
  readonly text: string;
  readonly region: string | undefined;
  readonly time: 'd' | 'w' | 'm' | 'y' | undefined;
}
type Engine = (query: Query, desk: Desk, signal: AbortSignal) => Promise<readonly Hit[]>;

const NAMES = { ddg: 'DuckDuckGo', tavily: 'Tavily', brave: 'Brave' } as const;
type EngineName = WebOptions['search'];

const send = async (name: EngineName, url: string, init: RequestInit, { net }: Desk, signal: AbortSignal): Promise<Response> => {
  try {
    return await net.fetch(url, { ...init, signal });
  } catch (error) {
    throw unreached(error, NAMES[name], signal);
  }
};
const read = async (name: EngineName, response: Response, signal: AbortSignal): Promise<string> => {
  try {
    return (await readCapped(response, LIMITS.answerBytes)).bytes.toString('utf8');
  } catch (error) {
    throw unreached(error, NAMES[name], signal);
  }
};

// ---- DuckDuckGo: no key, a page for people, and few requests from one address ----

const DDG_COUNT = 25;
const ddg: Engine = async ({ text, region, time }, desk, signal) => {
  const fields = { q: text, ...(region === undefined ? {} : { kl: region }), ...(time === undefined ? {} : { df: time }) };
  const headers = {
    'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    accept: 'text/html',
    'accept-language': 'en, *;q=0.5',
  };
  const response = await send('ddg', `${endpoint('ddg', desk)}/?${new URLSearchParams(fields).toString()}`, { headers }, desk, signal);
  if ([202, 403, 418, 429].includes(response.status)) {
    await response.body?.cancel();
    throw blocked(`HTTP ${response.status}`);
  }
  if (!response.ok) throw await failed('ddg', response);
  const { inThread } = await import('./thread.ts');
  const { hits, kind } = await inThread('results', await read('ddg', response, signal), signal);
  if (kind === 'challenge') throw blocked('it asks to prove that a person is asking');
  // Never "nothing found" where nobody said so.
  if (kind === 'other') throw blocked('its answer is no page of results');
  return hits.slice(0, DDG_COUNT);
};
const blocked = (how: string): ToolError =>
  new ToolError('EXTERNAL_ERROR', `DuckDuckGo has blocked the search: ${how}. It limits how often one address may ask.`, {
    retryable: true,
    fix: 'Wait some minutes, or have the user set `plugins.web.search` to "tavily" or "brave" with TAVILY_API_KEY or BRAVE_API_KEY.',
  });

// ---- with a key ----

const KEYED_COUNT = 20;

const tavily: Engine = async ({ text }, desk, signal) => {
  const headers = { authorization: `Bearer ${await neededKey('tavily', desk)}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ query: text.slice(0, LIMITS.queryChars), max_results: KEYED_COUNT });
  const response = await send('tavily', `${endpoint('tavily', desk)}/search`, { method: 'POST', headers, body }, desk, signal);
  if (!response.ok) throw await failed('tavily', response);
  const { results } = parsed('tavily', await read('tavily', response, signal));
  return hitsIn('tavily', results, 'content');
};

const brave: Engine = async ({ text }, desk, signal) => {
  const headers = { 'x-subscription-token': await neededKey('brave', desk), accept: 'application/json' };
  const fields = new URLSearchParams({ q: text.slice(0, LIMITS.queryChars), count: String(KEYED_COUNT) });
  const response = await send('brave', `${endpoint('brave', desk)}/res/v1/web/search?${fields.toString()}`, { headers }, desk, signal);
  if (!response.ok) throw await failed('brave', response);
  const { web } = parsed('brave', await read('brave', response, signal));
  // Without results it is left out altogether.
  return hitsIn('brave', isRecord(web) ? web['results'] : [], 'description');
};

const neededKey = async (name: 'tavily' | 'brave', desk: Desk): Promise<string> => {
  const key = await keyOf(name, desk);
  if (key !== undefined) return key;
  const [variable, saved] = KEYS[name];
  throw new ToolError('UNAVAILABLE', `The search is set to ${NAMES[name]}, for which there is no key.`, {
    fix: `Have the user set ${variable}, save ${saved} in secrets.json, or set \`plugins.web.search\` back to "ddg".`,
  });
};

const failed = async (name: EngineName, response: Response): Promise<ToolError> => {
  const { status } = response;
  const detail = await detailOf(response).catch(() => '');
  const said = `${NAMES[name]} (HTTP ${status})${detail === '' ? '' : `: ${detail}`}`;
  if (name !== 'ddg') {
    const [variable] = KEYS[name];
    const elsewhere = '`plugins.web.search` to another engine';
    if (status === 401 || status === 403 || (status === 422 && detail.includes('SUBSCRIPTION_TOKEN_INVALID'))) {
      return new ToolError('EXTERNAL_ERROR', `The key is refused by ${said}`, { fix: `Have the user correct ${variable}, or set ${elsewhere}.` });
    }
    if (status === 429 || status === 432 || status === 433) {
      return new ToolError('EXTERNAL_ERROR', `The quota of the key is used up, says ${said}`, {
        retryable: true,
        fix: `Wait, or have the user raise it or set ${elsewhere}.`,
      });
    }
  }
  return new ToolError('EXTERNAL_ERROR', `The search failed at ${said}`, { retryable: isTransient(status) });
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null && !Array.isArray(value);
const parsed = (name: EngineName, text: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {
    // Told below.
  }
  throw unreadable(name);
};
const unreadable = (name: EngineName): ToolError =>
  new ToolError('EXTERNAL_ERROR', `${NAMES[name]} answered with something that is no list of results.`, { retryable: true });

const hitsIn = (name: EngineName, list: unknown, snippet: string): readonly Hit[] => {
  if (!Array.isArray(list)) throw unreadable(name);
  return list.filter(isRecord).flatMap((each) => {
    const url = each['url'];
    return typeof url === 'string' ? [{ title: plain(each['title']), url, snippet: plain(each[snippet]) }] : [];
  });
};
const plain = (value: unknown): string => (typeof value === 'string' ? decodeEntities(value.replace(/<\/?(?:strong|b|em|i|mark)>/g, '')) : '');

export const ENGINES: Readonly<Record<EngineName, Engine>> = { ddg, tavily, brave };
