/** What `fetch` answers with, used as a Response is used. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, test } from 'vitest';
import { createFetch } from '../../../kernel/host/fetch.ts';
import type { HttpResponse } from '../../../kernel/host/http-response.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

const fetch = createFetch({});
const answerOf = async (handle: RequestListener): Promise<HttpResponse> => {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
};
const answering = (body: string | Uint8Array, type = 'text/plain') => answerOf((_request, reply) => reply.writeHead(200, { 'content-type': type }).end(body));
const gather = async (chunks: AsyncIterable<Uint8Array | string> | null): Promise<string> => {
  let text = '';
  for await (const chunk of chunks ?? []) text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
  return text;
};

describe('head', () => {
  test.each([
    [200, true],
    [299, true],
    [300, false],
    [404, false],
    [999, false],
  ])('status %i', async (status, ok) => {
    const answer = await answerOf((_request, reply) => reply.writeHead(status, 'So be it').end());
    expect([answer.status, answer.ok, answer.statusText, answer.type, answer.redirected]).toEqual([status, ok, 'So be it', 'basic', false]);
  });

  const SENT: [string, string][] = [
    ['X-Two', 'b'],
    ['x-two', 'c'],
    ['Set-Cookie', 'a=1, 2'],
    ['set-cookie', 'b=2'],
    ['date', 'today'],
    ['connection', 'close'],
    ['content-length', '0'],
  ];
  const headersOf = async () => (await answerOf((_request, reply) => reply.writeHead(200, SENT).end())).headers;

  test('headers by name, whatever its case', async () => {
    const headers = await headersOf();
    expect([headers.get('X-TWO'), headers.get('missing'), headers.has('Date'), headers.has('missing')]).toEqual(['b, c', null, true, false]);
    expect([headers.get('set-cookie'), headers.getSetCookie()]).toEqual(['a=1, 2, b=2', ['a=1, 2', 'b=2']]);
  });

  test('headers one by one, as the built-in class gives them', async () => {
    const headers = await headersOf();
    const builtIn = new Headers(SENT);
    expect([...headers]).toEqual([...builtIn]);
    expect([...new Headers(headers)]).toEqual([...builtIn]);
    expect([[...headers.keys()], [...headers.values()], [...headers.entries()]]).toEqual([[...builtIn.keys()], [...builtIn.values()], [...builtIn]]);
    const seen: unknown[] = [];
    headers.forEach(function (this: unknown, value, name, all) {
      seen.push([this, name, value, all === headers]);
    }, 'self');
    expect(seen).toContainEqual(['self', 'x-two', 'b, c', true]);
  });

  test.each(['append', 'set', 'delete'] as const)('headers do not change: %s', async (method) => {
    const headers: Headers = await headersOf();
    expect(() => headers[method]('x-two', 'd')).toThrow(/cannot be changed/);
  });
});

describe('body', () => {
  test.each<[string, (answer: HttpResponse) => Promise<unknown>, unknown]>([
    ['text', (answer) => answer.text(), '{"a":"ü"}'],
    ['json', (answer) => answer.json(), { a: 'ü' }],
    ['bytes', async (answer) => Buffer.from(await answer.bytes()).toString(), '{"a":"ü"}'],
    ['arrayBuffer', async (answer) => (await answer.arrayBuffer()).byteLength, 10],
    ['blob', async (answer) => Object.assign({}, { type: (await answer.blob()).type }), { type: 'application/json' }],
    ['iterating the answer', (answer) => gather(answer), '{"a":"ü"}'],
    ['iterating the body', (answer) => gather(answer.body), '{"a":"ü"}'],
    ['a web pipe', (answer) => gather(answer.body?.pipeThrough(new TextDecoderStream()) ?? null), '{"a":"ü"}'],
    ['a node stream', (answer) => gather(answer.body && Readable.fromWeb(answer.body as never)), '{"a":"ü"}'],
  ])('%s, once', async (_name, read, expected) => {
    const answer = await answering('{"a":"ü"}', 'application/json');
    expect(answer.bodyUsed).toBe(false);
    expect(await read(answer)).toEqual(expected);
    expect(answer.bodyUsed).toBe(true);
    await expect(answer.text()).rejects.toThrow(TypeError);
    expect(() => answer.clone()).toThrow(TypeError);
  });

  test('a byte order mark is no text', async () => {
    expect(await (await answering('\uFEFFtext')).text()).toBe('text');
  });

  test('a form', async () => {
    const form = await (await answering('a=1&b=2', 'application/x-www-form-urlencoded')).formData();
    expect([form.get('a'), form.get('b')]).toEqual(['1', '2']);
  });

  test('a body that was asked for can be read in another way, until it is being read', async () => {
    const answer = await answering('text');
    expect(answer.body?.locked).toBe(false);
    expect(await answer.text()).toBe('text');
    const held = await answering('text');
    held.body?.getReader();
    expect(held.bodyUsed).toBe(false);
    await expect(held.text()).rejects.toThrow(TypeError);
  });

  test('what is iterated cannot be read beside it', async () => {
    const answer = await answering('text');
    answer[Symbol.asyncIterator]();
    expect([answer.bodyUsed, answer.body?.locked]).toEqual([true, true]);
  });

  test('an answer without a body is empty', async () => {
    const answer = await answerOf((_request, reply) => reply.writeHead(204).end());
    expect([answer.body, await answer.text(), await gather(answer), answer.bodyUsed, answer.clone().body]).toEqual([null, '', '', false, null]);
  });

  test('a clone is read apart', async () => {
    const answer = await answering('text');
    const copy = answer.clone();
    expect(await copy.text()).toBe('text');
    expect([copy.bodyUsed, answer.bodyUsed, copy.status, copy.url]).toEqual([true, false, 200, answer.url]);
    expect(await answer.text()).toBe('text');
  });

  test('leaving the iteration closes the connection', async () => {
    let closed = (): void => {};
    const gone = new Promise<void>((resolve) => (closed = resolve));
    const answer = await answerOf((_request, reply) => {
      reply.on('close', closed);
      reply.writeHead(200).write('first');
    });
    for await (const chunk of answer) {
      expect(Buffer.from(chunk).toString()).toBe('first');
      break;
    }
    await gone;
  });

  test('a slow reader slows the sender', async () => {
    let sent = 0;
    const answer = await answerOf((_request, reply) => {
      const push = () => {
        while (sent < 64 && reply.write(Buffer.alloc(1024 * 1024))) sent++;
        if (sent++ < 64) reply.once('drain', push);
        else reply.end();
      };
      push();
    });
    for await (const _ of answer) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(sent).toBeLessThan(32);
      break;
    }
  });
});
