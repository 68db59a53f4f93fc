/**
 * One request by way of the `openai` package: its resource says where a completion is asked for, and with what; sending and reading
 * are ours. Its whole client is four times as much code, and loads the built-in fetch for the class `Headers`.
 */
import type OpenAI from 'openai';
import { APIError } from 'openai/core/error';
import { ProviderError } from '../../kernel/index.ts';
import { baseOf } from './target.ts';
import type { Wire } from './wire.ts';

const MAX_ERROR_CHARS = 65_536;
const MAX_REDIRECTS = 3;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** By these the request is repeated as it was. */
const REPEATING: ReadonlySet<number> = new Set([307, 308]);

export interface Post {
  readonly wire: Wire;
  /** Of the path of the format. */
  readonly address: (path: string) => string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
}

/** The provider answered with an error. The package would keep only a part of its body. */
export class HttpError extends APIError<number, Headers, undefined> {
  override readonly name = 'HttpError';
  readonly body: string;
  constructor(answer: Response, body: string) {
    super(answer.status, undefined, 'the provider answered with an error', answer.headers);
    this.body = body;
  }
}

/** Throws HttpError, a ProviderError for a redirect, or what `fetch` threw. */
export const post = async ({ wire, address, headers, body, fetch, signal }: Post): Promise<Response> => {
  const client = clientThat((path, content) => send(address(path), { method: 'POST', headers, body: JSON.stringify(content), signal }, fetch));
  const answer = await wire.send(client, body);
  if (!answer.ok) throw new HttpError(answer, await textUpTo(answer, MAX_ERROR_CHARS));
  return answer;
};

/** Key, headers and conversation go to the origin that was configured and to no other, so a redirect is followed within it only. */
const send = async (address: string, init: RequestInit, fetch: Post['fetch']): Promise<Response> => {
  let url = new URL(address);
  for (let hops = 0; ; hops++) {
    const answer = await fetch(url.href, { ...init, redirect: 'manual' });
    const target = redirectOf(answer, url);
    if (!target) return answer;
    await drop(answer);
    if (target.origin !== url.origin || !REPEATING.has(answer.status) || hops === MAX_REDIRECTS) throw redirected(answer.status, url, target);
    url = target;
  }
};

const redirectOf = ({ status, headers }: Response, from: URL): URL | undefined => {
  const location = REDIRECTS.has(status) ? headers.get('location') : null;
  return location !== null && URL.canParse(location, from.href) ? new URL(location, from) : undefined;
};

const redirected = (status: number, from: URL, to: URL): ProviderError =>
  new ProviderError('bad_request', `${from.host} redirects to ${to.origin}${to.pathname}, which was not followed (HTTP ${status})`, {
    status,
    fix: `Set the base URL of the provider to ${baseOf(to)}, when that is where you want to send your key and your conversation.`,
  });

const drop = async (answer: Response): Promise<void> => {
  await bytesOf(answer)[Symbol.asyncIterator]().return?.();
};

/** All that a resource asks of its client is to post. */
const clientThat = (send: (path: string, content: unknown) => Promise<Response>): OpenAI => {
  const client = { post: (path: string, { body }: { readonly body: unknown }) => ({ asResponse: () => send(path, body) }) };
  return client as unknown as OpenAI;
};

const textUpTo = async (answer: Response, chars: number): Promise<string> => {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of bytesOf(answer)) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length >= chars) break;
  }
  return text.slice(0, chars);
};

/** The kernel's answers give their bytes themselves, for less than their `body` costs. */
export const bytesOf = (answer: Response & Partial<AsyncIterable<Uint8Array>>): AsyncIterable<Uint8Array> => {
  if (answer[Symbol.asyncIterator]) return answer as AsyncIterable<Uint8Array>;
  return answer.body ?? new ReadableStream<Uint8Array>({ start: (to) => to.close() });
};
