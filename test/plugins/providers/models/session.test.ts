/** What a session knows of its model: before the first request, behind it, and the next time. */
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { CastConfig, Kernel, OpenSession, ProviderConfig } from '../../../../kernel/index.ts';
import { createKernel } from '../../../../kernel/host/kernel.ts';
import providers from '../../../../plugins/providers/index.ts';
import { manifest } from '../../../../plugins/providers/manifest.ts';
import { hangs, home, later, llamaCpp, lmStudio, ollama, type Routes, speaks, type StandIn, standIn, vllm } from './stand-ins.ts';

const kernelIn = (folder: string): Kernel => {
  const kernel = createKernel({
    home: folder,
    version: '0.0.0',
    builtins: [{ manifest, builtin: true, source: 'test', load: async () => providers }],
  });
  later(() => kernel.shutdown('test over'));
  return kernel;
};
const open = async (folder: string, model: string, provider: ProviderConfig, more: CastConfig = {}): Promise<OpenSession> => {
  const data: CastConfig = { provider: 'here', model, providers: { here: provider }, ...more };
  return kernelIn(folder).open({
    cwd: folder,
    root: folder,
    interactive: false,
    environment: {},
    layers: [{ name: 'flags', data }],
    plugins: [],
    ephemeral: true,
  });
};
let turns = 0;
/** Runs one turn; the usage that was booked. */
const turn = async ({ client }: OpenSession) => {
  const clientId = `turn-${++turns}`;
  const booked: { cost?: number }[] = [];
  const over = (async () => {
    for await (const event of client.events()) {
      if (event.type === 'usage') booked.push(event.data.usage);
      if (event.type === 'turn.ended' && event.data.clientId === clientId) return event.data;
    }
    return undefined;
  })();
  await client.submit({ text: 'hi', clientId });
  expect(await over).toMatchObject({ reason: 'stop' });
  return booked.at(-1);
};
const windowOf = async ({ client }: OpenSession): Promise<number> => (await client.snapshot()).window;
const posts = ({ asked }: StandIn) => asked.filter(({ path }) => path === '/v1/chat/completions');

describe('a server of this machine', () => {
  test.each<[string, (pauseMs?: number) => Routes, string, number]>([
    ['Ollama', (pauseMs) => ollama(16_384, pauseMs), 'qwen3:8b', 16_384],
    ['llama.cpp', llamaCpp, 'm.gguf', 12_288],
    ['vLLM', vllm, 'org/model', 24_576],
    ['LM Studio', lmStudio, 'gemma-x', 20_480],
  ])('%s: the window is read behind the first request, and known at the next start', async (_name, routes, model, window) => {
    const server = await standIn(routes());
    const folder = home();
    const session = await open(folder, model, { baseUrl: server.baseUrl });
    const before = await windowOf(session);
    expect(server.asked).toEqual([]);
    await turn(session);
    expect(server.asked[0]).toMatchObject({ method: 'POST', path: '/v1/chat/completions' });
    await vi.waitFor(async () => expect(await windowOf(session)).toBe(window), 3_000);
    expect(before).not.toBe(window);

    // In its first request it asks for no more than fits, so it has known before.
    const again = await open(folder, model, { baseUrl: server.baseUrl }, { limits: { maxOutputTokens: 100_000 } });
    expect(await windowOf(again)).toBe(window);
    const { length } = server.asked;
    await turn(again);
    expect(server.asked[length]?.path).toBe('/v1/chat/completions');
    expect(JSON.parse(posts(server).at(-1)?.body ?? '').max_tokens).toBeLessThan(window);
  });

  test('is asked once, however many requests follow', async () => {
    const server = await standIn(llamaCpp());
    const session = await open(home(), 'm.gguf', { baseUrl: server.baseUrl });
    await turn(session);
    await vi.waitFor(async () => expect(await windowOf(session)).toBe(12_288), 3_000);
    await turn(session);
    await turn(session);
    expect(posts(server)).toHaveLength(3);
    expect(server.paths().filter((path) => path === '/props')).toHaveLength(1);
  });

  test('that hangs delays neither a turn nor the end', async () => {
    const server = await standIn({ '/v1/chat/completions': speaks(), '/props': hangs, '/api/ps': hangs, '/api/v0/models': hangs, '/v1/models': hangs });
    const session = await open(home(), 'm', { baseUrl: server.baseUrl });
    const startedAt = performance.now();
    await turn(session);
    await turn(session);
    await session.close('over');
    expect(performance.now() - startedAt).toBeLessThan(1_100);
  });

  test('what it says stays on this machine, for its owner alone', async () => {
    const server = await standIn(vllm());
    const folder = home();
    await turn(await open(folder, 'org/model', { baseUrl: server.baseUrl }));
    const cache = join(folder, 'cache');
    await vi.waitFor(() => expect(existsSync(cache) && readdirSync(cache)).toEqual([expect.stringMatching(/^models-[0-9a-f]{16}\.json$/)]), 3_000);
    expect(statSync(join(cache, readdirSync(cache)[0] ?? '')).mode & 0o777).toBe(0o600);
  });

  test('a damaged file of what was learnt is as good as none', async () => {
    const server = await standIn(vllm());
    const folder = home();
    const first = await open(folder, 'org/model', { baseUrl: server.baseUrl });
    await turn(first);
    await vi.waitFor(async () => expect(await windowOf(first)).toBe(24_576), 3_000);
    const [name = ''] = readdirSync(join(folder, 'cache'));
    for (const text of ['', '{', '[]', '{"baseUrl":"http://other","models":{"org/model":{"reported":{"contextWindow":7}}}}', 'x'.repeat(300_000)]) {
      writeFileSync(join(folder, 'cache', name), text);
      expect(await windowOf(await open(folder, 'org/model', { baseUrl: server.baseUrl }))).toBe(128_000);
    }
  });

  test('without a place to write in, the window is known all the same', async () => {
    const server = await standIn(vllm());
    const folder = home();
    writeFileSync(join(folder, 'cache'), 'no folder');
    const session = await open(folder, 'org/model', { baseUrl: server.baseUrl });
    await turn(session);
    await vi.waitFor(async () => expect(await windowOf(session)).toBe(24_576), 3_000);
  });
});

