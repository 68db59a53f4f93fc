/** One request through the `openai` package: it joins addresses, writes bodies and follows the signal; the body is read by us. */
import OpenAI from 'openai';
import type { ChatBody } from './chat-request.ts';
import { isFields } from './wire.ts';

/** The longest that a timer can run: time limits are ours. */
const NO_TIMEOUT_MS = 2_147_483_647;
const MAX_ERROR_CHARS = 65_536;

export interface Post {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ChatBody;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
}

/** The provider answered with an error; the package would keep only a part of its body. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  constructor(answer: Response, body: string) {
    super('the provider answered with an error');
    this.status = answer.status;
    this.headers = answer.headers;
    this.body = body;
  }
}

/** Throws HttpError, or what `fetch` threw. */
export const postChat = async ({ baseUrl, headers, body, fetch, signal }: Post): Promise<Response> => {
  let failure: unknown;
  const send: typeof fetch = async (url, init) => {
    try {
      const answer = await fetch(url, { ...init, headers });
      if (!answer.ok) throw new HttpError(answer, await textUpTo(answer, MAX_ERROR_CHARS));
      return answer;
    } catch (error) {
      failure = error;
      throw error;
    }
  };
  const client = new LeanClient({
    baseURL: baseUrl,
    // The package wants one; what is sent stands in `headers`.
    apiKey: 'in the headers',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    timeout: NO_TIMEOUT_MS,
    logLevel: 'off',
    fetch: send,
  });
  try {
    return await client.chat.completions.create(body, { signal }).asResponse();
  } catch (error) {
    throw failure ?? error;
  }
};

/** Leaves headers to `fetch`: the class that the package uses for them takes 25 ms to load, before the request is sent. */
class LeanClient extends OpenAI {
  override async buildRequest(options: Parameters<OpenAI['buildRequest']>[0]) {
    const body = isFields(options.body) ? JSON.stringify(options.body) : null;
    const req = { method: options.method, body, ...(options.signal ? { signal: options.signal } : {}) };
    return { req: req as Awaited<ReturnType<OpenAI['buildRequest']>>['req'], url: this.buildURL(options.path, undefined), timeout: NO_TIMEOUT_MS };
  }
}

const textUpTo = async (answer: Response, chars: number): Promise<string> => {
  if (!answer.body) return '';
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of answer.body) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length >= chars) break;
  }
  return text.slice(0, chars);
};
