import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, createServer as createSocketServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createFetch } from '../../../kernel/host/fetch.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => {
    server.closeAllConnections?.();
    return new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
};
const serve = async (handle: RequestListener): Promise<string> => `http://127.0.0.1:${await listen(createServer(handle))}`;
const bodyOf = async (request: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
};
const fetch = createFetch({});

test('an answer that switches to another protocol is none, and is waited for no longer', async () => {
  const server = createSocketServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'));
  });
  const port = await listen(server as unknown as Server);
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow('fetch failed: the connection was closed without an answer');
});

describe('requests', () => {
  test('method, headers and body arrive; the answer says what came', async () => {
    const url = await serve(async (request, reply) => {
      reply.writeHead(201, 'Made', { 'x-one': '1', 'content-type': 'application/json' });
      reply.end(JSON.stringify({ method: request.method, path: request.url, type: request.headers['content-type'], body: await bodyOf(request) }));
    });
    const answer = await fetch(`${url}/a?b=1`, { method: 'post', headers: new Headers({ 'Content-Type': 'text/x' }), body: 'grüße' });
    expect([answer.status, answer.statusText, answer.ok, answer.headers.get('x-one'), answer.url]).toEqual([201, 'Made', true, '1', `${url}/a?b=1`]);
    expect(await answer.json()).toEqual({ method: 'POST', path: '/a?b=1', type: 'text/x', body: 'grüße' });
  });

  test.each([
    ['a Request', (url: string) => fetch(new Request(url, { method: 'PUT', body: 'x=1', headers: { 'content-type': 'text/plain' } }))],
    ['bytes', (url: string) => fetch(url, { method: 'PUT', body: Buffer.from('x=1') })],
    ['a form', (url: string) => fetch(url, { method: 'PUT', body: new URLSearchParams({ x: '1' }) })],
    ['a view', (url: string) => fetch(url, { method: 'PUT', body: new DataView(new TextEncoder().encode('..x=1').buffer, 2) })],
    ['a buffer', (url: string) => fetch(url, { method: 'PUT', body: new TextEncoder().encode('x=1').buffer })],
    ['a blob', (url: string) => fetch(url, { method: 'PUT', body: new Blob(['x=1']) })],
    ['header pairs', (url: string) => fetch(new URL(url), { method: 'PUT', headers: [['a', 'b']], body: 'x=1' })],
  ])('takes %s', async (_name, send) => {
    const url = await serve(async (request, reply) => reply.end(`${request.method} ${await bodyOf(request)}`));
    expect(await (await send(url)).text()).toBe('PUT x=1');
  });

  test.each<[string, RequestInit, RegExp | undefined]>([
    ['text', { body: 'x' }, /^text\/plain;charset=UTF-8$/],
    ['a form', { body: new URLSearchParams({ x: '1' }) }, /^application\/x-www-form-urlencoded;charset=UTF-8$/],
    ['a form with files', { body: new FormData() }, /^multipart\/form-data; boundary=/],
    ['bytes', { body: Buffer.from('x') }, undefined],
    ['text of a given type', { body: 'x', headers: { 'Content-Type': 'text/y' } }, /^text\/y$/],
  ])('%s says what it is', async (_name, init, expected) => {
    const url = await serve((request, reply) => reply.end(request.headers['content-type']));
    const type = await (await fetch(url, { method: 'POST', ...init })).text();
    expect(type).toMatch(expected ?? /^$/);
  });

  test('a connection is used again, and a stale one is replaced', async () => {
    const ports: (number | undefined)[] = [];
    let kill: (() => void) | undefined;
    const url = await serve((request, reply) => {
      ports.push(request.socket.remotePort);
      if (ports.length === 3 && kill === undefined) {
        kill = () => request.socket.destroy();
        return kill();
      }
      reply.end('ok');
    });
    for (let i = 0; i < 3; i++) expect(await (await fetch(url)).text()).toBe('ok');
    expect(ports[1]).toBe(ports[0]);
    expect(ports).toHaveLength(4);
  });

  test('after a connection broke, in its answer as well, no idle one is used', async () => {
    const ports: (number | undefined)[] = [];
    const url = await serve(async (request, reply) => {
      ports.push(request.socket.remotePort);
      if (request.url === '/slow') await new Promise((resolve) => setTimeout(resolve, 50));
      if (request.url !== '/breaks') return reply.end('fine');
      reply.write('part');
      setTimeout(() => reply.destroy(), 20);
    });
    const own = createFetch({});
    const get = async (path: string): Promise<string> => (await own(`${url}${path}`)).text();
    expect(await Promise.all([get('/slow'), get('/slow'), get('/slow')])).toEqual(['fine', 'fine', 'fine']);
    await expect(get('/breaks')).rejects.toThrow('fetch failed');
    await get('/again');
    const [used, again] = [ports.slice(0, 4), ports.at(-1)];
    expect(new Set(used).size).toBe(3);
    expect(used).not.toContain(again);
  });

  test('statuses without a body, and HEAD', async () => {
    const url = await serve((request, reply) => reply.writeHead(request.method === 'HEAD' ? 200 : 204, { 'content-length': '0' }).end());
    expect((await fetch(url)).body).toBeNull();
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(200);
  });

  test('credentials in the address become a header', async () => {
    const url = await serve((request, reply) => reply.end(request.headers.authorization));
    expect(await (await fetch(url.replace('http://', 'http://me:s%20t@'))).text()).toBe(`Basic ${Buffer.from('me:s t').toString('base64')}`);
  });
});

