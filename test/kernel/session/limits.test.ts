/** What is known of a model decides how much is asked of it, and what it costs. */
import { describe, expect, test } from 'vitest';
import { definePlugin, type CastConfig, type Delta, type ModelInfo, type ModelRequest, type Plugin } from 'cast';
import { createTestSession, type TestSession } from 'cast/testkit';

const USAGE: Delta = { type: 'usage', promptTokens: 1_000_000, completionTokens: 100_000, totalTokens: 1_100_000, cacheReadTokens: 400_000 };

/** A session with a provider that knows this of its models. */
const open = async (
  info: Omit<ModelInfo, 'id'> | undefined,
  { usage = USAGE, taps = [], ...config }: CastConfig & { readonly usage?: Delta | undefined; readonly taps?: readonly Plugin[] } = {},
): Promise<{ session: TestSession; requests: readonly ModelRequest[] }> => {
  const requests: ModelRequest[] = [];
  const plugin = definePlugin({
    name: 'maker',
    apply: ({ registries }) =>
      void registries.providers.add({
        name: 'made',
        info: (model) => info && { id: model, ...info },
        async *stream(request) {
          requests.push(request);
          yield { type: 'text', text: 'fine' };
          yield usage;
          yield { type: 'end', reason: 'stop' };
        },
      }),
  });
  return { session: await createTestSession({ plugins: [plugin, ...taps], config: { provider: 'made', model: 'm', ...config } }), requests };
};

describe('how much is asked for', () => {
  test.each<[string, Omit<ModelInfo, 'id'> | undefined, CastConfig, number, number]>([
    ['nothing is known', undefined, {}, 128_000, 8_192],
    ['the configuration knows it', undefined, { limits: { contextWindow: 50_000, maxOutputTokens: 4_000 } }, 50_000, 4_000],
    ['the model is known better', { contextWindow: 60_000, maxOutput: 3_000 }, { limits: { contextWindow: 50_000, maxOutputTokens: 4_000 } }, 60_000, 3_000],
    ['the model is known to say a lot', { contextWindow: 60_000, maxOutput: 30_000 }, {}, 60_000, 30_000],
    ['but not without end', { contextWindow: 200_000, maxOutput: 128_000 }, {}, 200_000, 32_000],
    ['the model could say more than is wanted', { contextWindow: 60_000, maxOutput: 30_000 }, { limits: { maxOutputTokens: 4_000 } }, 60_000, 4_000],
  ])('%s', async (_name, info, config, window, output) => {
    const { session, requests } = await open(info, config);
    await using _ = session;
    expect((await session.client.snapshot()).window).toBe(window);
    await session.run('hi');
    expect(requests[0]).toMatchObject({ provider: 'made', model: 'm', maxOutputTokens: output });
  });

  test('whatever a tap makes of a request, the model that is asked decides how long its reply may be', async () => {
    const other = definePlugin({
      name: 'other',
      apply: ({ hooks }) =>
        hooks.request.tap('ask for a lot', { stage: 'late' }, ({ messages }) => ({
          maxOutputTokens: 90_000,
          messages: [...messages, { role: 'user', origin: 'other', blocks: [{ type: 'text', text: 'x'.repeat(4 * 5_000) }] }],
        })),
    });
    const { session, requests } = await open({ contextWindow: 20_000, maxOutput: 16_000 }, { taps: [other] });
    await using _ = session;
    await session.run('hi');
    expect(requests[0]?.maxOutputTokens).toBeLessThan(20_000 - 5_000 - 1_024);
    expect(requests[0]?.maxOutputTokens).toBeGreaterThan(13_500);
  });

  test('a small window leaves room for the prompt, and always some for an answer', async () => {
    const { session, requests } = await open({ contextWindow: 4_096 });
    await using _ = session;
    await session.run('hi');
    await session.run('x'.repeat(4 * 2_000));
    await session.run('x'.repeat(4 * 2_000));
    const asked = requests.map(({ maxOutputTokens = 0 }) => maxOutputTokens);
    expect(asked[0]).toBeGreaterThan(2_500);
    expect(asked[0]).toBeLessThan(4_096 - 1_024);
    expect(asked[1]).toBeLessThan(1_100);
    expect(asked[2]).toBe(256);
  });
});

describe('what it costs', () => {
  const price = { in: 2, out: 10 };
  test.each<[string, ModelInfo['price'], Delta | undefined, number | undefined]>([
    ['tokens by their price', price, undefined, 3],
    ['cached ones by their own', { ...price, cacheRead: 0.5 }, undefined, 2.4],
    ['written ones by their own', { ...price, cacheWrite: 3 }, { ...USAGE, cacheReadTokens: 0, cacheWriteTokens: 1_000_000 } as Delta, 4],
    ['what the provider says comes first', price, { ...USAGE, cost: 0.25 } as Delta, 0.25],
    ['unknown without a price', undefined, undefined, undefined],
  ])('%s', async (_name, given, usage, cost) => {
    const { session } = await open(given ? { price: given } : {}, usage ? { usage } : {});
    await using _ = session;
    const ended = await session.run('hi');
    expect(ended.usage.cost).toBe(cost);
    expect(session.events('usage')[0]).toMatchObject({ provider: 'made', model: 'm', purpose: 'main' });
  });
});

test('what a provider does not count is estimated, of all that was sent', async () => {
  const wordy = definePlugin({
    name: 'wordy',
    apply: ({ registries }) => void registries.sections.add({ name: 'wordy', slot: 'conduct', text: () => 'word '.repeat(4_000) }),
  });
  const { session } = await open(undefined, { usage: { type: 'text', text: '' }, taps: [wordy] });
  await using _ = session;
  await session.run('hi');
  const [booked] = session.events('usage');
  expect(booked).toMatchObject({ estimated: true });
  expect(booked?.usage.promptTokens).toBeGreaterThan(5_000);
});
