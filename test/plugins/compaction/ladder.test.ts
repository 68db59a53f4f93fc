/** What becomes of a turn whose request does not fit into the context window. */
import { describe, expect, test } from 'vitest';
import { definePlugin, defineTool, jsonSchema, type Message, type ModelRequest, type Plugin } from '../../../kernel/index.ts';
import { type Beat, createTestSession, fail, say, type TestSessionOptions, use } from '../../../kernel/testkit/index.ts';
import compaction from '../../../plugins/compaction/index.ts';

const KIB = 1024;
const dump = definePlugin({
  name: 'dump',
  apply: ({ registries }) =>
    void registries.tools.add(
      defineTool({
        name: 'dump',
        description: 'Answers with this many bytes.',
        effect: 'read',
        input: jsonSchema<{ bytes: number; letter: string }>({ type: 'object' }),
        run: async ({ bytes, letter }) => letter.repeat(bytes),
      }),
    ),
});
const shortener = (answer: (job: { readonly cuts: readonly string[] }) => { summary: string; keepFrom: string } | { cancel: string }) =>
  definePlugin({ name: 'shortener', apply: ({ hooks }) => hooks.compact.tap('shorten', answer) });
const open = (script: readonly Beat[], more: Omit<TestSessionOptions, 'plugins'> & { readonly plugins?: readonly Plugin[] } = {}) =>
  createTestSession({ ...more, plugins: [compaction, dump, ...(more.plugins ?? [])] as never, script });
const big = (letter: string, bytes = 40 * KIB): Beat => use('dump', { bytes, letter });
const overflow = fail('overflow', 'the prompt is too long', { status: 400 });

const mainOf = ({ requests }: { readonly requests: readonly ModelRequest[] }): readonly ModelRequest[] => requests.filter(({ purpose }) => purpose === 'main');
const contents = ({ messages = [] }: Partial<ModelRequest> = {}): readonly string[] =>
  messages.flatMap(({ blocks }: Message) => blocks.flatMap((block) => (block.type === 'result' ? [block.content] : [])));
const reminders = ({ messages = [] }: Partial<ModelRequest> = {}): string =>
  messages.flatMap(({ reminder, blocks }: Message) => (reminder ? blocks.map((block) => ('text' in block ? block.text : '')) : [])).join('\n');

describe('the largest result', () => {
  test('is left out of the next request, which is made at once, and the model is told which call it was', async () => {
    await using session = await open([
      use(['dump', { bytes: 40 * KIB, letter: 'x' }, 'call_7'], ['dump', { bytes: 20 * KIB, letter: 'y' }, 'call_8']),
      overflow,
      say('done'),
    ]);
    expect(await session.run('go')).toMatchObject({ reason: 'stop', exitCode: 0 });
    const [trimmed, kept] = contents(session.requests[2]);
    expect(trimmed).toContain('left out');
    expect(trimmed?.length).toBeLessThan(400);
    expect(kept).toBe('y'.repeat(20 * KIB));
    expect(reminders(session.requests[2])).toMatch(/call_7.*dump.*40 KiB/);
    expect(session.events('retry')).toMatchObject([{ delayMs: 0 }]);
    expect(session.events('notice').filter(({ code }) => code === 'TOOL_RESULT_TRIMMED')).toHaveLength(1);
    expect(session.events('warning')).toEqual([]);
  });

  test.each([
    [16 * KIB, true],
    [16 * KIB - 1, false],
  ])('of %i bytes is left out: %s', async (bytes, isLeftOut) => {
    await using session = await open([big('x', bytes), overflow, say('done')]);
    expect((await session.run('go')).reason).toBe(isLeftOut ? 'stop' : 'error');
    expect(session.events('compaction.failed')).toHaveLength(isLeftOut ? 0 : 1);
  });

  test('stays in the store, and out of the view of a session that is resumed', async () => {
    const session = await open([big('x'), overflow, say('done')]);
    await session.run('go');
    expect(JSON.stringify(await session.entries())).toContain('x'.repeat(40 * KIB));
    await using resumed = await open([say('again')], { store: session.store, session: session.id });
    await resumed.run('and?');
    expect(contents(resumed.requests[0])).toEqual(contents(session.requests[2]));
    await session.close();
  });

  test('is left out once for an input, and another one for the next', async () => {
    await using session = await open([big('x'), big('y'), overflow, overflow, overflow, say('done')]);
    expect(await session.run('go')).toMatchObject({ reason: 'error' });
    expect(session.events('error')).toMatchObject([
      { code: 'MODEL_OVERFLOW', message: expect.stringMatching(/^the prompt is too long\. .*the largest, the result of a call, has about \d{4,}/) },
    ]);
    expect(mainOf(session)).toHaveLength(4);
    expect(session.events('compaction.failed')).toMatchObject([{ reason: 'overflow', why: expect.stringContaining('empty summary') }]);
    expect(await session.run('go on')).toMatchObject({ reason: 'stop' });
    expect(contents(session.requests.at(-1)).every((content) => content.length < 400)).toBe(true);
  });
});

