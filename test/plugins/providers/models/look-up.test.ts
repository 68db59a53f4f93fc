import { describe, expect, test } from 'vitest';
import { reachOf, rootOf } from '../../../../plugins/providers/models/address.ts';
import { type Catalogue, ModelIndex, sellerOf } from '../../../../plugins/providers/models/look-up.ts';
import { SNAPSHOT } from '../../../../plugins/providers/models/snapshot.ts';
import { readTable, snapshot } from '../../../../plugins/providers/models/snapshot-table.ts';

const CATALOGUE: Catalogue = {
  maker: [
    { id: 'Model-5', contextWindow: 400, price: { in: 1, out: 2 }, images: true },
    { id: 'model-5-mini', contextWindow: 300, price: { in: 0.1, out: 0.2 } },
    { id: 'o3', contextWindow: 200 },
    { id: 'opus-4-1', contextWindow: 200, price: { in: 15, out: 75 } },
    { id: 'opus-4-5', contextWindow: 180, price: { in: 5, out: 25 } },
  ],
  other: [
    { id: 'maker/model-5', contextWindow: 100, maxOutput: 50, price: { in: 3, out: 4 }, images: true },
    { id: 'MODEL-7', contextWindow: 70 },
  ],
  router: [
    { id: 'router/auto', contextWindow: 2_000_000 },
    { id: 'router/free', contextWindow: 200_000 },
    { id: 'seer-4-vision', contextWindow: 1_000_000, images: false, reasoning: { levels: [] } },
    { id: 'seer-4-2024', contextWindow: 900_000, images: false, reasoning: { levels: [] } },
  ],
  third: [{ id: 'model-7', contextWindow: 60, price: { in: 1, out: 1 } }],
};

describe('a model is found', () => {
  test.each<[string, string, string, unknown]>([
    ['by seller and id, whatever the case', 'maker', 'MODEL-5', { contextWindow: 400, price: { in: 1, out: 2 }, images: true }],
    [
      'by the id of a seller that writes the maker before it',
      'other',
      'maker/model-5',
      { contextWindow: 100, maxOutput: 50, price: { in: 3, out: 4 }, images: true },
    ],
    ['by id: the least window of all who sell it, no price where they differ', 'nobody', 'model-5', { contextWindow: 100, maxOutput: 50, images: true }],
    ['by id: a price that nobody denies', 'nobody', 'model-7', { contextWindow: 60, price: { in: 1, out: 1 } }],
    ['with the maker before its name', 'nobody', 'acme/o3', { contextWindow: 200 }],
    ['as a release of a date', 'maker', 'model-5-mini-2025-09-29', { contextWindow: 300, price: { in: 0.1, out: 0.2 } }],
    ['as the latest', 'maker', 'model-5-mini-latest', { contextWindow: 300, price: { in: 0.1, out: 0.2 } }],
    ['as a part of the wanted name, the longest first, without a price', 'nobody', 'model-5-mini-instruct-q4', { contextWindow: 300 }],
    ['as a name of which the wanted is a part: the least', 'nobody', 'opus-4', { contextWindow: 180 }],
    ['behind a region', 'nobody', 'eu.maker.opus-4-1-v1:0', { contextWindow: 200 }],
    ['not as another version', 'nobody', 'model-5.2', undefined],
    ['not within a word', 'nobody', 'supermodel-55', undefined],
    ['not by a name that is too short', 'nobody', 'opu', undefined],
    ['by seller and id, though the name says nothing', 'router', 'router/auto', { contextWindow: 2_000_000 }],
    ['not by a name that says nothing', 'nobody', 'auto', undefined],
    ['not by parts that say nothing', 'nobody', 'my/auto-coder', undefined],
    ['not by what stands behind a name', 'nobody', 'vision', undefined],
    ['not by a year', 'nobody', '2024', undefined],
    ['as a part, which does not say what it cannot do', 'nobody', 'seer-4-vision-tuned', { contextWindow: 1_000_000 }],
    ['as a family, which does not say what it cannot do', 'nobody', 'seer-4', { contextWindow: 900_000 }],
    ['not by a letter', 'nobody', 'm', undefined],
    ['not by nothing', 'nobody', '', undefined],
    ['not when it is another', 'nobody', 'test-model', undefined],
  ])('%s', (_name, seller, model, expected) => {
    expect(new ModelIndex(CATALOGUE).find(seller, model)).toEqual(expected);
  });
});

