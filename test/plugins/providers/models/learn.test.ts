/** Providers far away: who is asked about a model, and how often. */
import { describe, expect, test } from 'vitest';
import { createFetch } from '../../../../kernel/host/fetch.ts';
import { Metadata } from '../../../../plugins/providers/models/metadata.ts';
import { learnAbout } from '../../../../plugins/providers/models/learn.ts';
import { home, type Routes, standIn } from './stand-ins.ts';

const HOUR = 3_600_000;
const CATALOGUE = {
  openai: { models: { 'new-model': { id: 'new-model', limit: { context: 5000, output: 500 }, cost: { input: 1, output: 2 } } } },
};
const LISTING = {
  data: [
    { id: 'new-model', context_length: 3000 },
    { id: 'odd-model', context_length: 4000 },
  ],
};

/** A provider at `baseUrl`, which the stand-in answers for. */
const setUp = async (baseUrl: string, { catalogue = true, routes = {} }: { catalogue?: boolean; routes?: Routes } = {}) => {
  const server = await standIn({ '/api.json': CATALOGUE, '/v1/models': LISTING, ...routes });
  const real = createFetch({});
  const fetch = ((url: string, init: RequestInit) =>
    real(url.startsWith(baseUrl) ? url.replace(baseUrl, server.baseUrl) : url, init)) as typeof globalThis.fetch;
  const folder = home();
  const over = new AbortController();
  const said: string[] = [];
  let now = Date.UTC(2030, 0, 1);
  const config = { baseUrl };
  const start = () => {
    const metadata = new Metadata({ name: 'env', config, baseUrl, home: folder, lessons: new Map() });
    const target = { name: 'env', config, version: '1', secret: async () => 'k-1', now: () => now };
    const about = (model: string) =>
      learnAbout(model, {
        target,
        metadata,
        baseUrl,
        home: folder,
        fetch,
        signal: over.signal,
        catalogue,
        catalogueUrl: `${server.root}/api.json`,
        debug: (message) => void said.push(message),
      });
    return { about, info: (model: string) => metadata.info(model) };
  };
  return { server, start, said, over, pass: (ms: number) => (now += ms) };
};

describe('a model', () => {
  test('that the catalogue knows: the provider is not asked, and gets no key of a stranger', async () => {
    const { server, start } = await setUp('https://api.openai.com/v1');
    const { about, info } = start();
    await about('new-model');
    expect(server.asked.map(({ path, authorization }) => [path, authorization])).toEqual([['/api.json', undefined]]);
    expect(info('new-model')).toEqual({ id: 'new-model', contextWindow: 5000, maxOutput: 500, price: { in: 1, out: 2 } });
    expect(start().info('new-model')).toEqual(info('new-model'));
  });

  test('that it does not know: the provider is asked once, and the next start asks nobody for a day', async () => {
    const { server, start, pass } = await setUp('https://models.example.com/v1');
    const { about, info } = start();
    await about('odd-model');
    expect(server.asked.map(({ path, authorization }) => [path, authorization])).toEqual([
      ['/api.json', undefined],
      ['/v1/models', 'Bearer k-1'],
    ]);
    expect(info('odd-model')).toEqual({ id: 'odd-model', contextWindow: 4000 });
    await start().about('odd-model');
    expect(server.asked).toHaveLength(2);
    pass(25 * HOUR);
    await start().about('odd-model');
    expect(server.paths()).toEqual(['/api.json', '/v1/models', '/api.json', '/v1/models']);
  });

  test('that came with cast, without the catalogue: nobody is asked', async () => {
    const { server, start } = await setUp('https://api.openai.com/v1', { catalogue: false });
    const { about, info } = start();
    await about('gpt-4.1');
    expect(server.asked).toEqual([]);
    expect(info('gpt-4.1')).toMatchObject({ contextWindow: 1_047_576, price: { in: 2, out: 8, cacheRead: 0.5 } });
  });

  test('of OpenRouter: it knows its models best', async () => {
    const { server, start } = await setUp('https://openrouter.ai/api/v1');
    const { about, info } = start();
    await about('new-model');
    expect([...server.paths()].sort()).toEqual(['/api.json', '/v1/models']);
    expect(info('new-model')).toMatchObject({ contextWindow: 3000, maxOutput: 500 });
  });

  test('of a server in the own network: it alone is asked', async () => {
    const { server, start } = await setUp('http://192.168.7.7:8000/v1');
    const { about, info } = start();
    await about('new-model');
    expect(server.paths()).toEqual(['/v1/models']);
    expect(info('new-model')).toEqual({ id: 'new-model', contextWindow: 3000 });
  });
});

test('without catalogue and listing nothing is known, nothing is thrown, and it is told to the log', async () => {
  const { start, said, server } = await setUp('https://models.example.com/v1', { routes: { '/api.json': undefined, '/v1/models': undefined } });
  const { about, info } = start();
  await about('odd-model');
  expect(info('odd-model')).toBeUndefined();
  expect(said).toEqual(['the catalogue of models could not be fetched', 'the models of the provider could not be read']);
  expect(server.asked).toHaveLength(2);
});

test('the end of the process ends it', async () => {
  const { start, over } = await setUp('https://models.example.com/v1', { routes: { '/api.json': () => undefined, '/v1/models': () => undefined } });
  const { about, info } = start();
  const learning = about('odd-model');
  setTimeout(() => over.abort(new Error('over')), 50);
  await learning;
  expect(info('odd-model')).toBeUndefined();
});