describe('a conversation of which nothing can be left out', () => {
  test('is named, with what is largest in it', async () => {
    await using session = await open([overflow]);
    expect(await session.run('x'.repeat(4_000))).toMatchObject({ reason: 'error', exitCode: 1 });
    expect(session.events('compaction.failed')).toMatchObject([{ reason: 'overflow', why: expect.stringContaining('nothing yet that could be summarised') }]);
    expect(session.events('error')).toMatchObject([
      { message: expect.stringMatching(/about \d+ tokens and the messages about 1\d{3} \(.*an input.* window has 128000$/) },
    ]);
    expect(session.requests).toHaveLength(1);
  });
  test('may have a large result later in the turn', async () => {
    const patient = definePlugin({
      name: 'patient',
      apply: ({ hooks }) => hooks.failure.tap('again', ({ seen }) => (seen === 1 ? { retry: { reason: 'again' } } : undefined)),
    });
    await using session = await open([overflow, big('x'), overflow, say('done')], { plugins: [patient as never] });
    expect(await session.run('go')).toMatchObject({ reason: 'stop' });
    expect(session.events('notice')).toMatchObject([{ code: 'TOOL_RESULT_TRIMMED' }]);
  });
});

test('another model that takes over may have a smaller window: for it each is done once as well', async () => {
  const other = definePlugin({
    name: 'other',
    apply: ({ hooks }) => hooks.request.tap('change', (_, { attempt }) => (attempt > 1 ? { model: 'smaller' } : undefined)),
  });
  await using session = await open([big('x'), big('y'), overflow, overflow, overflow], { plugins: [other as never] });
  expect(await session.run('go')).toMatchObject({ reason: 'error' });
  expect(mainOf(session)).toHaveLength(5);
  expect(contents(mainOf(session)[4]).join()).not.toMatch(/xxx|yyy/);
});

describe('the compaction', () => {
  test('comes when there is nothing to leave out', async () => {
    await using session = await open([say('one'), say('two'), overflow, say('done')], {
      plugins: [shortener(({ cuts }) => ({ summary: 'It began.', keepFrom: cuts.at(-1) ?? '' })) as never],
    });
    for (const text of ['1', '2']) await session.run(text);
    expect(await session.run('3')).toMatchObject({ reason: 'stop' });
    expect(session.events('compacted')).toHaveLength(1);
    expect(JSON.stringify(session.requests.at(-1)?.messages)).toContain('It began.');
    expect(session.requests.at(-1)?.messages).toHaveLength(2);
  });

  test('comes second, and does not see what was left out before', async () => {
    const texts: string[] = [];
    const watching = definePlugin({
      name: 'shortener',
      apply: ({ hooks }) =>
        hooks.compact.tap('shorten', ({ messages, cuts }) => {
          texts.push(...messages.map(({ text }) => text));
          return { summary: 'It began.', keepFrom: cuts.at(-1) ?? '' };
        }),
    });
    await using session = await open([big('x'), overflow, overflow, say('done')], { plugins: [watching as never] });
    expect(await session.run('go')).toMatchObject({ reason: 'stop' });
    expect(texts.join()).not.toContain('xxxx');
    expect(session.requests).toHaveLength(4);
  });

  test.each<[string, Plugin]>([
    ['that cuts where it must not', shortener(() => ({ summary: 's', keepFrom: 'nowhere' })) as never],
    [
      'that throws',
      shortener(() => {
        throw new Error('no luck');
      }) as never,
    ],
    ['that is cancelled', shortener(() => ({ cancel: 'not now' })) as never],
  ])('%s leaves the conversation as it was and the error of the provider', async (_name, plugin) => {
    await using session = await open([say('one'), overflow], { plugins: [plugin] });
    await session.run('1');
    expect(await session.run('2')).toMatchObject({ reason: 'error', exitCode: 1 });
    expect(session.events('error')).toMatchObject([{ code: 'MODEL_OVERFLOW' }]);
    expect(mainOf(session)).toHaveLength(2);
    expect(session.events('compaction.failed')).toHaveLength(1);
    expect(session.events('warning')).toEqual([]);
    expect((await session.entries()).filter(({ kind }) => kind === 'compaction')).toEqual([]);
  });

  test('is asked for once, however often it does not fit', async () => {
    let asked = 0;
    const plugin = shortener(({ cuts }) => {
      asked++;
      return { summary: 'It began.', keepFrom: cuts.at(-1) ?? '' };
    });
    await using session = await open([say('one'), say('two'), overflow, overflow, overflow], { plugins: [plugin as never] });
    for (const text of ['1', '2']) await session.run(text);
    expect(await session.run('3')).toMatchObject({ reason: 'error' });
    expect([asked, session.requests.length]).toEqual([1, 4]);
    expect(session.events('compaction.failed')).toEqual([]);
    expect(session.events('compacted')).toHaveLength(1);
  });
});

test.each(['bad_request', 'rate', 'auth', 'empty', 'cut'] as const)('%s is nothing that it deals with', async (kind) => {
  await using session = await open([big('x'), fail(kind)]);
  expect((await session.run('go')).reason).not.toBe('stop');
  expect(session.requests).toHaveLength(2);
});
