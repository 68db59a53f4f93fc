import { mkdirSync, readdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createFetch } from '../../../../kernel/host/fetch.ts';
import { fromModelsDev, renewCatalogue, savedCatalogue } from '../../../../plugins/providers/models/catalogue.ts';
import { home, type Routes, standIn } from './stand-ins.ts';

const HOUR = 3_600_000;
const NOW = Date.UTC(2030, 0, 1);
const fetch = createFetch({}) as typeof globalThis.fetch;
const API = {
  maker: {
    id: 'maker',
    models: {
      'm-1': {
        id: 'm-1',
        attachment: true,
        reasoning: true,
        reasoning_options: [{ type: 'toggle' }, { type: 'effort', values: ['high', 'low', null], default: 'low' }],
        cost: { input: 1, output: 2, cache_read: 0.1 },
        limit: { context: 1000, output: 100 },
        modalities: { input: ['text', 'image'], output: ['text'] },
      },
      'm-2': { id: 'm-2', reasoning: false, limit: { context: 2000, output: 0 }, modalities: { input: ['text'] } },
      'm-3': { id: 'm-3', reasoning: true, reasoning_options: [{ type: 'budget_tokens' }] },
      painter: { id: 'painter', modalities: { output: ['image'] } },
      junk: 7,
    },
  },
  empty: {},
  junk: null,
};
const READ = {
  maker: [
    {
      id: 'm-1',
      contextWindow: 1000,
      maxOutput: 100,
      price: { in: 1, out: 2, cacheRead: 0.1 },
      reasoning: { levels: ['off', 'low', 'high'], default: 'low' },
      images: true,
    },
    { id: 'm-2', contextWindow: 2000, reasoning: { levels: [] }, images: false },
    { id: 'm-3' },
  ],
};

test('the format of models.dev', () => {
  expect(fromModelsDev(API)).toEqual(READ);
  for (const other of [{}, [], 'x', null, { error: 'no' }]) expect(() => fromModelsDev(other)).toThrow(SyntaxError);
});

test('sizes and names that nobody could mean are left out', () => {
  const models = {
    ['x'.repeat(301)]: { id: 'y'.repeat(301), limit: { context: 10 } },
    a: { limit: { context: 1e300, output: -1 }, cost: { input: 1e300, output: 1 } },
    b: {
      limit: { context: '4096', output: {} },
      cost: { input: -1, output: 1 },
      reasoning_options: [{ type: 'effort', values: ['low', 'z'.repeat(33), ...Array.from({ length: 99 }, (_, i) => `l${i}`)] }],
    },
  };
  const read = fromModelsDev(JSON.parse(JSON.stringify({ seller: { models } }).replace('"seller"', '"__proto__"')));
  const [[seller, known] = []] = Object.entries(read);
  expect([seller, known?.map(({ id }) => id)]).toEqual(['__proto__', ['a', 'b']]);
  expect(known?.[0]).toEqual({ id: 'a' });
  expect(known?.[1]).toMatchObject({ contextWindow: 4096 });
  expect(known?.[1]?.reasoning?.levels).toHaveLength(16);
  expect(JSON.stringify(known)).not.toContain('zzz');
});

describe('the file of the catalogue', () => {
  const place = async (routes: Routes = { '/api.json': API }) => {
    const server = await standIn(routes);
    const folder = home();
    const file = join(folder, 'cache', 'models-dev.json');
    const renew = (now = NOW, signal = new AbortController().signal) => renewCatalogue({ home: folder, url: `${server.root}/api.json`, fetch, signal, now });
    const have = (text: string, at: number) => {
      mkdirSync(join(folder, 'cache'), { recursive: true });
      writeFileSync(file, text);
      utimesSync(file, at / 1000, at / 1000);
    };
    return { server, folder, file, renew, have };
  };

  test('is fetched when there is none, for its owner alone', async () => {
    const { folder, file, renew } = await place();
    expect(savedCatalogue(folder)).toEqual({});
    await renew();
    expect(savedCatalogue(folder)).toEqual(READ);
    expect([statSync(file).mode & 0o777, statSync(join(folder, 'cache')).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(readdirSync(join(folder, 'cache'))).toEqual(['models-dev.json']);
  });

  test('is fetched at most once a day', async () => {
    const { server, renew } = await place();
    await renew();
    await renew(NOW + 23 * HOUR);
    expect(server.asked).toHaveLength(1);
    await renew(NOW + 25 * HOUR);
    expect(server.asked).toHaveLength(2);
  });

  test('of the future is fetched anew', async () => {
    const { server, have, renew } = await place();
    have('{}', NOW + 1_000 * HOUR);
    await renew();
    expect(server.asked).toHaveLength(1);
  });

  test('that could not be kept is not fetched', async () => {
    const { server, folder, renew } = await place();
    symlinkSync('/nowhere/at/all', join(folder, 'cache'));
    await expect(renew()).rejects.toThrow();
    expect(server.asked).toHaveLength(0);
  });

  test.each<[string, Routes]>([
    ['there is none', {}],
    ['it is something else', { '/api.json': { hello: 1 } }],
    ['it is no JSON', { '/api.json': (_: unknown, reply: { end(text: string): void }) => reply.end('<html>') }],
  ])('stays as it is, and rests for an hour, when %s', async (_name, routes) => {
    const { server, folder, renew, have } = await place(routes);
    have(JSON.stringify(READ), NOW - 48 * HOUR);
    await expect(renew()).rejects.toThrow();
    expect(savedCatalogue(folder)).toEqual(READ);
    await renew(NOW + 0.9 * HOUR);
    expect(server.asked).toHaveLength(1);
    await expect(renew(NOW + 1.1 * HOUR)).rejects.toThrow();
    expect(server.asked).toHaveLength(2);
  });

  test('an end of the process is no failure to rest after', async () => {
    const { file, renew } = await place({ '/api.json': () => undefined });
    const over = new AbortController();
    const renewing = renew(NOW, over.signal);
    over.abort(new Error('over'));
    await expect(renewing).rejects.toThrow('over');
    expect(statSync(file, { throwIfNoEntry: false })).toBeUndefined();
  });

  test.each(['', '{"maker":', '[]', '{"maker":{"m":1}}', '{"maker":[1,{"id":""}]}'])('as %j it is as good as none', async (text) => {
    const { folder, have } = await place();
    have(text, NOW);
    expect(Object.values(savedCatalogue(folder)).flat()).toEqual([]);
  });

  test('strange values of it are left out', async () => {
    const { folder, have } = await place();
    have('{"maker":[{"id":"m","contextWindow":"many","maxOutput":5,"price":{"in":1},"reasoning":{"levels":"all"},"images":1}]}', NOW);
    expect(savedCatalogue(folder)).toEqual({ maker: [{ id: 'm', maxOutput: 5 }] });
  });
});
