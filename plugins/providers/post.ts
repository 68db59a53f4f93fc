/**
 * One request by way of the `openai` package: its resource says where a completion is asked for, and with what; sending and reading
 * are ours. Its whole client is four times as much code, and loads the built-in fetch for the class `Headers`.
 */
import type OpenAI from 'openai';
import { APIError } from 'openai/core/error';
import type { Wire } from './wire.ts';

const MAX_ERROR_CHARS = 65_536;

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

/** Throws HttpError, or what `fetch` threw. */
export const post = async ({ wire, address, headers, body, fetch, signal }: Post): Promise<Response> => {
  const client = clientThat((path, content) => fetch(address(path), { method: 'POST', headers, body: JSON.stringify(content), signal }));
  const answer = await wire.send(client, body);
  if (!answer.ok) throw new HttpError(answer, await textUpTo(answer, MAX_ERROR_CHARS));
  return answer;
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
