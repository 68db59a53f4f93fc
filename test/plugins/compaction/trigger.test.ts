/** When a conversation is compacted by itself, and what can keep it from that. */
import { describe, expect, test, vi } from 'vitest';
import { definePlugin, type Delta, type ModelRequest, type Plugin } from '../../../kernel/index.ts';
import { type Beat, createTestSession, say, type TestSession, type TestSessionOptions } from '../../../kernel/testkit/index.ts';
import compaction from '../../../plugins/compaction/index.ts';
import usage from '../../../plugins/usage/index.ts';
import { openStage } from './stage.ts';

/** Says something, and that its prompt had so many tokens. */
const counted = (promptTokens: number, text = 'ok'): Beat =>
  function* (): Iterable<Delta> {
    yield { type: 'text', text };
    yield { type: 'usage', promptTokens, completionTokens: 1 };
    yield { type: 'end', reason: 'stop' };
  };
type Options = Parameters<(typeof compaction)['with']>[0];
const open = (
  script: readonly Beat[],
  { options = {}, plugins = [], ...more }: Partial<TestSessionOptions> & { readonly options?: Options } = {},
): Promise<TestSession> =>
  createTestSession({ script, aux: say('What was said.'), plugins: [compaction.with(options), usage, ...(plugins as readonly Plugin[])] as never, ...more });
const summaries = ({ requests }: Pick<TestSession, 'requests'>): readonly ModelRequest[] => requests.filter(({ purpose }) => purpose === 'summary');
const promptOf = (request: ModelRequest | undefined): string => JSON.stringify(request?.messages);

describe('what the provider counted decides', () => {
  test.each([
    // (128,000 - 8,192) x 0.75
    [89_856, 0, {}, {}],
    [89_857, 1, {}, {}],
    [59_904, 0, { threshold: 0.5 }, {}],
    [59_905, 1, { threshold: 0.5 }, {}],
    [84_000, 0, {}, { limits: { maxOutputTokens: 16_000 } }],
    [84_001, 1, {}, { limits: { maxOutputTokens: 16_000 } }],
    [18_000, 1, {}, { limits: { contextWindow: 32_000 } }],
    [127_000, 0, { auto: false }, {}],
  ])('%i tokens: %i compactions (%o, %o)', async (tokens, count, options, config) => {
    await using session = await open([counted(10, 'one'), counted(tokens, 'two'), counted(20, 'three'), counted(20)], { options, config });
    for (const text of ['a', 'b', 'c', 'd']) await session.run(text);
    expect(summaries(session)).toHaveLength(count);
    expect(session.events('compacted')).toHaveLength(count);
  });

  test('not what a child, a summary or another request used', async () => {
    const asking = definePlugin({
      name: 'asking',
      capabilities: ['model'],
      apply: ({ hooks, powers }) =>
        hooks.ended.tap('ask', async (_, { signal }) => void (await powers.model.ask({ purpose: 'title', prompt: 'a title' }, signal))),
    });
    await using session = await open([counted(10), counted(10), counted(10)], { plugins: [asking as never], aux: counted(120_000) });
    for (const text of ['a', 'b', 'c']) await session.run(text);
    expect(session.events('usage').map(({ usage: used }) => used.promptTokens)).toContain(120_000);
    expect(summaries(session)).toEqual([]);
  });

  test('after a compaction the old count is forgotten', async () => {
    await using session = await open([counted(10), counted(100_000), say('x'), say('y'), say('z')]);
    for (const text of ['a', 'b', 'c', 'd', 'e']) await session.run(text);
    expect(summaries(session)).toHaveLength(1);
  });

  test('after a resume it is known, and forgotten if a compaction was the last thing', async () => {
    const first = await open([counted(10), counted(100_000)]);
    for (const text of ['a', 'b']) await first.run(text);
    const second = await open([counted(10)], { store: first.store, session: first.id });
    await second.run('c');
    expect(summaries(second)).toHaveLength(1);
    await second.close();
    const third = await open([counted(100_000), say('x')], { store: first.store, session: first.id });
    await third.run('d');
    expect(await third.client.command('compact', '')).toMatchObject({ ok: true });
    await third.close();
    await using last = await open([say('x')], { store: first.store, session: first.id });
    await last.run('e');
    expect(summaries(last)).toEqual([]);
    await first.close();
  });

  test('after a rewind it says nothing', async () => {
    await using session = await open([counted(10), counted(10), counted(100_000), say('x')]);
    for (const text of ['a', 'b', 'c']) await session.run(text);
    await session.client.rewind({ turn: 3 });
    await session.run('d');
    expect(summaries(session)).toEqual([]);
  });
});