describe('which source counts', () => {
  const settle = async (routes: Routes, model: string, provider: ProviderConfig, until: (paths: readonly string[]) => boolean) => {
    const server = await standIn({ '/v1/chat/completions': speaks(), ...routes });
    const session = await open(home(), model, { baseUrl: server.baseUrl, ...provider });
    await turn(session);
    await vi.waitFor(() => expect(until(server.paths())).toBe(true), 3_000);
    await new Promise((resolve) => setTimeout(resolve, 100));
    return { server, session };
  };
  const isAsked = (paths: readonly string[]): boolean => paths.includes('/v1/models');

  test('the configuration before the provider, field by field', async () => {
    const listing = { data: [{ id: 'm', context_length: 5000, pricing: { prompt: '0.000001', completion: '0.000002', input_cache_read: '0' } }] };
    const { session } = await settle({ '/v1/models': listing }, 'm', { models: { m: { contextWindow: 7000, price: { out: 4 } as never } } }, isAsked);
    expect(await windowOf(session)).toBe(7000);
    // 600,000 tokens at 1, 400,000 from the cache at 0, and 100,000 out at 4.
    expect((await turn(session))?.cost).toBeCloseTo(0.6 + 0.4, 9);
  });

  test('the provider before what is known in the world', async () => {
    const { session } = await settle({ '/v1/models': { data: [{ id: 'gpt-4.1', context_length: 9000 }] } }, 'gpt-4.1', {}, isAsked);
    expect(await windowOf(session)).toBe(9000);
  });

  test('what is known in the world before nothing, but no price of a server of one’s own', async () => {
    const { session } = await settle({}, 'gpt-4.1-2025-04-14', {}, isAsked);
    expect(await windowOf(session)).toBe(1_047_576);
    expect((await turn(session))?.cost).toBeUndefined();
  });

  test('the configuration alone is known before anything is asked', async () => {
    const session = await open(home(), 'm', { baseUrl: 'http://127.0.0.1:9/v1', models: { m: { contextWindow: 7000 } } });
    expect(await windowOf(session)).toBe(7000);
  });
});

describe('prices', () => {
  test('cost is booked from the configured price, from the first request', async () => {
    const server = await standIn({ '/v1/chat/completions': speaks() });
    const price = { in: 2, out: 10, cacheRead: 0.5 };
    const session = await open(home(), 'm', { baseUrl: server.baseUrl, models: { m: { price } } });
    expect((await turn(session))?.cost).toBeCloseTo(0.6 * 2 + 0.4 * 0.5 + 0.1 * 10, 9);
    expect((await session.client.snapshot()).usage.cost).toBeCloseTo(2.4, 9);
  });

  test('nothing is booked where no price is known', async () => {
    const server = await standIn({ '/v1/chat/completions': speaks() });
    expect(await turn(await open(home(), 'm', { baseUrl: server.baseUrl }))).not.toHaveProperty('cost');
  });

  test('what was learnt of a seller is booked at the next start', async () => {
    const server = await standIn({
      '/v1/chat/completions': speaks(),
      '/v1/models': { data: [{ id: 'a/b', pricing: { prompt: '0.000001', completion: '0.00001' } }] },
    });
    const folder = home();
    await turn(await open(folder, 'a/b', { baseUrl: server.baseUrl }));
    await vi.waitFor(() => expect(existsSync(join(folder, 'cache')) && readdirSync(join(folder, 'cache'))).toHaveLength(1), 3_000);
    expect((await turn(await open(folder, 'a/b', { baseUrl: server.baseUrl })))?.cost).toBeCloseTo(1 + 1, 9);
  });
});

describe('a session without a provider of ours', () => {
  test('reads no file', async () => {
    const folder = home();
    mkdirSync(join(folder, 'cache'));
    const session = await open(folder, 'm', { baseUrl: 'no address' });
    expect(await windowOf(session)).toBe(128_000);
  });
});
