/** A chain of scripted providers on a clock that the test moves. */
import { describe, expect, test } from 'vitest';
import {
  definePlugin,
  defineTool,
  jsonSchema,
  type CastConfig,
  type ModelInfo,
  type ModelRequest,
  type Plugin,
  type ProviderFailure,
} from '../../../kernel/index.ts';
import { createTestSession, fail, manualClock, say, scriptedProvider, use, type Beat, type ManualClock } from '../../../kernel/testkit/index.ts';
import context from '../../../plugins/context/index.ts';
import fallback from '../../../plugins/fallback/index.ts';
import providers from '../../../plugins/providers/index.ts';

interface Setting {
  readonly first: readonly Beat[];
  readonly second?: readonly Beat[];
  readonly third?: readonly Beat[];
  readonly config?: CastConfig;
  readonly plugins?: readonly Plugin[];
}

const FIRST = 'script/script-model';
const MINUTE = 60_000;

const open = async ({ first, second = [], third = [], config, plugins = [] }: Setting) => {
  const clock = manualClock();
  const others = { second: scriptedProvider(second), third: scriptedProvider(third) };
  const more = definePlugin({
    name: 'more-providers',
    apply: ({ registries }) => {
      for (const [name, provider] of Object.entries(others)) registries.providers.add({ ...provider, name });
    },
  });
  const session = await createTestSession({
    clock,
    plugins: [providers as never, fallback as never, more as never, ...plugins],
    script: first,
    config: { fallback: ['second/b', 'third/c'], ...config },
  });
  const lines = (): readonly string[] => [
    ...session.events('retry').flatMap(({ reason }) => (reason.includes('takes over') ? [reason] : [])),
    ...session.events('notice').map(({ text }) => text),
  ];
  const sources = (): readonly string[] => session.events('usage').map(({ provider, model }) => `${provider}/${model}`);
  const run = (text: string) => settled(clock, session.run(text));
  return { session, clock, others, lines, sources, run, [Symbol.asyncDispose]: () => session.close() };
};

/** Lets time pass in half seconds until the work is done. */
const settled = async <T>(clock: ManualClock, work: Promise<T>): Promise<T> => {
  let isDone = false;
  void work.finally(() => (isDone = true)).catch(() => undefined);
  for (let round = 0; !isDone && round < 2_000; round++) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (!isDone) await clock.advance(500);
  }
  return work;
};
const repeated = (count: number, beat: Beat): readonly Beat[] => Array.from({ length: count }, () => beat);

