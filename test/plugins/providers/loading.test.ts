/** What a request costs in code: the built-in fetch takes as long to load as all the rest of a short run. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PROGRAM = `
  import { createFetch } from './kernel/host/fetch.ts';
  import { createProvider } from './plugins/providers/provider.ts';
  import { chatWire as wire } from './plugins/providers/chat/wire.ts';
  const fetch = createFetch({});
  const url = process.argv[2];
  const clock = { now: () => 0, sleep: (ms, signal) => new Promise((resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))) };
  const limits = { firstTokenMs: 20_000, idleMs: 20_000 };
  const provider = createProvider({ name: 'p', wire, config: { baseUrl: url }, fetch, secret: async () => 'k', clock, options: limits, version: '0', learnt: new Map(), outputCaps: new Map() });
  const request = { purpose: 'main', session: 's', model: 'm', system: '', messages: [], tools: [] };
  const uses = {
    chat: async () => {
      let text = '';
      for await (const delta of provider.stream(request, new AbortController().signal)) if (delta.type === 'text') text += delta.text;
      return text;
    },
    refusal: () => provider.stream({ ...request, model: 'unknown' }, new AbortController().signal).next().catch((error) => error.kind),
    text: async () => (await fetch(url + '/plain')).text(),
    form: async () => (await (await fetch(url + '/plain', { method: 'POST', body: new URLSearchParams('a=1') })).json()).hello,
    pipe: async () => {
      let text = '';
      for await (const part of (await fetch(url + '/plain')).body.pipeThrough(new TextDecoderStream())) text += part;
      return text;
    },
    parts: async () => (await (await fetch(url + '/plain', { headers: { accept: 'a=1' } })).formData()).get('a'),
  };
  const loads = (name) => process.moduleLoadList.some((module) => module.endsWith(name));
  const result = await uses[process.argv[3]]();
  console.log(JSON.stringify({ result, fetch: loads('internal/deps/undici/undici'), streams: loads('internal/webstreams/readablestream') }));
  process.exit();
`;

let folder: string;
const server = createServer(async (request, reply) => {
  let body = '';
  for await (const part of request) body += part;
  if (body.includes('unknown')) reply.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"message":"model not found"}}');
  else if (request.url === '/v1/chat/completions') {
    reply.writeHead(200, { 'content-type': 'text/event-stream' });
    reply.end('data: {"choices":[{"index":0,"delta":{"content":"hello"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
  } else if (request.headers.accept === 'a=1') reply.writeHead(200, { 'content-type': 'application/x-www-form-urlencoded' }).end('a=1');
  else reply.end('{"hello":"you"}');
});
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cast-loading-'));
  await build({
    stdin: { contents: PROGRAM, resolveDir: ROOT, loader: 'js' },
    outfile: join(folder, 'program.mjs'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    mainFields: ['module', 'main'],
    logLevel: 'silent',
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
}, 60_000);
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

test.each([
  ['chat', { result: 'hello', fetch: false, streams: false }],
  ['refusal', { result: 'not_found', fetch: false, streams: false }],
  ['text', { result: '{"hello":"you"}', fetch: false, streams: false }],
  ['form', { result: 'you', fetch: false, streams: false }],
  ['pipe', { result: '{"hello":"you"}', fetch: false, streams: true }],
  // Loads all of it: the others do not pass because loading goes unseen.
  ['parts', { result: '1', fetch: true }],
])(
  '%s loads no more than it needs',
  async (use, expected) => {
    const { port } = server.address() as AddressInfo;
    const program = [join(folder, 'program.mjs'), `http://127.0.0.1:${port}/v1`, use];
    const { stdout } = await promisify(execFile)(process.execPath, program, { timeout: 20_000 });
    expect(JSON.parse(stdout)).toMatchObject(expected);
  },
  30_000,
);
