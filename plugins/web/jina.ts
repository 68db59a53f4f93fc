/** Fetches a page through the reader of Jina, which runs its scripts and makes Markdown of it. */
import { ToolError } from '../../kernel/index.ts';
import { notPublic, refusedHost } from './addresses.ts';
import { readCapped } from './body.ts';
import type { Desk } from './desk.ts';
import { endpoint, keyOf } from './endpoints.ts';
import { detailOf, isTransient, unreached } from './failures.ts';
import type { Page } from './fetch.ts';
import { LIMITS } from './limits.ts';

export const fetchByReader = async (url: URL, desk: Desk, signal: AbortSignal): Promise<Page> => {
  // The reader could not reach it, and need not learn its name.
  const reason = refusedHost(url);
  if (reason !== undefined) throw notPublic(url, reason);
  const response = await askTwice(`${endpoint('jina', desk)}/${url.href}`, desk, signal);
  if (!response.ok) throw await refused(response, url);
  const { bytes, isCut } = await readCapped(response, LIMITS.bodyBytes).catch((error: unknown) => {
    throw unreached(error, 'The reader', signal);
  });
  return { url: url.href, ...partsOf(bytes.toString('utf8')), isCut, isMarkdown: true };
};

const MARK = 'Markdown Content:';
const partsOf = (answer: string): { readonly title: string; readonly text: string } => {
  const at = answer.search(new RegExp(`^${MARK}`, 'm'));
  const head = at < 0 ? answer.slice(0, 1_000) : answer.slice(0, at);
  return { title: /^Title: (.*)$/m.exec(head)?.[1]?.trim() ?? '', text: (at < 0 ? answer : answer.slice(at + MARK.length)).trim() };
};

/** Once more where it may help: not reached, or it failed. */
const askTwice = async (address: string, desk: Desk, signal: AbortSignal): Promise<Response> => {
  try {
    const response = await ask(address, desk, signal);
    if (response.status < 500) return response;
    await response.body?.cancel();
  } catch (error) {
    if (signal.aborted) throw error;
  }
  await desk.clock.sleep(LIMITS.retryMs, signal);
  return ask(address, desk, signal);
};

const ask = async (address: string, desk: Desk, signal: AbortSignal): Promise<Response> => {
  const key = await keyOf('jina', desk);
  const headers = { accept: 'text/plain', 'user-agent': 'cast', ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) };
  try {
    return await desk.net.fetch(address, { headers, signal });
  } catch (error) {
    throw unreached(error, 'The reader', signal);
  }
};

const refused = async (response: Response, url: URL): Promise<ToolError> => {
  const { status } = response;
  const detail = await detailOf(response).catch(() => '');
  const isLimit = status === 429 || status === 402 || status === 401 || status === 403;
  return new ToolError('EXTERNAL_ERROR', `The reader could not fetch ${url.href} (HTTP ${status})${detail === '' ? '.' : `: ${detail}`}`, {
    retryable: isTransient(status),
    ...(isLimit ? { fix: 'It wants a key, or a better one: set JINA_API_KEY, or `plugins.web.fetch` to "local".' } : {}),
  });
};
