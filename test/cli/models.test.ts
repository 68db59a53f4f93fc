/** What a run learns about its model, as a process of its own: never at the cost of the run. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hangs, llamaCpp, ollama, speaks, standIn, vllm } from '../plugins/providers/models/stand-ins.ts';
import { useCommand } from './command.ts';

const { cast, project } = useCommand();
const environment = (baseUrl: string, model: string, more: Readonly<Record<string, string>> = {}) => ({
  env: { CAST_BASE_URL: baseUrl, CAST_MODEL: model, CAST_API_KEY: 'key-of-the-test', CAST_NO_DAEMON: '1', ...more },
});

describe('cast run with a server of this machine', () => {
  test.each([
    ['Ollama', ollama(16_384, 900), 'qwen3:8b', 16_384],
    ['llama.cpp', llamaCpp(900), 'm.gguf', 12_288],
    ['vLLM', vllm(900), 'org/model', 24_576],
  ])('%s: asks nothing before its first request, and has learnt the window by the end of the reply', async (_name, routes, model, window) => {
    const server = await standIn(routes);
    const place = project();
    const run = await cast(['run', '--format', 'json', 'hi'], { place, ...environment(server.baseUrl, model) });
    expect([run.code, JSON.parse(run.stdout)], run.stderr).toMatchObject([0, { result: 'hello' }]);
    expect(server.asked[0]).toMatchObject({ method: 'POST', path: '/v1/chat/completions' });
    const cache = join(place.castHome, 'cache');
    const file = readdirSync(cache).find((name) => name.startsWith('models-')) ?? '';
    expect(JSON.parse(readFileSync(join(cache, file), 'utf8'))).toMatchObject({
      baseUrl: server.baseUrl,
      models: { [model]: { reported: { contextWindow: window } } },
    });
  });

  test('is not held up by answers that never come', async () => {
    const quick = await standIn({ '/v1/chat/completions': speaks(500) });
    const slow = await standIn({ '/v1/chat/completions': speaks(500), '/v1/models': hangs, '/props': hangs, '/api/ps': hangs, '/api/v0/models': hangs });
    const timed = async (baseUrl: string) => {
      const run = await cast(['run', 'hi'], environment(baseUrl, 'm'));
      expect([run.code, run.stdout.trim()], run.stderr).toEqual([0, 'hello']);
      return run.ms;
    };
    await timed(quick.baseUrl);
    const without = Math.min(await timed(quick.baseUrl), await timed(quick.baseUrl));
    const withHanging = Math.min(await timed(slow.baseUrl), await timed(slow.baseUrl), await timed(slow.baseUrl));
    expect(slow.paths()).toContain('/v1/models');
    expect(withHanging).toBeLessThan(without + 700);
  });

  test('asks nothing when the first request fails', async () => {
    const server = await standIn({});
    const run = await cast(['run', 'hi'], environment(server.baseUrl, 'm'));
    expect(run.code).not.toBe(0);
    expect(new Set(server.asked.map(({ method }) => method))).toEqual(new Set(['POST']));
  });
});

describe('cost', () => {
  test('of a configured price is in the result', async () => {
    const server = await standIn({ '/v1/chat/completions': speaks() });
    const provider = { baseUrl: server.baseUrl, models: { m: { price: { in: 2, out: 10, cacheRead: 0.5 } } } };
    const place = project({ '~/settings.json': JSON.stringify({ provider: 'mine', model: 'm', providers: { mine: provider } }) });
    const run = await cast(['run', '--format', 'json', 'hi'], { place, env: { CAST_NO_DAEMON: '1' } });
    expect(run.code, run.stderr).toBe(0);
    expect(JSON.parse(run.stdout).usage.cost).toBeCloseTo(2.4, 9);
  });

  test('the catalogue is never fetched for a server of this machine', async () => {
    const server = await standIn(vllm(300));
    const place = project();
    await cast(['run', 'hi'], { place, ...environment(server.baseUrl, 'unheard-of-model') });
    expect(existsSync(join(place.castHome, 'cache', 'models-dev.json'))).toBe(false);
  });
});
