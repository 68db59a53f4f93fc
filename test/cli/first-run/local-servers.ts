/** Stand-ins for the servers that people run on their machines: what each answers, as far as a set-up and a run look at it. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

type Answers = Readonly<Record<string, unknown>>;
export interface LocalKind {
  /** As it is shown. */
  readonly name: string;
  readonly model: string;
  /** Tokens that the server really runs the model with. */
  readonly window: number;
  readonly answers: Answers;
}

const listing = (id: string, more: object = {}): Answers => ({ 'GET /v1/models': { object: 'list', data: [{ id, object: 'model', ...more }] } });

export const LOCAL_KINDS: readonly LocalKind[] = [
  {
    name: 'Ollama',
    model: 'qwen3:8b',
    window: 12_288,
    answers: {
      ...listing('qwen3:8b', { owned_by: 'library' }),
      'GET /api/ps': { models: [{ name: 'qwen3:8b', model: 'qwen3:8b', context_length: 12_288 }] },
      'POST /api/show': { model_info: { 'qwen3.context_length': 40_960 }, parameters: '', capabilities: ['completion', 'tools', 'thinking'] },
    },
  },
  {
    name: 'LM Studio',
    model: 'gemma-3-4b',
    window: 9_216,
    answers: {
      ...listing('gemma-3-4b'),
      'GET /api/v0/models': {
        data: [{ id: 'gemma-3-4b', object: 'model', type: 'llm', state: 'loaded', max_context_length: 131_072, loaded_context_length: 9_216 }],
      },
    },
  },
  {
    name: 'llama.cpp',
    model: 'some-model.gguf',
    window: 6_144,
    answers: {
      ...listing('some-model.gguf', { meta: { n_ctx_train: 32_768 } }),
      'GET /props': { default_generation_settings: { n_ctx: 6_144 }, total_slots: 1 },
    },
  },
  { name: 'vLLM', model: 'org/some-model', window: 17_408, answers: listing('org/some-model', { owned_by: 'vllm', max_model_len: 17_408 }) },
];

export interface LocalServer {
  readonly port: number;
  close(): Promise<void>;
}

export const startLocalServer = async (answers: Answers, reply = 'hello from here', { status = 200 } = {}): Promise<LocalServer> => {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const path = `${request.method} ${request.url}`;
      if (status !== 200) return void response.writeHead(status).end('{}');
      if (path === 'POST /v1/chat/completions') {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: reply }, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`);
      } else {
        response.writeHead(path in answers ? 200 : 404, { 'content-type': 'application/json' });
        response.end(JSON.stringify(answers[path] ?? { error: { message: 'not found' } }));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
