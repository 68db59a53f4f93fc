/** Faults of providers that other agents stumble over, each through the command, against a server that refuses broken histories. */
import { describe, expect, test } from 'vitest';
import { useCommand, type More } from '../command.ts';
import { linesOf, type Outcome, type Place } from '../program.ts';
import { answer, begin, CALLS, delta, DONE, frame, type Play, refuse, send, type SentMessage, startStrictServer, STOP, toolCall } from './strict-server.ts';
import type { Asked, StrictServer } from './strict-server.ts';

const { cast, project, later } = useCommand();

const serve = async (plays: readonly Play[], check?: (asked: Asked) => string | undefined): Promise<StrictServer> => {
  const server = await startStrictServer(plays, check);
  later(server.close);
  return server;
};
const run = (server: StrictServer, more: More & { readonly args?: readonly string[] } = {}): Promise<Outcome> => {
  const { args = ['go'], env, ...rest } = more;
  return cast(['run', '--format', 'stream-json', ...args], { env: { CAST_BASE_URL: server.url, CAST_API_KEY: 'k', CAST_MODEL: 'm', ...env }, ...rest });
};
const files = { 'a.txt': 'text of a', 'b.txt': 'text of b' };
const messagesOf = (server: StrictServer, index = -1): readonly SentMessage[] => server.asked.at(index)?.body.messages ?? [];
const resultOf = (outcome: Outcome): unknown => linesOf(outcome).find(({ type }) => type === 'assistant_message')?.['content'];
const endOf = (outcome: Outcome): unknown => linesOf(outcome).at(-1);
const errorOf = (outcome: Outcome): Readonly<Record<string, unknown>> => linesOf(outcome).find(({ type }) => type === 'error') ?? {};

describe('parallel calls in pieces', () => {
  const whole = (name: string): string => JSON.stringify({ path: name });
  const piece = (fields: object): string => delta({ tool_calls: [fields] });
  const [a, b] = [toolCall('A', 'read', whole('a.txt')), toolCall('B', 'read', whole('b.txt'))];
  const withoutIndex = (call: object): object => Object.fromEntries(Object.entries(call).filter(([key]) => key !== 'index'));
  test.each<[string, readonly string[]]>([
    ['both have index 0', [piece(a), piece(b)]],
    ['none has an index', [piece(withoutIndex(a)), piece(withoutIndex(b))]],
    [
      'in turns, the id on the first piece only',
      [
        piece({ index: 0, id: 'A', function: { name: 'read', arguments: '{"path":' } }),
        piece({ index: 1, id: 'B', function: { name: 'read', arguments: '{"path":' } }),
        piece({ index: 0, function: { arguments: '"a.txt"}' } }),
        piece({ index: 1, function: { arguments: '"b.txt"}' } }),
      ],
    ],
    ['both have the same id', [piece(toolCall('A', 'read', whole('a.txt'), 0)), piece(toolCall('A', 'read', whole('b.txt'), 1))]],
  ])('%s: two calls with arguments and results of their own', async (_name, pieces) => {
    const server = await serve([send(...pieces, CALLS), answer('both read')]);
    const outcome = await run(server, { place: project(files) });
    expect(endOf(outcome)).toMatchObject({ reason: 'stop', exitCode: 0 });
    const [reply, ...results] = messagesOf(server).slice(-3);
    expect(reply?.tool_calls?.map((call) => JSON.parse(call.function.arguments))).toEqual([{ path: 'a.txt' }, { path: 'b.txt' }]);
    expect(results.map(({ content }) => String(content).includes('text of a'))).toEqual([true, false]);
    expect(results.map(({ content }) => String(content).includes('text of b'))).toEqual([false, true]);
  });
});

describe('odd frames', () => {
  test.each(['end', 'eos', null])('no choices, a null delta, and %j as the reason to finish', async (reason) => {
    const odd = [frame({ usage: { prompt_tokens: 5, completion_tokens: 2 } }), frame({ choices: [] }), frame({ choices: [{ index: 0, delta: null }] })];
    const server = await serve([send(...odd, delta({ content: 'fine' }), delta({}, reason), DONE)]);
    const outcome = await run(server);
    expect([resultOf(outcome), outcome.code]).toEqual(['fine', 0]);
  });
});

