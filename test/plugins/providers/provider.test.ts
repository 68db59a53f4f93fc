/** A provider against a server on loopback. */
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import type { Message, ModelRequest } from '../../../kernel/index.ts';
import { createFetch } from '../../../kernel/host/fetch.ts';
import { chatProvider, clock, gather, type ProviderSetup, readPieces, request } from './replies.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

interface Seen {
  readonly path: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
  readonly port: number | undefined;
}
const serve = async (...handlers: readonly RequestListener[]): Promise<{ url: string; seen: Seen[] }> => {
  const seen: Seen[] = [];
  const server = createServer(async (incoming, reply) => {
    let text = '';
    for await (const chunk of incoming) text += chunk;
    seen.push({ path: incoming.url, headers: incoming.headers, body: text === '' ? {} : JSON.parse(text), port: incoming.socket.remotePort });
    (handlers[seen.length - 1] ?? handlers.at(-1))?.(incoming, reply);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, seen };
};
const ask = (url: string, setup: ProviderSetup = {}, changes: Partial<ModelRequest> = {}, signal = new AbortController().signal) =>
  gather(chatProvider({ ...setup, config: { baseUrl: url, ...setup.config } }).stream(request(changes), signal));

const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const delta = (content: string): string => data({ choices: [{ index: 0, delta: { content } }] });
const END = `${data({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}data: [DONE]\n\n`;
const says =
  (content: string): RequestListener =>
  (_incoming, reply) =>
    reply.writeHead(200, { 'content-type': 'text/event-stream' }).end(delta(content) + END);
const refuses =
  (status: number, body: object, headers: Record<string, string> = {}): RequestListener =>
  (_incoming, reply) =>
    reply.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

describe('requests', () => {
  test('path, headers and body', async () => {
    const { url, seen } = await serve(says('hi'));
    const got = await ask(url, { key: 'k-123', config: { headers: { 'X-Title': 'mine', 'Content-Length': '7' } } }, { maxOutputTokens: 9 });
    expect([got.text, got.end, got.error]).toEqual(['hi', 'stop', undefined]);
    expect(seen[0]).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: 'Bearer k-123', 'content-type': 'application/json', 'x-title': 'mine' },
    });
    expect(seen[0]?.body).toEqual({
      model: 'a-model',
      messages: [{ role: 'user', content: 'hello' }],
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 9,
    });
    expect(Object.keys(seen[0]?.headers ?? {}).filter((name) => name.startsWith('x-stainless'))).toEqual([]);
  });

  test('half of a character is sent as no half', async () => {
    const { url, seen } = await serve(says('hi'));
    const written = 'half \ud83d, whole \u{1f600}, \\ud83d in letters, "quoted" \\';
    await ask(url, {}, { messages: [{ role: 'user', origin: 'user', blocks: [{ type: 'text', text: written }] }] });
    expect(seen[0]?.body['messages']).toEqual([{ role: 'user', content: written.replace('\ud83d,', '\ufffd,') }]);
  });

  test('without a key there is no authorization', async () => {
    const { url, seen } = await serve(says('hi'));
    await ask(`${url}/`);
    expect(seen[0]?.headers.authorization).toBeUndefined();
    expect(seen[0]?.path).toBe('/v1/chat/completions');
  });

  test('headers of the configuration win over the key', async () => {
    const { url, seen } = await serve(says('hi'));
    await ask(url, { key: 'k', config: { headers: { Authorization: 'Basic x' } } });
    expect(seen[0]?.headers.authorization).toBe('Basic x');
  });

  test('a base URL that is none is named', async () => {
    expect((await ask('not a url')).error).toMatchObject({ kind: 'bad_request', message: expect.stringContaining('not a url') });
  });

  test('connections are kept between requests', async () => {
    const { url, seen } = await serve(says('hi'));
    const provider = chatProvider({ config: { baseUrl: url } });
    for (let i = 0; i < 3; i++) {
      await gather(provider.stream(request(), new AbortController().signal));
      await clock.sleep(20);
    }
    expect(new Set(seen.map(({ port }) => port)).size).toBe(1);
  });

  test('a compressed reply, a redirect, a proxy', async () => {
    const { url, seen } = await serve(
      (_incoming, reply) => reply.writeHead(307, { location: '/v2/chat/completions' }).end(),
      (_incoming, reply) => reply.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(delta('packed') + END)),
    );
    expect((await ask(url)).text).toBe('packed');
    expect(seen[1]?.path).toBe('/v2/chat/completions');
    const proxied = createFetch({ HTTP_PROXY: url });
    expect((await ask('http://models.example.test/v1', { fetch: proxied })).text).toBe('packed');
    expect(seen[2]?.path).toBe('http://models.example.test/v1/chat/completions');
  });
});