describe('who takes over, and when', () => {
  test('quota: at once, with one line that names both and the cause', async () => {
    await using at = await open({ first: [fail('quota', 'no credit left')], second: [say('from b')] });
    expect(await at.run('go')).toMatchObject({ reason: 'stop', exitCode: 0 });
    expect(at.session.text()).toBe('from b');
    expect(at.session.events('retry')).toEqual([{ attempt: 1, delayMs: 0, reason: `second/b takes over from ${FIRST} for 60 min: no credit left` }]);
    expect(at.lines()).toHaveLength(1);
    expect(at.others.second.requests).toMatchObject([{ provider: 'second', model: 'b' }]);
  });

  test('a rate limit that is over soon is waited for, one that is not is not', async () => {
    await using soon = await open({ first: [fail('rate', 'busy', { retryAfterMs: 20_000 }), say('from a')] });
    await soon.run('go');
    expect([soon.session.text(), soon.lines()]).toEqual(['from a', []]);
    await using late = await open({ first: [fail('rate', 'busy', { retryAfterMs: 86_400_000 })], second: [say('from b')] });
    await late.run('go');
    expect([late.session.text(), late.lines()]).toEqual(['from b', [`second/b takes over from ${FIRST} for 24 h: busy`]]);
  });

  test.each<ProviderFailure>(['overload', 'network', 'stall', 'rate'])('%s: asked again first, for as long as patience lasts', async (kind) => {
    const config = { fallback: ['second/b'] };
    await using at = await open({ first: repeated(9, fail(kind, 'down')), second: [say('from b')], config });
    await at.run('go');
    const waits = at.session.events('retry').map(({ delayMs }) => delayMs);
    const waited = waits.reduce((sum, ms) => sum + ms, 0);
    expect(waits.length).toBeGreaterThan(4);
    expect([waits.at(-1), waited > 15_000, waited < 45_000]).toEqual([0, true, true]);
    expect([at.session.text(), at.lines().length]).toEqual(['from b', 1]);
  });

  test('the patience is an option', async () => {
    const config = { plugins: { fallback: { patienceMs: 0 } } };
    await using at = await open({ first: [fail('overload'), fail('overload')], second: [say('from b')], config });
    await at.run('go');
    expect([at.session.text(), at.session.requests.length]).toEqual(['from b', 2]);
  });

  test('a short outage is none of its business', async () => {
    await using at = await open({ first: [fail('overload'), fail('network'), say('from a')] });
    await at.run('go');
    expect([at.session.text(), at.lines()]).toEqual(['from a', []]);
  });

  test('patience is counted by step', async () => {
    await using at = await open({ first: [fail('overload'), say('a1'), fail('overload'), say('a2')] });
    await at.run('one');
    await at.clock.advance(10 * MINUTE);
    await at.run('two');
    expect([at.session.text(), at.lines()]).toEqual(['a1\na2', []]);
  });

  test('a reply that breaks off is taken back and asked for again twice, then by the next', async () => {
    const slowly: Beat = async function* (_, signal) {
      yield { type: 'text', text: 'half' };
      await at.clock.sleep(5 * MINUTE, signal);
      yield* fail('network', 'broke')(_, signal) as Iterable<never>;
    };
    await using at = await open({ first: repeated(3, slowly), second: [say('from b')] });
    await at.run('go');
    expect([at.session.requests.length, at.session.text(), at.lines().length]).toEqual([3, 'from b', 1]);
    expect(at.session.events('text.retracted')).toEqual(repeated(3, { chars: 4 } as never));
  });

  test.each<[ProviderFailure, string]>([
    ['auth', 'MODEL_AUTH'],
    ['not_found', 'MODEL_NOT_FOUND'],
    ['bad_request', 'MODEL_BAD_REQUEST'],
    ['overflow', 'MODEL_OVERFLOW'],
    ['refused', 'REFUSED'],
  ])('%s of the first model is told and not passed over', async (kind, code) => {
    await using at = await open({ first: [fail(kind, 'no')], second: [say('from b')] });
    expect(await at.run('go')).toMatchObject({ reason: 'error' });
    expect([at.session.events('error').map((error) => error.code), at.others.second.requests.length]).toEqual([[code], 0]);
  });

  test.each<ProviderFailure>(['auth', 'not_found', 'quota'])('%s in the middle of the chain: the one behind it is asked', async (kind) => {
    await using at = await open({ first: [fail('quota')], second: [fail(kind, 'not here')], third: [say('from c')] });
    await at.run('go');
    expect(at.session.text()).toBe('from c');
    expect(at.lines()).toEqual([expect.stringMatching(/^second\/b takes over/), 'third/c takes over from second/b for 60 min: not here']);
  });

  test('everybody is down: each is asked, then the turn ends with the error of the last', async () => {
    const down = (name: string): readonly Beat[] => repeated(20, fail('network', `${name} is down`));
    await using at = await open({ first: down('a'), second: down('b'), third: down('c') });
    expect(await at.run('go')).toMatchObject({ reason: 'error', exitCode: 2 });
    expect([at.session.requests.length, at.others.second.requests.length, at.others.third.requests.length]).toEqual([5, 5, 6]);
    expect(at.session.events('error')).toMatchObject([{ code: 'MODEL_UNREACHABLE', message: expect.stringContaining('c is down') }]);
  });

  test('all have used up their quota: the turn ends at once, and the next one begins with the first', async () => {
    const config = { fallback: ['second/b'] };
    await using at = await open({ first: [fail('quota', 'a is empty'), say('topped up')], second: [fail('quota', 'b is empty')], config });
    expect(await at.run('go')).toMatchObject({ reason: 'error', exitCode: 2 });
    expect(at.session.events('error')).toMatchObject([{ code: 'MODEL_QUOTA', message: 'b is empty' }]);
    await at.run('again');
    expect(at.session.text()).toBe('topped up');
  });
});