test.each([true, false])('results that nobody has counted are estimated (the server counts: %s)', async (counts) => {
  await using stage = await openStage({
    window: 20_000,
    counts,
    script: (number) => (number === 1 ? 'ok' : number > 3 ? 'done' : [['dump', { size: 28_000 }]]),
  });
  await stage.session.run('hello');
  expect(await stage.session.run('go')).toMatchObject({ reason: 'stop' });
  expect(stage.session.events('compacted')[0]).toMatchObject({ reason: 'threshold' });
  expect(stage.session.events('retry')).toEqual([]);
});

test('a summary that failed is asked for again in the next turn, not at the next step', async () => {
  await using session = await createTestSession({
    plugins: [compaction, usage] as never,
    script: [counted(10), counted(100_000), counted(100_000), counted(100_000)],
  });
  for (const text of ['a', 'b', 'c', 'd']) await session.run(text);
  expect(summaries(session)).toHaveLength(2);
  expect(session.events('compaction.failed')).toMatchObject([{ reason: 'threshold' }, { reason: 'threshold' }]);
});

describe('whoever taps before', () => {
  const veto = definePlugin({ name: 'zealous', apply: ({ hooks }) => hooks.compact.tap('no', ({ reason }) => ({ cancel: `not now (${reason})` })) });
  test('can say no to each kind, and no model is asked', async () => {
    await using session = await open([counted(10), counted(100_000), counted(10)], { plugins: [veto as never] });
    for (const text of ['a', 'b', 'c']) await session.run(text);
    expect(await session.client.command('compact', '')).toMatchObject({ ok: false, message: expect.stringContaining('not now (command)') });
    expect(summaries(session)).toEqual([]);
    expect(session.events('compacted')).toEqual([]);
    await vi.waitFor(() => expect(session.events('compaction.failed').map(({ why }) => why)).toEqual(['not now (threshold)', 'not now (command)']));
  });
  test('can give a summary of its own', async () => {
    const own = definePlugin({
      name: 'zealous',
      apply: ({ hooks }) => hooks.compact.tap('mine', ({ cuts }) => ({ summary: 'my own words', keepFrom: cuts.at(-1) ?? '' })),
    });
    await using session = await open([counted(10), counted(100_000), counted(10)], { plugins: [own as never] });
    for (const text of ['a', 'b', 'c']) await session.run(text);
    expect(summaries(session)).toEqual([]);
    expect(promptOf(session.requests.at(-1))).toContain('my own words');
  });
  test('and answers with nothing changes nothing', async () => {
    const empty = definePlugin({
      name: 'zealous',
      apply: ({ hooks }) => hooks.compact.tap('mine', ({ cuts }) => ({ summary: ' ', keepFrom: cuts.at(-1) ?? '' })),
    });
    await using session = await open([counted(10), counted(10)], { plugins: [empty as never] });
    for (const text of ['a', 'b']) await session.run(text);
    expect(await session.client.command('compact', '')).toMatchObject({ ok: false, message: expect.stringContaining('the summary is empty') });
    expect((await session.entries()).map(({ kind }) => kind)).not.toContain('compaction');
  });
});

