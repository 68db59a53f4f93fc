/** The format over a real connection, and what refusals of it teach. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { Message, ModelRequest, ProviderConfig } from '../../../../kernel/index.ts';
import type { Quirks } from '../../../../plugins/providers/quirks.ts';
import { responsesWire } from '../../../../plugins/providers/responses/wire.ts';
import { chatProvider, gather, request, streamOf, user } from '../replies.ts';

interface Seen {
  readonly path: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}
interface Answer {
  readonly status: number;
  readonly body: string | Uint8Array;
}
const says = (text: string): Answer => ({
  status: 200,
  body: streamOf([
    { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: text },
    { type: 'response.completed', response: { object: 'response', status: 'completed', output: [] } },
  ]),
});
const refuses = (message: string, param?: string, status = 400): Answer => ({ status, body: JSON.stringify({ error: { message, param } }) });

/** Answers in turn, the last one again and again. */
const serve = async (...answers: readonly Answer[]): Promise<{ readonly url: string; readonly seen: readonly Seen[] }> => {
  const seen: Seen[] = [];
  const server = createServer(async (incoming, reply) => {
    let text = '';
    for await (const part of incoming) text += part;
    const { status, body } = answers[Math.min(seen.length, answers.length - 1)] as Answer;
    seen.push({ path: incoming.url, body: JSON.parse(text) });
    reply.writeHead(status, { 'content-type': status === 200 ? 'text/event-stream' : 'application/json' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, seen };
};
const asking = (url: string, config: ProviderConfig = {}) => {
  const provider = chatProvider({ wire: responsesWire, config: { ...config, baseUrl: url }, learnt: new Map<string, Quirks>() });
  return (changes: Partial<ModelRequest> = {}) => gather(provider.stream(request(changes), new AbortController().signal));
};

test('it is asked at its path, with the query of the address', async () => {
  const { url, seen } = await serve(says('hi'));
  expect(await asking(`${url}/responses?api-version=1`)()).toMatchObject({ text: 'hi', end: 'stop', error: undefined });
  expect(seen[0]?.path).toBe('/v1/responses?api-version=1');
});

test('what a host does not know is dropped, one after another, and stays away for that model', async () => {
  const { url, seen } = await serve(
    refuses('Encrypted content is not supported with this model.', 'include'),
    refuses("Unknown parameter: 'store'."),
    refuses("Unsupported parameter: 'reasoning.summary' is not supported with this model.", 'reasoning.summary'),
    says('hi'),
  );
  const ask = asking(url, { reasoningSummary: 'auto' });
  expect((await ask({ reasoning: 'low' })).text).toBe('hi');
  await ask({ reasoning: 'low' });
  await ask({ reasoning: 'low', model: 'another' });
  const sent = seen.map(({ body }) => [body['include'] !== undefined, body['store'] !== undefined, body['reasoning']]);
  const full = { effort: 'low', summary: 'auto' };
  expect(sent).toEqual([
    [true, true, full],
    [false, true, full],
    [false, false, full],
    [false, false, { effort: 'low' }],
    [false, false, { effort: 'low' }],
    [true, true, full],
  ]);
});

test('a host that never is content is not asked for ever', async () => {
  const names = ['include', 'store', 'temperature', 'top_p', 'max_output_tokens', 'tool_choice'];
  const { url, seen } = await serve(...names.map((name) => refuses(`Unknown parameter: '${name}'`)));
  const card = { name: 'read', description: 'Reads.', input: { type: 'object' } };
  const got = await asking(url, { temperature: 1, topP: 1 })({ maxOutputTokens: 5, tools: [card] });
  expect(got.error).toMatchObject({ kind: 'bad_request' });
  expect(seen).toHaveLength(5);
});

test('a host that does not take items back gets texts and calls alone', async () => {
  const { url, seen } = await serve(refuses("Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.", 'input', 404), says('hi'));
  const slots = [
    { type: 'reasoning', item: { id: 'rs_1', summary: [] } },
    { type: 'message', id: 'msg_1' },
  ];
  const reply: Message = {
    role: 'assistant',
    origin: 'model',
    blocks: [
      { type: 'text', text: 'yes' },
      { type: 'item', provider: 'test', data: { api: 'responses', model: 'a-model', slots } },
    ],
  };
  expect((await asking(url)({ messages: [user('a'), reply, user('b')] })).text).toBe('hi');
  const ids = seen.map(({ body }) => (body['input'] as { id?: string }[]).map((item) => item.id ?? null));
  expect(ids).toEqual([
    [null, 'rs_1', 'msg_1', null],
    [null, null, null],
  ]);
});