test('what a reply left goes back to the host that gave it, on whatever port', async () => {
  const thinks: RequestListener = (_incoming, reply) =>
    reply.writeHead(200).end(data({ choices: [{ index: 0, delta: { reasoning_content: 'r' } }] }) + delta('hi') + END);
  const [one, other] = [await serve(thinks), await serve(says('hi'))];
  const { item } = await ask(one.url);
  const history = (blocks: Message['blocks']): Message[] => [
    { role: 'assistant', origin: 'model', blocks: [{ type: 'call', id: 'A', tool: 't', arguments: '{}' }, ...blocks] },
    { role: 'tool', origin: 'kernel', blocks: [{ type: 'result', id: 'A', tool: 't', content: 'done', status: 'ok' }] },
  ];
  const messages = history([{ type: 'item', provider: 'test', data: item }]);
  await ask(other.url, {}, { messages });
  await ask(other.url.replace('127.0.0.1', 'localhost'), {}, { messages });
  expect(other.seen.map(({ body }) => JSON.stringify(body).includes('reasoning_content'))).toEqual([true, false]);
});

describe('redirects', () => {
  const moved =
    (status: number, location: string): RequestListener =>
    (_incoming, reply) =>
      reply.writeHead(status, { location }).end('moved');

  test.each([301, 302, 303, 307, 308])('HTTP %i to another origin is not followed, and named', async (status) => {
    const other = await serve(says('stolen'));
    const { url, seen } = await serve(moved(status, `${other.url}/chat/completions?key=1`));
    const got = await ask(url, { key: 'k-123' });
    expect(got.error).toMatchObject({ kind: 'bad_request', status, message: expect.stringContaining(`redirects to ${other.url}/chat/completions,`) });
    expect(got.error).toMatchObject({ fix: expect.stringContaining(`base URL of the provider to ${other.url},`) });
    expect([seen.length, other.seen.length]).toEqual([1, 0]);
  });

  test('within its origin it is followed where the request stays the same, and not for ever', async () => {
    const { url, seen } = await serve(moved(308, '/v2/chat/completions'), says('here'));
    expect((await ask(url, { key: 'k-123' })).text).toBe('here');
    expect(seen[1]).toMatchObject({ path: '/v2/chat/completions', headers: { authorization: 'Bearer k-123' }, body: { model: 'a-model' } });
    const asGet = await serve(moved(302, '/v2/chat/completions'), says('lost'));
    expect((await ask(asGet.url)).error).toMatchObject({ kind: 'bad_request' });
    const endless = await serve(moved(307, '/v1/chat/completions'));
    expect((await ask(endless.url)).error).toMatchObject({ kind: 'bad_request' });
    expect([asGet.seen.length, endless.seen.length]).toEqual([1, 4]);
  });

  test('what leads nowhere is an error like any other', async () => {
    const { url } = await serve((_incoming, reply) => reply.writeHead(302).end('{}'));
    expect((await ask(url)).error).toMatchObject({ name: 'ProviderError', kind: 'bad_request', status: 302 });
  });
});

describe('what a refusal teaches', () => {
  const wantsOther = refuses(400, { error: { message: "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead." } });

  test('the limit is renamed once and remembered for the host', async () => {
    const { url, seen } = await serve(wantsOther, says('hi'));
    const learnt = new Map();
    expect((await ask(url, { learnt }, { maxOutputTokens: 9 })).text).toBe('hi');
    await ask(url, { learnt }, { maxOutputTokens: 9 });
    expect(seen.map(({ body }) => [body['max_tokens'], body['max_completion_tokens']])).toEqual([
      [9, undefined],
      [undefined, 9],
      [undefined, 9],
    ]);
  });

  test('the same request is never sent twice', async () => {
    const { url, seen } = await serve(wantsOther);
    expect((await ask(url)).error).toMatchObject({ kind: 'bad_request' });
    expect(seen).toHaveLength(1);
  });

  test('a field that it refuses is left out once, and remembered for the model', async () => {
    const noEffort = refuses(400, { error: { message: "Unsupported parameter: 'reasoning_effort'", param: 'reasoning_effort' } });
    const noSampling = refuses(422, { detail: [{ loc: ['body', 'temperature'], msg: 'Extra inputs are not permitted' }] });
    const { url, seen } = await serve(noEffort, noSampling, says('hi'), says('hi'), says('hi'));
    const setup = { learnt: new Map(), config: { temperature: 0.2 } };
    expect((await ask(url, setup, { reasoning: 'high' })).text).toBe('hi');
    await ask(url, setup, { reasoning: 'high' });
    await ask(url, setup, { reasoning: 'high', model: 'other' });
    expect(seen.map(({ body }) => [body['reasoning_effort'], body['temperature']])).toEqual([
      ['high', 0.2],
      [undefined, 0.2],
      [undefined, undefined],
      [undefined, undefined],
      ['high', 0.2],
    ]);
  });

  test('what did not help is not remembered', async () => {
    const { url, seen } = await serve(refuses(400, { error: { message: 'bad', param: 'reasoning_effort' } }));
    const learnt = new Map();
    expect((await ask(url, { learnt }, { reasoning: 'high' })).error).toMatchObject({ kind: 'bad_request' });
    expect([seen.length, learnt.size]).toEqual([2, 0]);
  });

  test('it ends when the host is never content', async () => {
    const { url, seen } = await serve(wantsOther);
    expect((await ask(url, {}, { maxOutputTokens: 9 })).error).toMatchObject({ kind: 'bad_request' });
    expect(seen).toHaveLength(2);
  });
});

