import type { LookupAddress } from 'node:dns';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createFetch } from '../../../kernel/host/fetch.ts';
import type { Lookup } from '../../../kernel/host/permit.ts';
import type { Address, Permit } from '../../../kernel/index.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

/** The port, and every request that came. */
const serve = async (
  handle: RequestListener = (_request, reply) => reply.end('here'),
): Promise<{ port: number; came: string[]; sockets: Set<number | undefined> }> => {
  const came: string[] = [];
  const sockets = new Set<number | undefined>();
  const server = createServer((request, reply) => {
    came.push(request.url ?? '');
    sockets.add(request.socket.remotePort);
    handle(request, reply);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return { port: (server.address() as AddressInfo).port, came, sockets };
};

const asking = (answer: Permit): { readonly asked: Address[]; readonly permit: Permit } => {
  const asked: Address[] = [];
  return {
    asked,
    permit: (address) => {
      asked.push(address);
      return answer(address);
    },
  };
};
const none: Permit = ({ ip }) => `${ip} is out of bounds`;
const answers =
  (...each: readonly (readonly string[])[]): Lookup =>
  (_host, _options, callback) => {
    const found = each[Math.min(count++, each.length - 1)] ?? [];
    callback(
      null,
      found.map((address): LookupAddress => ({ address, family: 4 })),
    );
  };
let count = 0;
afterEach(() => {
  count = 0;
});

describe('a connection that needs a permit', () => {
  test('a name is judged by every address it has, and no byte is sent before', async () => {
    const { port, came } = await serve();
    const { asked, permit } = asking(none);
    await expect(createFetch({})(`http://localhost:${port}/`, { permit })).rejects.toMatchObject({
      message: expect.stringMatching(/fetch failed: .* is out of bounds/),
      cause: { code: 'ADDRESS_REFUSED' },
    });
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.every(({ host, port: at, ip }) => host === 'localhost' && at === port && (ip === '127.0.0.1' || ip === '::1'))).toBe(true);
    expect(came).toEqual([]);
  });

  test.each([
    ['127.0.0.1', '127.0.0.1'],
    ['[::1]', '::1'],
    ['0.0.0.0', '0.0.0.0'],
    ['2130706433', '127.0.0.1'],
    ['0177.0.0.1', '127.0.0.1'],
    ['0x7f.1', '127.0.0.1'],
    ['127.1', '127.0.0.1'],
    ['[::ffff:127.0.0.1]', '::ffff:7f00:1'],
  ])('%s, which nobody looks up, is judged as %s', async (host, ip) => {
    const { port, came } = await serve();
    const { asked, permit } = asking(none);
    await expect(createFetch({})(`http://${host}:${port}/`, { permit })).rejects.toThrow('out of bounds');
    expect(asked.map((address) => address.ip)).toEqual([ip]);
    expect(came).toEqual([]);
  });

  test('what is permitted is fetched, over http and with the port of https', async () => {
    const { port } = await serve();
    const { asked, permit } = asking(() => undefined);
    expect(await (await createFetch({})(`http://localhost:${port}/`, { permit })).text()).toBe('here');
    expect(asked.length).toBeGreaterThan(0);
    await expect(createFetch({})('https://localhost:1/', { permit: none })).rejects.toThrow('out of bounds');
    const https = asking(none);
    await expect(createFetch({})('https://127.0.0.1/', { permit: https.permit })).rejects.toThrow('out of bounds');
    expect(https.asked).toEqual([{ host: '127.0.0.1', port: 443, ip: '127.0.0.1' }]);
  });

  test('a redirect is judged anew', async () => {
    const inner = await serve();
    const outer = await serve((_request, reply) => reply.writeHead(302, { location: `http://127.0.0.1:${inner.port}/secret` }).end());
    const { asked, permit } = asking(({ port }) => (port === outer.port ? undefined : 'not that one'));
    await expect(createFetch({})(`http://127.0.0.1:${outer.port}/`, { permit })).rejects.toThrow('not that one');
    expect(asked.map(({ port }) => port)).toEqual([outer.port, inner.port]);
    expect(inner.came).toEqual([]);
  });

  test('a name that leads elsewhere later is judged by where it leads then, and a kept connection is no way around', async () => {
    const { port, came, sockets } = await serve();
    const fetch = createFetch({}, answers(['127.0.0.1'], ['127.0.0.1'], ['127.0.0.2']));
    const { permit } = asking(({ ip }) => (ip === '127.0.0.2' ? 'rebound' : undefined));
    for (let i = 0; i < 2; i++) expect(await (await fetch(`http://site.test:${port}/`, { permit })).text()).toBe('here');
    await expect(fetch(`http://site.test:${port}/`, { permit })).rejects.toThrow('rebound');
    // Looked up once a connection: what was judged is what is connected to.
    expect({ lookups: count, requests: came.length, connections: sockets.size }).toEqual({ lookups: 3, requests: 2, connections: 2 });
  });

  test('one bad address among good ones refuses the name', async () => {
    const { port, came } = await serve();
    const fetch = createFetch({}, answers(['93.184.216.34', '127.0.0.1']));
    await expect(fetch(`http://site.test:${port}/`, { permit: ({ ip }) => (ip === '127.0.0.1' ? 'inside' : undefined) })).rejects.toThrow('inside');
    expect(came).toEqual([]);
  });

  test('a connection that was made without is not used', async () => {
    const { port, came } = await serve();
    const fetch = createFetch({});
    await (await fetch(`http://localhost:${port}/`)).text();
    await expect(fetch(`http://localhost:${port}/`, { permit: none })).rejects.toThrow('out of bounds');
    expect(came).toHaveLength(1);
  });

  test('an abort ends the wait for a name', async () => {
    const aborter = new AbortController();
    const silent: Lookup = () => setImmediate(() => aborter.abort(new Error('enough')));
    await expect(createFetch({}, silent)('http://site.test/', { permit: none, signal: aborter.signal })).rejects.toThrow('enough');
    const again = new AbortController();
    const slow: Lookup = () => setImmediate(() => again.abort(new Error('enough')));
    await expect(createFetch({ HTTP_PROXY: 'http://127.0.0.1:1' }, slow)('http://site.test/', { permit: none, signal: again.signal })).rejects.toThrow(
      'enough',
    );
  });
});

describe('behind a proxy, which connects', () => {
  const missing: Lookup = (_host, _options, callback) => callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), []);
  const inside: Permit = ({ ip }) => (ip === undefined || ip.startsWith('93.') ? undefined : `${ip} is inside`);

  test('an address is judged here, and so is a name that this machine knows', async () => {
    const proxy = await serve();
    const environment = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` };
    await expect(createFetch(environment)('http://10.0.0.1/', { permit: inside })).rejects.toThrow('10.0.0.1 is inside');
    await expect(createFetch(environment, answers(['192.168.0.1']))('http://wiki.test/', { permit: inside })).rejects.toThrow('192.168.0.1 is inside');
    const secure = createFetch({ HTTPS_PROXY: environment.HTTP_PROXY }, answers(['192.168.0.1']));
    await expect(secure('https://wiki.test/', { permit: inside })).rejects.toThrow('192.168.0.1 is inside');
    expect(proxy.came).toEqual([]);
    expect(await (await createFetch(environment, answers(['93.184.216.34']))('http://site.test/', { permit: inside })).text()).toBe('here');
  });

  test('a name that it does not know is left to the proxy, unless the name itself is refused', async () => {
    const proxy = await serve();
    const fetch = createFetch({ HTTP_PROXY: `http://127.0.0.1:${proxy.port}` }, missing);
    expect(await (await fetch('http://site.test/x', { permit: inside })).text()).toBe('here');
    await expect(
      fetch('http://printer.local/', { permit: ({ host, ip }) => (ip === undefined && host.endsWith('.local') ? 'by its name' : undefined) }),
    ).rejects.toThrow('by its name');
    expect(proxy.came).toEqual(['http://site.test/x']);
  });
});
