/** Reading of a small JSON document over HTTP, with a bound for its time and for its size. */

export interface JsonRequest {
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Makes it a POST. */
  readonly body?: object;
}

/** The server answered, but not with what was asked for. */
export class HttpStatusError extends Error {
  override readonly name = 'HttpStatusError';
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  constructor(answer: Response, body: string) {
    super(`HTTP ${answer.status}`);
    this.status = answer.status;
    this.headers = answer.headers;
    this.body = body;
  }
}

/** Throws HttpStatusError, SyntaxError for what is no JSON, RangeError for what is too long, and what `fetch` throws. */
export const readJson = async (url: string, request: JsonRequest): Promise<unknown> => {
  const { fetch, headers, body, maxBytes, timeoutMs } = request;
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]);
  const answer = await fetch(url, {
    signal,
    // What is sent along goes to the origin that was configured and to no other: a header may be a key by any name.
    redirect: headers === undefined ? 'follow' : 'manual',
    headers: { ...headers, accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  const text = await textWithin(answer, maxBytes);
  if (!answer.ok) throw new HttpStatusError(answer, text);
  return JSON.parse(text) as unknown;
};

const textWithin = async (answer: Response, maxBytes: number): Promise<string> => {
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  // The kernel's answers give their bytes themselves, for less than their `body` costs.
  for await (const bytes of (Symbol.asyncIterator in answer ? answer : (answer.body ?? [])) as AsyncIterable<Uint8Array>) {
    size += bytes.byteLength;
    if (size > maxBytes) throw new RangeError(`the answer is longer than ${maxBytes} bytes`);
    text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
};
