/** A Chat Completions server on loopback that plays replies, for tests that run the command as a process. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Reply {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly { readonly tool: string; readonly input: unknown; readonly id?: string }[];
  /** UTF-16 units a delta. */
  readonly piece?: number;
  /** Milliseconds between two deltas. */
  readonly pauseMs?: number;
  /** Answer with this status and error message instead. */
  readonly status?: number;
  readonly error?: string;
  /** Beside such a status. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A body of HTML in place of the error message. */
  readonly page?: string;
  /** What the provider gives as its reason to end. */
  readonly finish?: string;
  /** Headers are never sent. */
  readonly hangs?: boolean;
  /** The connection is dropped after the text. */
  readonly breaks?: boolean;
}
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: { readonly model: string; readonly messages: readonly Sent[]; readonly tools?: readonly unknown[] };
  /** Of the body. */
  readonly bytes: number;
  /** Since the provider was started, in milliseconds. */
  readonly at: number;
}
export interface Sent {
  readonly role: string;
  readonly content?: string | readonly { readonly type: string; readonly text?: string }[] | null;
}
export interface TestProvider {
  readonly url: string;
  readonly requests: readonly Received[];
  /** Paths that were read, which is no request for a reply. */
  readonly questions: readonly string[];
  /** Texts of the user messages of a request, the newest one by default. */
  prompts(index?: number): string;
  close(): Promise<void>;
}

export const say = (text: string, more: Partial<Reply> = {}): Reply => ({ text, ...more });
export const call = (tool: string, input: unknown, more: Partial<Reply> = {}): Reply => ({ calls: [{ tool, input }], ...more });

/** Plays `replies` in order; when they are over, the last one again. */
export const startProvider = (...replies: readonly Reply[]): Promise<TestProvider> =>
  startResponder((_request, number) => replies[Math.min(number, replies.length) - 1] ?? say('done'));

/** Makes a reply from its request, the first of which has the number 1. */
export type Responder = (request: Received, number: number) => Reply | Promise<Reply>;

/** Answers each request by what is in it. */
export const startResponder = async (respond: Responder): Promise<TestProvider> => {
  const requests: Received[] = [];
  const questions: string[] = [];
  const startedAt = performance.now();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      // About models, and whenever they come: they are no part of the conversation.
      if (request.method === 'GET') {
        questions.push(request.url ?? '');
        return json(response, 200, { data: [] });
      }
      const text = Buffer.concat(chunks).toString('utf8');
      const body = (text === '' ? {} : JSON.parse(text)) as Received['body'];
      const received = { path: request.url ?? '', headers: request.headers, body, bytes: Buffer.byteLength(text), at: performance.now() - startedAt };
      requests.push(received);
      const number = requests.length;
      void Promise.resolve(respond(received, number))
        .then((reply) => answer(response, reply, number))
        .catch(() => response.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    questions,
    prompts: (index = -1) =>
      (requests.at(index)?.body.messages ?? [])
        .filter(({ role }) => role === 'user')
        .map(textOf)
        .join('\n'),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

const textOf = ({ content }: Sent): string => (typeof content === 'string' ? content : (content ?? []).map(({ text }) => text ?? '').join(''));

const json = (response: ServerResponse, status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
};

const answer = async (response: ServerResponse, reply: Reply, number: number): Promise<void> => {
  if (reply.hangs) return;
  if (reply.page !== undefined) return void response.writeHead(reply.status ?? 200, { 'content-type': 'text/html' }).end(reply.page);
  if (reply.status !== undefined) return json(response, reply.status, { error: { message: reply.error ?? 'no' } }, reply.headers);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const frame of framesOf(reply, number)) {
    if (!response.write(frame)) await new Promise((resolve) => response.once('drain', resolve));
    if (reply.pauseMs !== undefined) await new Promise((resolve) => setTimeout(resolve, reply.pauseMs));
  }
  if (reply.breaks) response.destroy();
  else response.end();
};

const framesOf = (reply: Reply, number: number): readonly string[] => {
  const chunk = (choices: readonly object[], more: object = {}): string =>
    `data: ${JSON.stringify({ id: `r${number}`, object: 'chat.completion.chunk', created: 1, model: 'test-model', choices, ...more })}\n\n`;
  const delta = (fields: object): string => chunk([{ index: 0, delta: fields, finish_reason: null }]);
  const calls = (reply.calls ?? []).map(({ tool, input, id }, index) => ({
    index,
    id: id ?? `call_${number}_${index}`,
    type: 'function',
    function: { name: tool, arguments: typeof input === 'string' ? input : JSON.stringify(input) },
  }));
  const frames = [
    ...pieces(reply.reasoning, reply.piece).map((text) => delta({ reasoning_content: text })),
    ...pieces(reply.text, reply.piece).map((content) => delta({ content })),
    ...(calls.length > 0 ? [delta({ tool_calls: calls })] : []),
  ];
  if (reply.breaks) return frames;
  return [
    ...frames,
    chunk([{ index: 0, delta: {}, finish_reason: reply.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop') }]),
    chunk([], { usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 } }),
    'data: [DONE]\n\n',
  ];
};

const pieces = (text = '', size = 24): readonly string[] =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, index) => text.slice(index * size, (index + 1) * size));