describe('bodies', () => {
  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['identity', (bytes: Buffer) => bytes],
  ])('%s is decoded', async (encoding, encode) => {
    const url = await serve((_request, reply) => reply.writeHead(200, { 'content-encoding': encoding }).end(encode(Buffer.from('é'.repeat(5000)))));
    expect(await (await fetch(url)).text()).toBe('é'.repeat(5000));
  });

  test('an unknown encoding is named', async () => {
    const url = await serve((_request, reply) => reply.writeHead(200, { 'content-encoding': 'zip9' }).end('x'));
    await expect(fetch(url)).rejects.toThrow(/zip9/);
  });

  test('a body that breaks off is an error, not an end', async () => {
    const url = await serve((_request, reply) => {
      reply.writeHead(200, { 'content-length': '100' }).write('part');
      setTimeout(() => reply.destroy(), 20);
    });
    const answer = await fetch(url);
    await expect(answer.text()).rejects.toThrow(/fetch failed/);
  });
});

describe('redirects', () => {
  test('a POST becomes a GET after 303 and stays after 307', async () => {
    const url = await serve(async (request, reply) => {
      if (request.url === '/303') return void reply.writeHead(303, { location: '/end' }).end();
      if (request.url === '/307') return void reply.writeHead(307, { location: 'end' }).end();
      reply.end(`${request.method} ${await bodyOf(request)}`);
    });
    const after303 = await fetch(`${url}/303`, { method: 'POST', body: 'x' });
    expect([await after303.text(), after303.redirected, after303.url]).toEqual(['GET ', true, `${url}/end`]);
    expect(await (await fetch(`${url}/307`, { method: 'POST', body: 'x' })).text()).toBe('POST x');
  });

  test('credentials do not go to another origin', async () => {
    const names = ['authorization', 'cookie', 'api-key', 'x-api-key', 'x-goog-api-key', 'x-subscription-token', 'private-token', 'x-client-secret', 'x-key'];
    const headers = { ...Object.fromEntries(names.map((name) => [name, 'mine'])), 'x-keep': 'yes', 'x-monkey': 'yes' };
    const seen: (readonly (string | undefined)[])[] = [];
    const note: RequestListener = (request, reply) => {
      seen.push([...names, 'x-keep', 'x-monkey'].filter((name) => request.headers[name] !== undefined));
      reply.end();
    };
    const other = await serve(note);
    const url = await serve((request, reply) =>
      request.url === '/own' ? note(request, reply) : reply.writeHead(302, { location: request.url === '/' ? '/own' : other }).end(),
    );
    await fetch(url, { headers });
    await fetch(`${url}/other`, { headers });
    expect(seen).toEqual([
      [...names, 'x-keep', 'x-monkey'],
      ['x-keep', 'x-monkey'],
    ]);
  });

  test('ends after five, and can be left to the caller', async () => {
    let count = 0;
    const url = await serve((_request, reply) => {
      count++;
      reply.writeHead(302, { location: '/again' }).end();
    });
    await expect(fetch(url)).rejects.toThrow(/more than 5 redirects/);
    expect(count).toBe(6);
    expect((await fetch(url, { redirect: 'manual' })).status).toBe(302);
    await expect(fetch(url, { redirect: 'error' })).rejects.toThrow(/redirect/);
  });
});