describe('failures', () => {
  test.each<[number, object, Record<string, string>, object]>([
    [401, { error: { message: 'bad key' } }, {}, { kind: 'auth', status: 401, message: expect.stringContaining('bad key') }],
    [429, { error: { message: 'slow' } }, { 'retry-after': '7' }, { kind: 'rate', retryAfterMs: 7000 }],
    [503, {}, { 'retry-after-ms': '40' }, { kind: 'overload', retryAfterMs: 40 }],
    [404, { code: 'x', error: 'The model `a` does not exist' }, {}, { kind: 'not_found', message: expect.stringContaining('does not exist') }],
    [400, [{ error: { message: 'list-shaped' } }], {}, { kind: 'bad_request', message: expect.stringContaining('list-shaped') }],
  ])('HTTP %i', async (status, body, headers, expected) => {
    const { url, seen } = await serve(refuses(status, body, headers));
    const got = await ask(url);
    expect(got.error).toMatchObject({ name: 'ProviderError', ...expected });
    expect(seen).toHaveLength(1);
  });

  test('an error whose body breaks off says what it is', async () => {
    const { url } = await serve((_incoming, reply) => {
      reply.writeHead(401, { 'content-length': '500' }).write('{"error":{"message":"bad key"');
      setTimeout(() => reply.destroy(), 20);
    });
    expect((await ask(url)).error).toMatchObject({ kind: 'auth', status: 401, message: expect.stringContaining('bad key') });
  });

  test('an error whose body never ends is not waited for', async () => {
    const { url } = await serve((_incoming, reply) => void reply.writeHead(401).write('{"error":{"message":"bad key"}}'));
    const started = Date.now();
    expect((await ask(url)).error).toMatchObject({ kind: 'auth', status: 401, message: expect.stringMatching(/: bad key$/) });
    expect(Date.now() - started).toBeLessThan(10_000);
  }, 15_000);

  test('a proxy that cannot be used is a mistake in the settings', async () => {
    const error = (await ask('http://models.example.test/v1', { fetch: createFetch({ HTTP_PROXY: 'socks5://127.0.0.1:1' }) })).error;
    expect(error).toMatchObject({ kind: 'bad_request', message: expect.stringContaining('socks5'), fix: expect.stringContaining('HTTP_PROXY') });
  });

  test('nobody listens', async () => {
    expect((await ask('http://127.0.0.1:1/v1')).error).toMatchObject({ kind: 'network', message: expect.stringMatching(/127\.0\.0\.1:1 .*refused/) });
  });

  test('a connection that breaks in the reply', async () => {
    const { url } = await serve((_incoming, reply) => {
      reply.writeHead(200).write(delta('part'));
      setTimeout(() => reply.destroy(), 20);
    });
    expect(await ask(url)).toMatchObject({ text: 'part', end: undefined, error: { kind: 'network' } });
  });

  test('a connection that breaks behind the reply', async () => {
    const { url } = await serve((_incoming, reply) => {
      reply.writeHead(200).write(delta('all') + data({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }));
      setTimeout(() => reply.destroy(), 20);
    });
    expect(await ask(url)).toMatchObject({ text: 'all', end: 'stop', error: undefined });
  });
});

