/** Servers on loopback that answer about models as the real ones do, and say what they were asked. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});
export const later = (clean: () => unknown): void => void cleanups.push(clean);

export interface Asked {
  readonly path: string;
  readonly method: string;
  readonly authorization: string | undefined;
  readonly body: string;
}
export interface StandIn {
  /** Without a path. */
  readonly root: string;
  readonly baseUrl: string;
  readonly port: number;
  readonly asked: Asked[];
  paths(): readonly string[];
}
/** What is answered to a path: a value as JSON, or a handler. Any other path is not found. */
export type Routes = Readonly<Record<string, unknown>>;

export const standIn = async (routes: Routes): Promise<StandIn> => {
  const asked: Asked[] = [];
  const server = createServer(async (incoming, reply) => {
    let body = '';
    for await (const chunk of incoming) body += chunk;
    asked.push({ path: incoming.url ?? '', method: incoming.method ?? '', authorization: incoming.headers.authorization, body });
    const route = routes[incoming.url ?? ''];
    if (typeof route === 'function') return (route as RequestListener)(incoming, reply);
    reply.writeHead(route === undefined ? 404 : 200, { 'content-type': 'application/json' });
    reply.end(JSON.stringify(route ?? { error: 'not found' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  later(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  const root = `http://127.0.0.1:${port}`;
  return { root, baseUrl: `${root}/v1`, port, asked, paths: () => asked.map(({ path }) => path) };
};

export const hangs: RequestListener = () => undefined;

const frame = (delta: object, finish: string | null = null): string => `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const USAGE = { prompt_tokens: 1_000_000, completion_tokens: 100_000, total_tokens: 1_100_000, prompt_tokens_details: { cached_tokens: 400_000 } };

/** A streamed reply; `pauseMs` lies between its first part and its last, as long as a model takes to speak. */
export const speaks =
  (pauseMs = 0): RequestListener =>
  (_incoming, reply) => {
    reply.writeHead(200, { 'content-type': 'text/event-stream' });
    reply.write(frame({ role: 'assistant', content: 'hel' }));
    setTimeout(
      () => reply.end(`${frame({ content: 'lo' })}${frame({}, 'stop')}data: ${JSON.stringify({ choices: [], usage: USAGE })}\n\ndata: [DONE]\n\n`),
      pauseMs,
    );
  };

// ---- what the servers answer ----

export const ollama = (context = 16_384, pauseMs?: number): Routes => ({
  '/v1/chat/completions': speaks(pauseMs),
  '/v1/models': { object: 'list', data: [{ id: 'qwen3:8b', object: 'model', owned_by: 'library' }] },
  '/api/ps': { models: [{ name: 'qwen3:8b', model: 'qwen3:8b', size: 1, context_length: context }] },
  '/api/show': {
    parameters: 'stop                           "<|im_end|>"\nnum_ctx                        8192',
    model_info: { 'general.architecture': 'qwen3', 'qwen3.context_length': 40_960 },
    capabilities: ['completion', 'tools', 'thinking'],
  },
});
export const llamaCpp = (pauseMs?: number): Routes => ({
  '/v1/chat/completions': speaks(pauseMs),
  '/v1/models': { object: 'list', models: [{ name: 'm.gguf' }], data: [{ id: 'm.gguf', object: 'model', meta: { n_ctx_train: 131_072, n_vocab: 32_000 } }] },
  '/props': { default_generation_settings: { n_ctx: 12_288, params: {} }, total_slots: 1, modalities: { vision: true, audio: false } },
});
export const vllm = (pauseMs?: number): Routes => ({
  '/v1/chat/completions': speaks(pauseMs),
  '/v1/models': { object: 'list', data: [{ id: 'org/model', object: 'model', owned_by: 'vllm', root: 'org/model', max_model_len: 24_576 }] },
});
export const lmStudio = (pauseMs?: number): Routes => ({
  '/v1/chat/completions': speaks(pauseMs),
  '/v1/models': { object: 'list', data: [{ id: 'gemma-x', object: 'model' }] },
  '/api/v0/models': {
    object: 'list',
    data: [
      { id: 'gemma-x', object: 'model', type: 'vlm', state: 'loaded', max_context_length: 131_072, loaded_context_length: 20_480 },
      { id: 'llama-x', object: 'model', type: 'llm', state: 'not-loaded', max_context_length: 65_536 },
      { id: 'nomic', object: 'model', type: 'embeddings', state: 'not-loaded', max_context_length: 2048 },
    ],
  },
});

/** An empty `$CAST_HOME`, gone behind the test. */
export const home = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'cast-models-'));
  later(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};