describe('nothing is done twice', () => {
  const counter = (runs: string[]) =>
    definePlugin({
      name: 'counter',
      apply: ({ registries }) =>
        void registries.tools.add(
          defineTool({
            name: 'count',
            description: 'Counts',
            effect: 'write',
            input: jsonSchema<object>({ type: 'object' }),
            run: async (_, { id }) => `run ${runs.push(id)}`,
          }),
        ),
    });

  test('a call of the first model is not run again by the second, which sees call and result', async () => {
    const runs: string[] = [];
    await using at = await open({
      first: [use(['count', {}, 'c1']), fail('quota', 'empty')],
      second: [say('done')],
      plugins: [counter(runs) as never],
    });
    expect(await at.run('go')).toMatchObject({ reason: 'stop', steps: 2, toolCalls: 1 });
    expect(runs).toHaveLength(1);
    const blocks = at.others.second.requests[0]?.messages.flatMap((message) => message.blocks) ?? [];
    expect(blocks.filter(({ type }) => type === 'call' || type === 'result')).toMatchObject([
      { type: 'call', tool: 'count' },
      { type: 'result', content: 'run 1', status: 'ok' },
    ]);
    expect(at.sources()).toEqual([FIRST, 'second/b']);
  });

  test('a call of a reply that broke off is never run', async () => {
    const runs: string[] = [];
    const broken: Beat = function* () {
      yield { type: 'call', id: 'c1', tool: 'count', arguments: '{}' };
      yield* fail('quota', 'empty')(undefined as never, undefined as never) as Iterable<never>;
    };
    await using at = await open({ first: [broken], second: [use(['count', {}, 'c1']), say('done')], plugins: [counter(runs) as never] });
    await at.run('go');
    expect([runs.length, at.session.events('tool.started').length]).toEqual([1, 1]);
  });
});

describe('on the way back', () => {
  test('an input that a plugin took over is no answer of the model that was asked last', async () => {
    const taking = definePlugin({
      name: 'taking',
      apply: ({ hooks }) => hooks.input.tap('take', ({ text }) => (text === 'mine' ? { handled: 'taken' } : undefined)),
    });
    const config = { fallback: ['second/b'] };
    await using at = await open({ first: [fail('quota'), say('a2')], second: [fail('quota'), say('b2')], config, plugins: [taking as never] });
    await at.run('one');
    await at.clock.advance(MINUTE);
    await at.run('mine');
    await at.run('two');
    expect(at.session.text()).toBe('taken\na2');
  });
  test('the second answers until the time of the first is over; that it is back is said once it has answered', async () => {
    await using at = await open({ first: [fail('quota'), say('a2'), say('a3')], second: [say('b1'), say('b2')] });
    await at.run('one');
    await at.clock.advance(30 * MINUTE);
    await at.run('two');
    await at.clock.advance(30 * MINUTE);
    await at.run('three');
    await at.run('four');
    expect(at.session.text()).toBe('b1\nb2\na2\na3');
    expect(at.lines()).toEqual([expect.stringContaining('takes over'), `${FIRST} answers again.`]);
    expect(at.session.events('notice')).toMatchObject([{ code: 'FALLBACK_OVER' }]);
  });

  test('one that comes back and fails is not waited for, and stays away for twice as long', async () => {
    const config = { fallback: ['second/b'], plugins: { fallback: { patienceMs: 0 } } };
    const first = [fail('overload', 'down'), fail('overload', 'down'), fail('overload', 'still down'), say('a')];
    await using at = await open({ first, second: [say('b1'), say('b2'), say('b3')], config });
    await at.run('one');
    await at.clock.advance(2 * MINUTE);
    await at.run('two');
    await at.clock.advance(2 * MINUTE);
    await at.run('three');
    expect(at.lines().at(-1)).toBe(`second/b takes over from ${FIRST} for 4 min: still down`);
    await at.clock.advance(2 * MINUTE);
    await at.run('four');
    expect(at.session.text()).toBe('b1\nb2\nb3\na');
  });

  test('once it has answered, it is trusted as before', async () => {
    await using at = await open({ first: [fail('quota'), say('a1'), fail('overload'), say('a2')], second: [say('b')] });
    await at.run('one');
    await at.clock.advance(60 * MINUTE);
    await at.run('two');
    await at.run('three');
    expect([at.session.text(), at.lines().length]).toEqual(['b\na1\na2', 2]);
  });

  test('the session stays that of the first model', async () => {
    await using at = await open({ first: [fail('quota')], second: [say('b')] });
    await at.run('go');
    expect((await at.session.store.get(at.session.id))?.model).toBe('script-model');
  });
});

