import { describe, expect, test } from 'vitest';
import { createFetch } from '../../../../kernel/host/fetch.ts';
import { findLocalServers } from '../../../../plugins/providers/models/local.ts';
import { readLocalModel } from '../../../../plugins/providers/models/local.ts';
import { hangs, llamaCpp, lmStudio, ollama, type Routes, standIn, vllm } from './stand-ins.ts';

const fetch = createFetch({}) as typeof globalThis.fetch;
const signal = new AbortController().signal;

describe('the window of a model on this machine', () => {
  const read = async (routes: Routes, model: string) => {
    const server = await standIn(routes);
    return { server, facts: await readLocalModel({ fetch, signal, baseUrl: server.baseUrl, model }) };
  };
  const { '/api/ps': _ps, ...ollamaWithout } = ollama();

  test.each<[string, Routes, string, unknown]>([
    ['Ollama: the one that runs', ollama(), 'qwen3:8b', { contextWindow: 16_384, images: false }],
    [
      'Ollama: without a tag',
      { ...ollama(), '/api/ps': { models: [{ name: 'gemma3:latest', context_length: 4096 }] }, '/api/show': { capabilities: ['completion', 'vision'] } },
      'gemma3',
      { contextWindow: 4096, images: true, reasoning: { levels: [] } },
    ],
    ['Ollama: not loaded, so what its file sets', { ...ollamaWithout, '/api/ps': { models: [] } }, 'qwen3:8b', { contextWindow: 8192, images: false }],
    [
      'Ollama: nothing set, so what it was made for',
      { ...ollamaWithout, '/api/ps': { models: [] }, '/api/show': { model_info: { 'qwen3.context_length': 40_960 } } },
      'qwen3:8b',
      { contextWindow: 40_960 },
    ],
    ['llama.cpp: what a slot has, not what it was trained with', llamaCpp(), 'm.gguf', { contextWindow: 12_288, images: true }],
    ['llama.cpp: under any name', llamaCpp(), 'gpt-4', { contextWindow: 12_288, images: true }],
    ['vLLM', vllm(), 'org/model', { contextWindow: 24_576 }],
    ['LM Studio: what is loaded', lmStudio(), 'gemma-x', { contextWindow: 20_480, images: true }],
    ['LM Studio: what could be', lmStudio(), 'llama-x', { contextWindow: 65_536, images: false }],
    ['a proxy that lists', { '/v1/models': { data: [{ id: 'm', context_length: 9000 }] } }, 'm', { contextWindow: 9000 }],
    ['a server that knows nothing', {}, 'm', undefined],
    ['a server that answers everything with a page', { '/api/ps': 'hello', '/props': [], '/api/v0/models': null, '/v1/models': '<html>' }, 'm', undefined],
  ])('%s', async (_name, routes, model, facts) => {
    expect((await read(routes, model)).facts).toEqual(facts);
  });

  test('a server that hangs costs no more than a moment', async () => {
    const startedAt = performance.now();
    const { facts } = await read({ ...vllm(), '/api/ps': hangs, '/props': hangs, '/api/v0/models': hangs }, 'org/model');
    expect(facts).toEqual({ contextWindow: 24_576 });
    expect(performance.now() - startedAt).toBeLessThan(2_500);
  });

  test('only this machine is asked, and only Ollama to show a model', async () => {
    const { server } = await read(ollama(), 'qwen3:8b');
    expect([...server.paths()].sort()).toEqual(['/api/ps', '/api/show', '/api/v0/models', '/props', '/v1/models']);
    expect(JSON.parse(server.asked.find(({ path }) => path === '/api/show')?.body ?? '')).toEqual({ model: 'qwen3:8b' });
    const asked: string[] = [];
    const spy = (async (url: string) => void asked.push(url)) as unknown as typeof fetch;
    expect(await readLocalModel({ fetch: spy, signal, baseUrl: 'http://192.168.1.9/v1', model: 'm' })).toBeUndefined();
    expect(asked).toEqual([]);
  });
});

describe('servers of this machine', () => {
  test('are found by what answers, whatever their port', async () => {
    const [one, two, three, four, five, six] = await Promise.all([
      standIn(ollama()),
      standIn(lmStudio()),
      standIn(llamaCpp()),
      standIn(vllm()),
      standIn({ '/v1/models': { data: [{ id: 'm' }] } }),
      standIn({ '/api/ps': hangs, '/props': hangs, '/api/v0/models': hangs, '/v1/models': hangs }),
    ]);
    const startedAt = performance.now();
    const found = await findLocalServers(fetch, signal, { ports: [one, two, three, four, five, six].map(({ port }) => port) });
    expect(performance.now() - startedAt).toBeLessThan(2_500);
    expect(found).toEqual([
      { kind: 'ollama', name: 'Ollama', baseUrl: one.baseUrl, models: [{ id: 'qwen3:8b', contextWindow: 16_384 }] },
      {
        kind: 'lm-studio',
        name: 'LM Studio',
        baseUrl: two.baseUrl,
        models: [
          { id: 'gemma-x', contextWindow: 20_480, images: true },
          { id: 'llama-x', contextWindow: 65_536, images: false },
        ],
      },
      { kind: 'llama.cpp', name: 'llama.cpp', baseUrl: three.baseUrl, models: [{ id: 'm.gguf', contextWindow: 12_288, images: true }] },
      { kind: 'vllm', name: 'vLLM', baseUrl: four.baseUrl, models: [{ id: 'org/model', contextWindow: 24_576 }] },
    ]);
  });

  test.each([
    ['a host and a port', (port: number) => `127.0.0.1:${port}`, 1],
    ['an address', (port: number) => `http://localhost:${port}/`, 1],
    ['a port', (port: number) => `:${port}`, 1],
    ['all interfaces', (port: number) => `0.0.0.0:${port}`, 1],
    ['another machine', (port: number) => `192.168.1.9:${port}`, 0],
    ['nonsense', () => ':::', 0],
  ])('OLLAMA_HOST as %s', async (_name, host, count) => {
    const { port } = await standIn(ollama());
    expect(await findLocalServers(fetch, signal, { ports: [], environment: { OLLAMA_HOST: host(port) } })).toHaveLength(count);
  });

  test('an abort ends the search', async () => {
    const { port } = await standIn({ '/api/ps': hangs, '/props': hangs, '/api/v0/models': hangs, '/v1/models': hangs });
    const over = new AbortController();
    const found = findLocalServers(fetch, over.signal, { ports: [port] });
    over.abort();
    const startedAt = performance.now();
    expect(await found).toEqual([]);
    expect(performance.now() - startedAt).toBeLessThan(500);
  });
});
