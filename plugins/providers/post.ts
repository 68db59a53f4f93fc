/**
 * One request by way of the `openai` package: its resource says where a completion is asked for, and with what; sending and reading
 * are ours. Its whole client is four times as much code, and loads the built-in fetch for the class `Headers`.
 */
import type OpenAI from 'openai';
import { APIError } from 'openai/core/error';
import { type Clock, ProviderError } from '../../kernel/index.ts';
import { baseOf } from './target.ts';
import type { Wire } from './wire.ts';

const MAX_ERROR_CHARS = 65_536;
/** Milliseconds for the body of an error: its status has come, and says most. */
const ERROR_BODY_MS = 5_000;
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
  readonly clock: Clock;
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
export const post = async ({ wire, address, headers, body, fetch, signal, clock }: Post): Promise<Response> => {
  const client = clientThat((path, content) => send(address(path), { method: 'POST', headers, body: textFor(content), signal }, fetch));
  const answer = await wire.send(client, body);
  if (!answer.ok) throw new HttpError(answer, await errorText(answer, signal, clock));
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

/** As much as comes: one that breaks off, or never ends, hides nothing of the refusal itself. */
const errorText = async (answer: Response, signal: AbortSignal, clock: Clock): Promise<string> => {
  const chunks = bytesOf(answer)[Symbol.asyncIterator]();
  const decoder = new TextDecoder();
  const over = new AbortController();
  const late = clock.sleep(ERROR_BODY_MS, over.signal).then(
    () => undefined,
    () => undefined,
  );
  let text = '';
  try {
    while (text.length < MAX_ERROR_CHARS) {
      const next = await Promise.race([chunks.next(), late]);
      if (!next || next.done) break;
      text += decoder.decode(next.value, { stream: true });
    }
  } catch {
    signal.throwIfAborted();
  } finally {
    over.abort();
    // Not waited for: a body that broke may not answer.
    void chunks.return?.().catch(() => {});
  }
  return text.slice(0, MAX_ERROR_CHARS);
};

/** Half of a character, as a model may write it, is no text to many servers: the conversation would be refused for ever. */
const textFor = (content: unknown): string => {
  const text = JSON.stringify(content);
  if (!text.includes('\\ud')) return text;
  // Only halves are written as escapes; what follows a backslash that is itself escaped is text.
  return text.replace(/\\(?:ud[89a-f][0-9a-f]{2}|[^])/g, (escape) => (escape.length === 6 ? '\ufffd' : escape));
};

/** The kernel's answers give their bytes themselves, for less than their `body` costs. */
export const bytesOf = (answer: Response & Partial<AsyncIterable<Uint8Array>>): AsyncIterable<Uint8Array> => {
  if (answer[Symbol.asyncIterator]) return answer as AsyncIterable<Uint8Array>;
  return answer.body ?? new ReadableStream<Uint8Array>({ start: (to) => to.close() });
};