describe('errors', () => {
  const closedPort = async (): Promise<number> => {
    const server = createSocketServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    return port;
  };

  test('the deepest cause is kept', async () => {
    const port = await closedPort();
    await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toMatchObject({ message: /ECONNREFUSED/, cause: { code: 'ECONNREFUSED' } });
    await expect(fetch(`http://localhost:${port}`)).rejects.toMatchObject({ message: /ECONNREFUSED/, cause: { code: 'ECONNREFUSED' } });
    await expect(fetch('http://host.invalid')).rejects.toMatchObject({ cause: { code: expect.stringMatching(/ENOTFOUND|EAI_AGAIN/) } });
  });

  test('other protocols are refused', async () => {
    await expect(fetch('file:///etc/passwd')).rejects.toThrow(/file:/);
  });

  test('an abort rejects with its reason, before and within the answer', async () => {
    const url = await serve((request, reply) => {
      if (request.url === '/silent') return;
      reply.writeHead(200).write('first');
    });
    await expect(fetch(url, { signal: AbortSignal.abort(new Error('early')) })).rejects.toThrow('early');
    const beginning = new AbortController();
    const begun = fetch(url, { signal: beginning.signal });
    beginning.abort(new Error('at once'));
    await expect(begun).rejects.toThrow('at once');

    const waiting = new AbortController();
    const silent = fetch(`${url}/silent`, { signal: waiting.signal });
    setTimeout(() => waiting.abort(new Error('enough')), 20);
    await expect(silent).rejects.toThrow('enough');
    const reading = new AbortController();
    const answer = await fetch(url, { signal: reading.signal });
    const text = answer.text();
    setTimeout(() => reading.abort(new Error('stop reading')), 20);
    await expect(text).rejects.toThrow('stop reading');
  });

  test('a cancelled body closes the connection', async () => {
    const closed = new Promise<void>((resolve) => {
      void serve((_request, reply) => {
        reply.on('close', resolve);
        reply.writeHead(200).write('first');
      }).then(async (url) => (await fetch(url)).body?.cancel());
    });
    await closed;
  });
});