describe('a delay that the provider asks for', () => {
  const soon = (ms: number): string => new Date(Date.now() + ms).toUTCString();
  test.each<[string, () => Readonly<Record<string, string>>, number]>([
    ['seconds', () => ({ 'retry-after': '2' }), 2000],
    // Dates have whole seconds, so up to one of them is lost.
    ['a date', () => ({ 'retry-after': soon(3000) }), 2000],
    ['milliseconds', () => ({ 'retry-after-ms': '1500' }), 1500],
  ])('%s: is obeyed', async (_name, headers, least) => {
    const server = await serve([(reply) => refuse(429, 'slow down', headers())(reply), answer('now')]);
    const outcome = await run(server);
    const [first, second] = server.asked;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(least);
    expect([outcome.code, linesOf(outcome).find(({ type }) => type === 'retry')]).toMatchObject([0, { attempt: 1 }]);
  });

  test('a day: is not waited for, and named', async () => {
    const server = await serve([refuse(429, 'slow down', { 'retry-after': '86400' })]);
    const outcome = await run(server);
    expect([outcome.code, server.asked.length, outcome.ms < 10_000]).toEqual([2, 1, true]);
    expect(errorOf(outcome)).toMatchObject({ code: 'MODEL_RATE', message: expect.stringContaining('24 h') });
  });
});

describe('silence', () => {
  const limits = (firstTokenMs: number, idleMs: number): Place =>
    project({ '~/settings.json': JSON.stringify({ plugins: { providers: { firstTokenMs, idleMs } } }) });
  const silent: readonly (readonly [string, Play])[] = [
    ['nothing more', (reply) => begin(reply).write(delta({ content: 'Hel' }))],
    [
      'comments alone',
      (reply) => {
        begin(reply).write(delta({ content: 'Hel' }));
        const timer = setInterval(() => reply.write(': ping\n\n'), 100);
        reply.once('close', () => clearInterval(timer));
      },
    ],
  ];
  test.each(silent)('%s: ends as a stall, is tried a few times, and the run says so', async (_name, play) => {
    const server = await serve([play]);
    const outcome = await run(server, { place: limits(5000, 400) });
    expect(server.asked.length).toBe(3);
    expect(endOf(outcome)).toMatchObject({ reason: 'disconnected', exitCode: 1 });
    expect(errorOf(outcome)).toMatchObject({ code: 'DISCONNECTED', message: expect.stringContaining('stalled') });
  });

  test('a model that thinks for long before its first word is left in peace', async () => {
    const server = await serve([
      (reply) => {
        begin(reply);
        setTimeout(() => reply.end(delta({ content: 'thought' }) + STOP), 1500);
      },
    ]);
    const outcome = await run(server, { place: limits(10_000, 300) });
    expect([outcome.code, resultOf(outcome), server.asked.length]).toEqual([0, 'thought', 1]);
  });
});

describe('a reply that breaks off', () => {
  const breaks: Play = (reply) => {
    begin(reply).write(delta({ content: 'Hello wor' }));
    setTimeout(() => reply.destroy(), 50);
  };
  test('is asked for again, what was shown taken back, and stored once', async () => {
    const server = await serve([breaks, answer('Hello world')]);
    const place = project();
    const outcome = await run(server, { place });
    expect(outcome.code).toBe(0);
    expect(linesOf(outcome).filter(({ type }) => ['token', 'retract', 'retry', 'assistant_message'].includes(type))).toMatchObject([
      { text: 'Hello wor' },
      { chars: 9 },
      { type: 'retry' },
      { text: 'Hello world' },
      { content: 'Hello world' },
    ]);
    await run(server, { place, args: ['-c', 'and?'] });
    expect(messagesOf(server).filter(({ role }) => role === 'assistant')).toMatchObject([{ content: 'Hello world' }]);
  });

  test('again and again: the run fails, what had come is kept and marked', async () => {
    const server = await serve([breaks]);
    const place = project();
    const outcome = await run(server, { place });
    expect([outcome.code, endOf(outcome)]).toMatchObject([1, { reason: 'disconnected' }]);
    const shown = await cast(['sessions', 'list', '--json'], { place });
    const [{ id }] = JSON.parse(shown.stdout) as [{ id: string }];
    const { entries } = JSON.parse((await cast(['sessions', 'show', id, '--json'], { place })).stdout) as { entries: { data: object }[] };
    expect(entries.map(({ data }) => data)).toContainEqual(expect.objectContaining({ role: 'assistant', incomplete: true }));
  });
});