describe('the configuration', () => {
  test('an unknown provider is named when the session opens, and left out', async () => {
    const config = { fallback: ['secnd/b', 'third/c'] };
    await using at = await open({ first: [fail('quota')], third: [say('from c')], config });
    await at.run('go');
    expect(at.session.events('warning')).toEqual([
      { code: 'FALLBACK_UNKNOWN', text: expect.stringMatching(/^fallback\[0\] .*secnd.*known: second, third, script/) },
    ]);
    expect(at.session.text()).toBe('from c');
  });

  test('where models have slashes, an entry with one is a model of the active provider', async () => {
    const config = { model: 'vendor/big', fallback: ['vendor/small'] };
    await using at = await open({ first: [fail('quota'), say('small')], config });
    await at.run('go');
    expect(at.session.events('warning')).toEqual([]);
    expect(at.session.requests.map(({ model }) => model)).toEqual(['vendor/big', 'vendor/small']);
  });

  test.each<[string, Omit<ModelInfo, 'id'>, number]>([
    ['than the model can give', { maxOutput: 512 }, 512],
    ['than its window leaves', { contextWindow: 4_096 }, 4_096 - 1_024],
  ])('a reply is not asked to be longer %s', async (_name, info, most) => {
    const requests: ModelRequest[] = [];
    const { stream } = scriptedProvider([say('short')]);
    const small = definePlugin({
      name: 'small',
      apply: ({ registries }) =>
        void registries.providers.add({
          name: 'small',
          info: (id) => ({ id, ...info }),
          stream: (request, signal) => {
            requests.push(request);
            return stream(request, signal);
          },
        }),
    });
    await using at = await open({ first: [fail('quota')], config: { fallback: ['small/s'] }, plugins: [small as never] });
    await at.run('go');
    expect(at.session.text()).toBe('short');
    expect(requests[0]?.maxOutputTokens).toBeLessThanOrEqual(most);
    expect(requests[0]?.maxOutputTokens).toBeGreaterThan(most - 200);
  });

  test('the first model itself in the chain changes nothing', async () => {
    await using at = await open({ first: [fail('quota', 'empty')], config: { fallback: ['script-model'] } });
    expect(await at.run('go')).toMatchObject({ reason: 'error' });
    expect(at.session.requests).toHaveLength(1);
  });

  test('who looks at requests as they are sent sees the model that is asked', async () => {
    await using at = await open({ first: [], plugins: [context as never] });
    const taps = (await at.session.report()).hooks.find(({ name }) => name === 'request')?.taps.map(({ plugin }) => plugin);
    expect(taps?.slice(-2)).toEqual(['fallback', 'context']);
  });

  test('without a chain it is not even loaded', async () => {
    await using session = await createTestSession({ plugins: [fallback as never] });
    expect((await session.report()).plugins.find(({ name }) => name === 'fallback')).toMatchObject({ state: 'waiting', why: 'waits for config:fallback' });
  });
});