test.each([
  ['https://api.openai.com/v1', 'env', 'openai'],
  ['https://eu.api.openai.com/v1', 'env', 'openai'],
  ['https://api.moonshot.cn/v1', 'env', 'moonshotai'],
  ['https://generativelanguage.googleapis.com/v1beta/openai', 'x', 'google'],
  ['https://openrouter.ai/api/v1', 'x', 'openrouter'],
  ['https://notopenai.com/v1', 'Groq', 'groq'],
  ['no address', 'Mine', 'mine'],
])('%s of %s sells as %s', (url, name, seller) => {
  expect(sellerOf(url, name)).toBe(seller);
});

test.each([
  ['http://localhost:11434/v1', 'loopback'],
  ['http://127.0.0.1:8080/v1', 'loopback'],
  ['http://127.9.9.9', 'loopback'],
  ['http://[::1]:1234/v1', 'loopback'],
  ['http://0.0.0.0:8000', 'loopback'],
  ['http://model.localhost', 'loopback'],
  ['http://192.168.1.4:8000/v1', 'private'],
  ['http://10.0.0.1/v1', 'private'],
  ['http://172.20.0.2', 'private'],
  ['http://[fd00::1]/v1', 'private'],
  ['http://ollama:11434/v1', 'private'],
  ['http://gpu.lan/v1', 'private'],
  ['http://[::ffff:127.0.0.1]:1234/v1', 'loopback'],
  ['http://[::ffff:10.0.0.1]/v1', 'private'],
  ['http://[::ffff:8.8.8.8]/v1', 'public'],
  ['http://172.32.0.2', 'public'],
  ['https://10.example.com/v1', 'public'],
  ['https://api.openai.com/v1', 'public'],
  ['https://127.0.0.1.example.com', 'public'],
  ['http://[2001:db8::1]/v1', 'public'],
])('%s is %s', (url, reach) => {
  expect(reachOf(url)).toBe(reach);
});

test.each([
  ['http://a:1/v1', 'http://a:1'],
  ['http://a:1/api/v1', 'http://a:1'],
  ['http://a:1/proxy/v1/', 'http://a:1/proxy'],
  ['http://a:1', 'http://a:1'],
])('the server of %s is at %s', (url, root) => {
  expect(rootOf(url)).toBe(root);
});

describe('the snapshot', () => {
  const table = readTable(SNAPSHOT);
  const all = Object.values(table).flat();
  test('holds many models, each with a window, and no model twice', () => {
    expect(all.length).toBeGreaterThan(200);
    expect(all.filter(({ contextWindow = 0 }) => contextWindow < 8_000).map(({ id }) => id)).toEqual([]);
    for (const models of Object.values(table)) expect(new Set(models.map(({ id }) => id)).size).toBe(models.length);
  });
  test('has prices that can be prices, and outputs that fit into the window', () => {
    expect(all.filter(({ price }) => price && !(price.in > 0 && price.in <= price.out * 2 && price.out < 1000)).map(({ id }) => id)).toEqual([]);
    expect(all.filter(({ price }) => price?.cacheRead !== undefined && price.cacheRead > price.in).map(({ id }) => id)).toEqual([]);
    expect(all.filter(({ contextWindow = 0, maxOutput = 0 }) => maxOutput > contextWindow).map(({ id }) => id)).toEqual([]);
  });
  test.each([
    [
      'openai',
      'gpt-5',
      {
        contextWindow: 400_000,
        maxOutput: 128_000,
        price: { in: 1.25, out: 10, cacheRead: 0.125 },
        reasoning: { levels: ['minimal', 'low', 'medium', 'high'], default: 'medium' },
        images: true,
      },
    ],
    ['openai', 'gpt-4.1', { contextWindow: 1_047_576, maxOutput: 32_768, price: { in: 2, out: 8, cacheRead: 0.5 }, reasoning: { levels: [] }, images: true }],
    ['openai', 'gpt-5.1', { reasoning: { levels: ['off', 'low', 'medium', 'high'], default: 'off' } }],
    [
      'anthropic',
      'claude-opus-4-7',
      { contextWindow: 1_000_000, maxOutput: 128_000, price: { in: 5, out: 25, cacheRead: 0.5, cacheWrite: 6.25 }, images: true },
    ],
    ['groq', 'openai/gpt-oss-20b', { contextWindow: 131_072, price: { in: 0.075, out: 0.3, cacheRead: 0.0375 } }],
  ])('knows %s %s', (seller, model, facts) => {
    expect(snapshot().find(seller, model)).toMatchObject(facts);
  });
  test.each(['m', 'gpt', 'test-model', 'default', 'model', 'chat', 'mini', 'auto', 'latest', 'pro', 'vision', 'code', 'instruct', 'my-model:latest', '2024'])(
    'knows nothing of %s',
    (model) => {
      expect(snapshot().find('nobody', model)).toBeUndefined();
    },
  );
});