describe('/compact', () => {
  test('compacts when idle, says what came of it, and gives the model the wishes of the user', async () => {
    await using session = await open([say('one'), say('two'), say('three')]);
    for (const text of ['a', 'b']) await session.run(text);
    expect(await session.client.command('compact', 'keep the numbers')).toMatchObject({
      ok: true,
      result: expect.stringMatching(/^2 messages became a summary/),
    });
    expect(promptOf(summaries(session)[0])).toContain('What the user asks of these notes: keep the numbers');
    await vi.waitFor(() => expect(session.events('compacted')).toMatchObject([{ messages: 2, reason: 'command', entry: expect.any(String) }]));
    await session.run('c');
    expect(promptOf(session.requests.at(-1))).toMatch(/What was said\..*"b".*two.*"c"/);
  });
  test('says that there is nothing to do', async () => {
    await using session = await open([say('one')]);
    expect(await session.client.command('compact', '')).toMatchObject({
      ok: true,
      result: expect.stringMatching(/^Nothing was compacted: there is nothing yet/),
    });
    await session.run('a');
    expect(await session.client.command('compact', '')).toMatchObject({ ok: true, result: expect.stringMatching(/^Nothing was compacted/) });
    expect(summaries(session)).toEqual([]);
  });
  test('waits for the end of a turn', async () => {
    const busy: Beat = async function* (): AsyncIterable<Delta> {
      yield { type: 'text', text: 'hm' };
      await new Promise((resolve) => setTimeout(resolve, 300));
      yield { type: 'end', reason: 'stop' };
    };
    await using session = await open([busy]);
    const running = session.run('a');
    await session.until('text.delta');
    expect(await session.client.command('compact', '')).toMatchObject({ ok: false, code: 'SESSION_BUSY' });
    await running;
  });
  test('a prompt that comes while it is made is not lost, nor is the next one', async () => {
    let release: (() => void) | undefined;
    const slow: Beat = async function* (): AsyncIterable<Delta> {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      yield { type: 'text', text: 'What was said.' };
      yield { type: 'end', reason: 'stop' };
    };
    await using session = await open([say('one'), say('two'), say('three'), say('four')], { aux: slow });
    for (const text of ['a', 'b']) await session.run(text);
    const answer = session.client.command('compact', '');
    while (!release) await new Promise((resolve) => setTimeout(resolve, 2));
    await session.run('meanwhile');
    release();
    expect(await answer).toMatchObject({ ok: true });
    await session.run('d');
    expect(promptOf(session.requests.at(-1))).toMatch(/What was said\..*"b".*two.*"meanwhile".*three.*"d"/);
  });
  test('a rewind while it is made leaves nothing to summarise, and nothing is changed', async () => {
    let release: (() => void) | undefined;
    const slow: Beat = async function* (): AsyncIterable<Delta> {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      yield { type: 'text', text: 'What was said.' };
      yield { type: 'end', reason: 'stop' };
    };
    await using session = await open([say('one'), say('two'), say('three')], { aux: slow });
    for (const text of ['a', 'b']) await session.run(text);
    const answer = session.client.command('compact', '');
    while (!release) await new Promise((resolve) => setTimeout(resolve, 2));
    await session.client.rewind({ turn: 2 });
    release();
    expect(await answer).toMatchObject({ ok: false });
    await session.run('c');
    expect(session.requests.at(-1)?.messages).toHaveLength(3);
  });
});

test('what a summary used is counted, and is not what fills the window', async () => {
  await using session = await open([counted(10), counted(100_000), counted(30)], { aux: counted(5_000, 'What was said.') });
  for (const text of ['a', 'b', 'c']) await session.run(text);
  expect(session.events('usage').map(({ purpose, usage: used }) => [purpose, used.promptTokens])).toEqual([
    ['main', 10],
    ['main', 100_000],
    ['summary', 5_000],
    ['main', 30],
  ]);
  expect(JSON.stringify(await session.client.command('usage', ''))).toMatch(/105,040.*30 tokens in the newest request/);
});

test('the model of the options writes the summary', async () => {
  await using session = await open([say('one'), say('two')], { options: { model: 'small' }, config: { models: { summary: 'other' } } });
  for (const text of ['a', 'b']) await session.run(text);
  await session.client.command('compact', '');
  expect(summaries(session)).toMatchObject([{ model: 'small', tools: [], maxOutputTokens: 2_000 }]);
});
test('without one, that of the configuration', async () => {
  await using session = await open([say('one'), say('two')], { config: { models: { summary: 'other' } } });
  for (const text of ['a', 'b']) await session.run(text);
  await session.client.command('compact', '');
  expect(summaries(session)).toMatchObject([{ model: 'other' }]);
});

test.each([
  ['plan', /making a plan in \/plans\/p\.md.*do not repeat what the plan says/],
  ['build', /Write notes about the conversation above/],
])('in the mode %s the model is told what to keep', async (mode, expected) => {
  const modes = definePlugin({
    name: 'modes',
    provides: ['mode'],
    apply: ({ services }) => services.provide('mode', { current: () => mode, planFile: () => '/plans/p.md' }),
  });
  await using session = await open([say('one'), say('two')], { plugins: [modes as never] });
  for (const text of ['a', 'b']) await session.run(text);
  await session.client.command('compact', '');
  expect(promptOf(summaries(session)[0])).toMatch(expected);
  expect(promptOf(summaries(session)[0]).includes('/plans/p.md')).toBe(mode === 'plan');
});