describe('arguments that are no JSON object', () => {
  test.each<[string, string, string | RegExp]>([
    ['a word without quotes', '{"path": a.txt}', /JSON/i],
    ['a list', '["a.txt"]', /path|object/i],
    ['nothing', '', 'a.txt'],
    ['a number as a text', '{"path":"a.txt","limit":"5"}', 'text of a'],
  ])('%s: no later request fails, nor does a resume', async (_name, raw, says) => {
    const tool = raw === '' ? 'ls' : 'read';
    const server = await serve([send(delta({ tool_calls: [toolCall('A', tool, raw)] }), CALLS), answer('one'), answer('two')]);
    const place = project(files);
    expect((await run(server, { place })).code).toBe(0);
    expect(String(messagesOf(server).at(-1)?.content)).toMatch(says);
    const resumed = await run(server, { place, args: ['-c', 'again'] });
    expect([resumed.code, resultOf(resumed)]).toEqual([0, 'two']);
  });
});

describe('reasoning that has to go back', () => {
  const wantsIt = ({ body }: Asked): string | undefined =>
    body.messages.some(({ role, tool_calls: calls, reasoning_content: text }) => role === 'assistant' && calls && text !== 'let me see')
      ? 'The reasoning_content in the thinking mode must be passed back to the API.'
      : undefined;
  const thought = (fields: object): Play => send(delta(fields), delta({ tool_calls: [toolCall('A', 'read', { path: 'a.txt' })] }), CALLS);
  test.each<[string, object]>([
    ['in its field', { reasoning_content: 'let me see' }],
    ['in both fields, the same', { reasoning_content: 'let me see', reasoning: 'let me see' }],
  ])('%s: goes back once, also after a resume', async (_name, fields) => {
    const server = await serve([thought(fields), answer('one'), answer('two')], wantsIt);
    const place = project(files);
    const first = await run(server, { place });
    expect([first.code, linesOf(first).filter(({ type }) => type === 'thinking').length]).toEqual([0, 1]);
    expect((await run(server, { place, args: ['-c', 'again'] })).code).toBe(0);
    expect(server.asked).toHaveLength(3);
  });

  test('providers that do not send it that way do not get it', async () => {
    const server = await serve([thought({ reasoning: 'let me see' }), answer('one')], ({ body }) =>
      body.messages.some((message) => 'reasoning_content' in message) ? 'unknown field reasoning_content' : undefined,
    );
    expect([(await run(server, { place: project(files) })).code, server.asked.length]).toEqual([0, 2]);
  });
});

describe('an error inside a reply with status 200', () => {
  const inside: Play = send(frame({ error: { message: 'overloaded: frobnicate', code: 'server_error' } }));
  test('is retried when it passes', async () => {
    const server = await serve([inside, answer('better')]);
    const outcome = await run(server);
    expect([outcome.code, resultOf(outcome), server.asked.length]).toEqual([0, 'better', 2]);
  });
  test('is no success when it does not', async () => {
    const server = await serve([send(frame({ error: { message: 'no such thing: frobnicate', code: 'invalid_request_error' } }))]);
    const outcome = await run(server);
    expect([outcome.code, errorOf(outcome)]).toMatchObject([1, { message: expect.stringContaining('frobnicate') }]);
  });
});

describe('a reply without an answer', () => {
  test.each<[string, Play]>([
    ['nothing at all', send(STOP)],
    ['reasoning alone', send(delta({ reasoning_content: 'hmm' }), STOP)],
  ])('%s: is asked for once more, then it is a failure', async (_name, play) => {
    const server = await serve([play]);
    const outcome = await run(server);
    expect([outcome.code, server.asked.length, errorOf(outcome)]).toMatchObject([1, 2, { code: 'EMPTY_REPLY', message: expect.stringContaining('nothing') }]);
    const [, ...later] = messagesOf(server);
    expect(later.filter(({ role }) => role === 'assistant')).toEqual([]);
  });

  test.each<[string, Play]>([
    ['a content filter', send(delta({}, 'content_filter'), DONE)],
    ['a refusal', send(delta({ refusal: 'I will not do that.' }), STOP)],
  ])('%s: is shown as a refusal, and not asked again', async (_name, play) => {
    const server = await serve([play]);
    const outcome = await run(server);
    expect([outcome.code, server.asked.length, errorOf(outcome)]).toMatchObject([1, 1, { code: 'REFUSED', message: expect.stringContaining('refused') }]);
  });
});
