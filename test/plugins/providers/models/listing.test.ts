import { describe, expect, test } from 'vitest';
import { createFetch } from '../../../../kernel/host/fetch.ts';
import { listModels, readListing } from '../../../../plugins/providers/models/listing.ts';
import { aim } from '../../../../plugins/providers/target.ts';
import { standIn } from './stand-ins.ts';

describe('the many shapes of a listing', () => {
  test.each<[string, unknown, unknown]>([
    ['OpenAI', { object: 'list', data: [{ id: 'gpt-x', object: 'model', owned_by: 'openai' }] }, [{ id: 'gpt-x' }]],
    [
      'OpenRouter',
      {
        data: [
          {
            id: 'a/b',
            name: 'B',
            context_length: 200_000,
            architecture: { input_modalities: ['text', 'image'], output_modalities: ['text'] },
            top_provider: { context_length: 128_000, max_completion_tokens: 32_000 },
            pricing: { prompt: '0.00000025', completion: '0.0000015', input_cache_read: '0.000000025', input_cache_write: '0.0000003', image: '0.1' },
            supported_parameters: ['reasoning', 'tools'],
            reasoning: { supported_efforts: ['high', 'low', 'medium'], default_effort: 'medium', mandatory: false },
          },
        ],
      },
      [
        {
          id: 'a/b',
          contextWindow: 128_000,
          maxOutput: 32_000,
          price: { in: 0.25, out: 1.5, cacheRead: 0.025, cacheWrite: 0.3 },
          reasoning: { levels: ['off', 'low', 'medium', 'high'], default: 'medium' },
          images: true,
        },
      ],
    ],
    [
      'OpenRouter, a model that always reasons, one that takes every effort, one that never reasons',
      {
        data: [
          { id: 'a', reasoning: { supported_efforts: ['high', 'xhigh'], mandatory: true } },
          { id: 'b', reasoning: { supported_efforts: null, default_enabled: false } },
          { id: 'c', supported_parameters: ['tools'], reasoning: null },
          { id: 'd', supported_parameters: ['reasoning'] },
        ],
      },
      [
        { id: 'a', reasoning: { levels: ['high', 'xhigh'] } },
        { id: 'b', reasoning: { levels: ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'], default: 'off' } },
        { id: 'c', reasoning: { levels: [] } },
        { id: 'd', reasoning: { levels: ['off', 'low', 'medium', 'high'] } },
      ],
    ],
    ['a price that is none', { data: [{ id: 'auto', pricing: { prompt: '-1', completion: '-1' } }] }, [{ id: 'auto' }]],
    ['a price of nothing', { data: [{ id: 'free', pricing: { prompt: '0', completion: '0' } }] }, [{ id: 'free', price: { in: 0, out: 0 } }]],
    ['vLLM', { data: [{ id: 'm', owned_by: 'vllm', max_model_len: 4096 }] }, [{ id: 'm', contextWindow: 4096 }]],
    [
      'Mistral',
      { data: [{ id: 'm', max_context_length: 131_072, capabilities: { completion_chat: true, vision: true, reasoning: false } }] },
      [{ id: 'm', contextWindow: 131_072, images: true, reasoning: { levels: [] } }],
    ],
    [
      'Groq',
      { data: [{ id: 'm', active: true, context_window: 131_072, max_completion_tokens: 65_536 }] },
      [{ id: 'm', contextWindow: 131_072, maxOutput: 65_536 }],
    ],
    [
      'Together: a list at the top, prices a million',
      [
        { id: 'm', type: 'chat', context_length: 262_144, pricing: { hourly: 0, input: 0.88, output: 0.9, base: 0, finetune: 0 } },
        { id: 'e', type: 'embedding', context_length: 512 },
        { id: 'i', type: 'image' },
      ],
      [{ id: 'm', contextWindow: 262_144, price: { in: 0.88, out: 0.9 } }],
    ],
    [
      'Vercel: the same words, prices a token',
      { data: [{ id: 'm', context_window: 200_000, max_tokens: 64_000, pricing: { input: '0.000003', output: '0.000015', input_cache_read: '0.0000003' } }] },
      [{ id: 'm', contextWindow: 200_000, maxOutput: 64_000, price: { in: 3, out: 15, cacheRead: 0.3 } }],
    ],
    [
      'DeepInfra',
      { data: [{ id: 'm', metadata: { context_length: 32_768, max_tokens: 16_384, pricing: { input_tokens: 0.1, output_tokens: 0.3 } } }] },
      [{ id: 'm', contextWindow: 32_768, maxOutput: 16_384, price: { in: 0.1, out: 0.3 } }],
    ],
    [
      'Google',
      { models: [{ name: 'models/g', inputTokenLimit: 1_048_576, outputTokenLimit: 65_536 }] },
      [{ id: 'models/g', contextWindow: 1_048_576, maxOutput: 65_536 }],
    ],
    [
      'Anthropic',
      { data: [{ id: 'c', type: 'model', max_input_tokens: 200_000, max_tokens: 64_000 }] },
      [{ id: 'c', contextWindow: 200_000, maxOutput: 64_000 }],
    ],
    [
      'Copilot',
      {
        data: [
          {
            id: 'c',
            capabilities: {
              limits: { max_context_window_tokens: 128_000, max_output_tokens: 16_384 },
              supports: { vision: true, reasoning_effort: ['high', 'low'] },
            },
          },
        ],
      },
      [{ id: 'c', contextWindow: 128_000, maxOutput: 16_384, images: true, reasoning: { levels: ['low', 'high'] } }],
    ],
    ['llama.cpp', { models: [{ name: 'm' }], data: [{ id: 'm', meta: { n_ctx_train: 8192 } }] }, [{ id: 'm', contextWindow: 8192 }]],
    [
      'LM Studio',
      {
        data: [
          { id: 'v', type: 'vlm', max_context_length: 9, loaded_context_length: 8 },
          { id: 'e', type: 'embeddings' },
        ],
      },
      [{ id: 'v', contextWindow: 8, images: true }],
    ],
    [
      'only what writes text',
      {
        data: [
          { id: 'i', architecture: { modality: 'text->image' } },
          { id: 't', architecture: { modality: 'text+image->text' } },
        ],
      },
      [{ id: 't', images: true }],
    ],
    [
      'junk',
      {
        data: [
          null,
          7,
          'm',
          {},
          { id: '' },
          { id: 'm', context_length: 'many', pricing: 'cheap', reasoning: [], capabilities: 4 },
          { id: 'm', context_length: 5 },
          { id: 'n', context_length: -1 },
        ],
      },
      [{ id: 'm' }, { id: 'n' }],
    ],
    ['nothing', undefined, []],
    ['a text', 'models', []],
  ])('%s', (_name, body, models) => {
    expect(readListing(body)).toEqual(models);
  });

  test('has a bound', () => {
    expect(readListing({ data: Array.from({ length: 9000 }, (_, index) => ({ id: `m${index}` })) })).toHaveLength(5000);
  });
});

describe('asking for it', () => {
  const ask = async (routes: Readonly<Record<string, unknown>>, key?: string) => {
    const server = await standIn(routes);
    const target = await aim({ name: 'p', config: { baseUrl: `${server.baseUrl}/chat/completions` }, secret: async () => key, version: '1', now: () => 0 });
    return { server, answer: listModels(target, createFetch({}) as typeof fetch, new AbortController().signal) };
  };

  test('one request, with the key', async () => {
    const { server, answer } = await ask({ '/v1/models': { data: [{ id: 'm' }] } }, 'k-1');
    expect(await answer).toEqual([{ id: 'm' }]);
    expect(server.asked.map(({ method, path, authorization }) => [method, path, authorization])).toEqual([['GET', '/v1/models', 'Bearer k-1']]);
  });

  const refuses = (status: number, body: string) => (_incoming: unknown, reply: { writeHead(status: number): { end(text: string): void } }) =>
    reply.writeHead(status).end(body);
  test.each<[string, unknown, string, RegExp]>([
    ['a key that is not taken', refuses(401, '{"error":{"message":"bad key"}}'), 'auth', /refused the API key/],
    ['no list at all', undefined, 'not_found', /lists no models \(HTTP 404\)/],
    ['a page', refuses(200, '<html>hello</html>'), 'bad_request', /no list of models/],
    ['more than one can take', refuses(200, `[${'"x",'.repeat(6_000_000)}0]`), 'bad_request', /longer than/],
    ['a server that fails', refuses(503, 'down'), 'overload', /HTTP 503/],
  ])('%s is an error that says so, and is not asked again', async (_name, route, kind, message) => {
    const { server, answer } = await ask(route === undefined ? {} : { '/v1/models': route }, 'k-1');
    await expect(answer).rejects.toMatchObject({ name: 'ProviderError', kind, message: expect.stringMatching(message) });
    expect(server.asked).toHaveLength(1);
  });

  test('a redirect is not followed: the headers are for the configured origin alone', async () => {
    const elsewhere = await standIn({ '/v1/models': { data: [{ id: 'stolen' }] } });
    const moved = (_incoming: unknown, reply: { writeHead(status: number, headers: object): { end(): void } }) =>
      reply.writeHead(307, { location: `${elsewhere.baseUrl}/models` }).end();
    const { answer } = await ask({ '/v1/models': moved }, 'k-1');
    await expect(answer).rejects.toMatchObject({ name: 'ProviderError', message: expect.stringContaining('HTTP 307') });
    expect(elsewhere.asked).toEqual([]);
  });

  test('nobody there', async () => {
    const target = await aim({ name: 'p', config: { baseUrl: 'http://127.0.0.1:9/v1' }, secret: async () => undefined, version: '1', now: () => 0 });
    await expect(listModels(target, createFetch({}) as typeof fetch, new AbortController().signal)).rejects.toMatchObject({ kind: 'network' });
  });
});