describe('silence', () => {
  const keepSending = (reply: Parameters<RequestListener>[1], text: string) => {
    const timer = setInterval(() => reply.write(text), 10);
    reply.on('close', () => clearInterval(timer));
  };

  test('nothing at all', async () => {
    const { url } = await serve(() => {});
    expect((await ask(url, { firstTokenMs: 60 })).error).toMatchObject({ kind: 'stall', message: expect.stringContaining('nothing') });
  });

  test('only empty chunks before the first part', async () => {
    const { url } = await serve((_incoming, reply) => {
      reply.writeHead(200);
      keepSending(reply, data({ choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] }));
    });
    const started = Date.now();
    expect((await ask(url, { firstTokenMs: 150, idleMs: 20 })).error).toMatchObject({ kind: 'stall' });
    // An empty chunk neither starts the shorter limit nor the longer one anew.
    expect(Date.now() - started).toBeGreaterThanOrEqual(140);
    expect(Date.now() - started).toBeLessThan(3000);
  });

  test('comments alone do not keep a reply alive', async () => {
    const { url } = await serve((_incoming, reply) => {
      reply.writeHead(200).write(delta('part'));
      keepSending(reply, ': ping\n\n');
    });
    const started = Date.now();
    const got = await ask(url, { idleMs: 80 });
    expect(Date.now() - started).toBeLessThan(3000);
    expect(got).toMatchObject({ text: 'part', end: undefined, error: { kind: 'stall', message: expect.stringContaining('no more') } });
  });

  test('what says nothing draws the end of a whole reply out no further', async () => {
    const { url } = await serve((_incoming, reply) => {
      reply.writeHead(200).write(delta('all') + data({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }));
      keepSending(reply, data({ choices: [] }));
    });
    const started = Date.now();
    expect(await ask(url, { idleMs: 80 })).toMatchObject({ text: 'all', end: 'stop', error: undefined });
    expect(Date.now() - started).toBeLessThan(3000);
  });

  test('a slow reply is left in peace', async () => {
    const { url } = await serve((_incoming, reply) => {
      reply.writeHead(200);
      setTimeout(() => reply.write(delta('slow')), 120);
      setTimeout(() => reply.end(END), 240);
    });
    expect(await ask(url, { firstTokenMs: 1000, idleMs: 1000 })).toMatchObject({ text: 'slow', end: 'stop', error: undefined });
  });

  test('a whole reply does not wait for a server that does not hang up', async () => {
    const { url } = await serve(
      (_incoming, reply) => reply.writeHead(200).write(delta('done') + END),
      (_incoming, reply) => reply.writeHead(200).write(delta('no mark') + data({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })),
    );
    const started = Date.now();
    expect(await ask(url)).toMatchObject({ text: 'done', end: 'stop' });
    expect(Date.now() - started).toBeLessThan(2000);
    expect(await ask(url, { idleMs: 60 })).toMatchObject({ text: 'no mark', end: 'stop', error: undefined });
  });
});

describe('aborting', () => {
  test.each<[string, RequestListener]>([
    ['while nothing comes', () => {}],
    ['within the reply', (_incoming, reply) => void reply.writeHead(200).write(delta('part'))],
  ])('%s', async (_name, handler) => {
    let closed = (): void => {};
    const gone = new Promise<void>((resolve) => (closed = resolve));
    const stop = new AbortController();
    const { url } = await serve((incoming, reply) => {
      reply.on('close', closed);
      handler(incoming, reply);
      setTimeout(() => stop.abort(new Error('enough')), 50);
    });
    expect((await ask(url, {}, {}, stop.signal)).error).toMatchObject({ message: 'enough' });
    await gone;
  });

  test('a reader that leaves closes the connection', async () => {
    let closed = (): void => {};
    const gone = new Promise<void>((resolve) => (closed = resolve));
    const { url } = await serve((_incoming, reply) => {
      reply.on('close', closed);
      reply.writeHead(200).write(delta('part'));
    });
    for await (const _ of chatProvider({ config: { baseUrl: url } }).stream(request(), new AbortController().signal)) break;
    await gone;
  });
});

describe('what comes together is handed over together', () => {
  const thought = (reasoning: string): string => data({ choices: [{ index: 0, delta: { reasoning } }] });

  test('neighbours of one type are one delta', async () => {
    const { deltas } = await readPieces([Buffer.from(thought('a') + thought('b') + delta('c') + delta('d')), Buffer.from(delta('e') + END)]);
    expect(deltas).toEqual([
      { type: 'reasoning', text: 'ab' },
      { type: 'text', text: 'cd' },
      { type: 'text', text: 'e' },
      { type: 'end', reason: 'stop' },
    ]);
  });

  test('what stands before a failure comes first', async () => {
    const got = await readPieces([Buffer.from(delta('a') + delta('b') + data({ error: { message: 'broken' } }) + delta('c'))]);
    expect(got).toMatchObject({ text: 'ab', end: undefined, error: { message: expect.stringContaining('broken') } });
  });

  test('the text of a chunk that says that the reply failed is kept', async () => {
    const got = await readPieces([Buffer.from(data({ choices: [{ index: 0, delta: { content: 'a' }, finish_reason: 'error' }] }))]);
    expect(got).toMatchObject({ text: 'a', end: undefined, error: { message: expect.stringContaining('error') } });
  });

  test('nothing waits for more to come', async () => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const stream = chatProvider({ fetch: async () => new Response(readable) }).stream(request(), new AbortController().signal);
    const parts = stream[Symbol.asyncIterator]();
    for (const text of ['one ', 'two ', 'three']) {
      void writer.write(Buffer.from(delta(text)));
      expect(await parts.next()).toEqual({ done: false, value: { type: 'text', text } });
    }
    await parts.return?.();
  });
});