describe('proxies', () => {
  const certificate = (): { key: Buffer; cert: Buffer } | undefined => {
    const dir = mkdtempSync(join(tmpdir(), 'cast-fetch-'));
    cleanups.push(() => rmSync(dir, { recursive: true, force: true }));
    try {
      const out = ['-keyout', join(dir, 'key.pem'), '-out', join(dir, 'cert.pem')];
      execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=api.example.test', ...out], { stdio: 'ignore' });
      return { key: readFileSync(join(dir, 'key.pem')), cert: readFileSync(join(dir, 'cert.pem')) };
    } catch {
      return undefined;
    }
  };

  test('http goes through HTTP_PROXY with the whole address', async () => {
    const seen: unknown[] = [];
    const proxy = await serve((request, reply) => {
      seen.push(request.url, request.headers.host, request.headers['proxy-authorization']);
      reply.end('from the proxy');
    });
    const proxied = createFetch({ HTTP_PROXY: proxy.replace('http://', 'http://me:pw@') });
    expect(await (await proxied('http://api.example.test/v1?x=1')).text()).toBe('from the proxy');
    expect(seen).toEqual(['http://api.example.test/v1?x=1', 'api.example.test', `Basic ${Buffer.from('me:pw').toString('base64')}`]);
  });

  test.each(['*', 'example.test', '.example.test', 'other.org, api.example.test:80', '*.example.test'])('NO_PROXY=%s goes around it', async (list) => {
    const proxy = await serve((_request, reply) => reply.end('proxy'));
    await expect(createFetch({ http_proxy: proxy, no_proxy: list })('http://api.example.test')).rejects.toThrow(/ENOTFOUND|EAI_AGAIN/);
  });

  test.each(['', 'ample.test', 'api.example.test:8080'])('NO_PROXY=%s does not match', async (list) => {
    const proxy = await serve((_request, reply) => reply.end('proxy'));
    expect(await (await createFetch({ http_proxy: proxy, no_proxy: list })('http://api.example.test')).text()).toBe('proxy');
  });

  test('loopback never goes through a proxy', async () => {
    const url = await serve((_request, reply) => reply.end('direct'));
    expect(await (await createFetch({ HTTP_PROXY: 'http://127.0.0.1:1', ALL_PROXY: 'http://127.0.0.1:1' })(url)).text()).toBe('direct');
  });

  test('https goes through CONNECT, and a certificate nobody vouches for is named', async (context) => {
    const pair = certificate();
    if (!pair) return context.skip('openssl is not installed');
    const secret = createTlsServer(pair, (_request, reply) => reply.end('secret'));
    const port = await listen(secret as unknown as Server);
    const asked: (string | undefined)[] = [];
    const tunnel = createServer();
    tunnel.on('connect', (request, socket) => {
      asked.push(request.url);
      const up = connect(port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        up.pipe(socket).pipe(up);
      });
      for (const end of [up, socket]) {
        end.on('error', () => up.destroy());
        cleanups.push(() => end.destroy());
      }
    });
    const proxied = createFetch({ HTTPS_PROXY: `http://127.0.0.1:${await listen(tunnel)}` });
    await expect(proxied('https://api.example.test/x')).rejects.toMatchObject({ cause: { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' } });
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    cleanups.push(() => (before === undefined ? delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'] : (process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before)));
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    expect(await (await proxied('https://api.example.test/x')).text()).toBe('secret');
    expect(asked).toEqual(['api.example.test:443', 'api.example.test:443']);
  });

  test('an address that cannot be read is named, without what is in it', async () => {
    await expect(createFetch({ HTTP_PROXY: 'http://me:pw@:x' })('http://api.example.test')).rejects.toThrow(/address of the proxy cannot be read$/);
  });

  test('a percent sign in a password is one', async () => {
    const seen: unknown[] = [];
    const proxy = await serve((request, reply) => reply.end(seen.push(request.headers['proxy-authorization']).toString()));
    await createFetch({ HTTP_PROXY: proxy.replace('http://', 'http://me:100%@') })('http://api.example.test');
    expect(seen).toEqual([`Basic ${Buffer.from('me:100%').toString('base64')}`]);
  });

  test('a server that takes the connection and never greets is given up', async () => {
    const silent = createSocketServer();
    const taken = new Promise<void>((resolve) => silent.once('connection', () => resolve()));
    const port = await new Promise<number>((resolve) => silent.listen(0, '127.0.0.1', () => resolve((silent.address() as AddressInfo).port)));
    cleanups.push(() => silent.close());
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    cleanups.push(() => vi.useRealTimers());
    const asked = fetch(`https://127.0.0.1:${port}`).then(
      () => 'answered',
      (error: Error) => error.message,
    );
    await taken;
    await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(10_000);
    await expect(
      Promise.race([asked, new Promise((resolve) => setImmediate(() => setImmediate(() => setImmediate(() => resolve('waits')))))]),
    ).resolves.toMatch(/took too long/);
  });

  test('a proxy that refuses is named', async () => {
    const tunnel = createServer();
    tunnel.on('connect', (_request, socket) => socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'));
    const proxied = createFetch({ HTTPS_PROXY: `localhost:${await listen(tunnel)}` });
    await expect(proxied('https://api.example.test')).rejects.toThrow(/proxy localhost:\d+ refused .* 407/);
    await expect(createFetch({ ALL_PROXY: 'socks5://127.0.0.1:1' })('http://api.example.test')).rejects.toThrow(/socks5/);
  });
});
