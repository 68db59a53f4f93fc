/** What becomes of a turn when a compaction does not help, or does not come about. */
import { describe, expect, test, vi } from 'vitest';
import { definePlugin, type Plugin } from '../../../kernel/index.ts';
import { begin, delta, type Play, toolCall } from '../../cli/providers/strict-server.ts';
import { CALLS, openStage, refuse, type Script, type Stage, STOP, textsOf, tokensOf } from './stage.ts';

const rules = (tokens: number): Plugin =>
  definePlugin({
    name: 'rules',
    apply: ({ registries }) => void registries.sections.add({ name: 'rules', slot: 'project', text: () => 'rule '.repeat((tokens * 4) / 5) }),
  }) as Plugin;
const errorOf = ({ session }: Stage): string =>
  session
    .events('error')
    .map(({ message }) => message)
    .join();
const whys = ({ session }: Stage): readonly string[] => session.events('compaction.failed').map(({ why }) => why);

/** Text, then steps with results of this size, then text again. */
const steps =
  (count: number, size: number): Script =>
  (number) =>
    number > count ? 'done' : [['dump', { size, mark: `s${number}` }]];

const endings: readonly (readonly [string, Play | 'abort'])[] = [
  ['is empty', (reply) => begin(reply).end(delta({ content: '' }) + STOP)],
  [
    'is a call of a tool',
    (reply) => begin(reply).end(delta({ content: 'I will look.' }) + delta({ tool_calls: [toolCall('c1', 'dump', { size: 1 })] }) + CALLS),
  ],
  ['fails for ever', refuse(500, 'internal error')],
  ['breaks off', (reply) => begin(reply).end(delta({ content: '## Goal\nTo' }))],
  ['is refused as too long', refuse(400, 'the input length exceeds the context length')],
];

describe('B052: what is left is over the limit', () => {
  test('because of the system prompt: the error names it, and few summaries are asked for', async () => {
    await using stage = await openStage({ window: 4_000, plugins: [rules(4_100)], script: steps(9, 400) });
    expect(await stage.session.run('go')).toMatchObject({ reason: 'error', exitCode: 1 });
    expect(stage.session.events('error')).toMatchObject([
      { code: 'MODEL_OVERFLOW', message: expect.stringMatching(/context length is 4000.*system prompt and the tools have about 41\d\d tokens/) },
    ]);
    expect(stage.summaries()).toHaveLength(0);
    expect(stage.main()).toHaveLength(1);
  });

  test('because of the system prompt, a few steps later: it ends as well', async () => {
    await using stage = await openStage({ window: 4_000, plugins: [rules(3_700)], script: steps(99, 400) });
    expect(await stage.session.run('go')).toMatchObject({ reason: 'error' });
    expect(errorOf(stage)).toMatch(/system prompt and the tools have about 3\d{3} tokens/);
    expect(stage.summaries().length).toBeLessThanOrEqual(4);
  });

  test('because of a result in the part that stays: the result is left out', async () => {
    await using stage = await openStage({
      window: 4_000,
      script: (number) => (number === 5 ? [['dump', { size: 40_000, mark: 'big' }]] : steps(7, 400)(number, undefined as never)),
    });
    expect(await stage.session.run('go')).toMatchObject({ reason: 'stop' });
    expect(stage.session.events('notice').filter(({ code }) => code === 'TOOL_RESULT_TRIMMED')).toHaveLength(1);
    expect(stage.summaries().length).toBeLessThanOrEqual(3);
  });

  test.each(endings)('and the summary %s: the turn ends with the error of the provider', async (_name, summary) => {
    await using stage = await openStage({ window: 4_000, plugins: [rules(2_500)], script: steps(99, 700), summary: summary as Play });
    expect(await stage.session.run('go')).toMatchObject({ reason: 'error', exitCode: 1 });
    expect(errorOf(stage)).toMatch(/context length is 4000.*the window has 4000/);
    // By itself once a turn, and once when it does not fit; each may be repeated once.
    expect(stage.summaries().length).toBeGreaterThan(0);
    expect(stage.summaries().length).toBeLessThanOrEqual(4);
    expect(stage.session.events('compacted')).toEqual([]);
    expect(whys(stage).length).toBeGreaterThan(0);
  });

  test('and the summary is aborted: the turn is', async () => {
    await using stage = await openStage({
      window: 4_000,
      plugins: [rules(2_500)],
      script: steps(99, 700),
      summary: (reply) => void begin(reply).write(delta({ content: '## Goal' })),
    });
    const running = stage.session.run('go');
    while (stage.summaries().length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await stage.session.client.abort();
    expect(await running).toMatchObject({ reason: 'aborted', exitCode: 130 });
    expect(stage.summaries()).toHaveLength(1);
    expect(stage.session.events('compacted')).toEqual([]);
  });

  test('and /compact says why it cannot help', async () => {
    await using stage = await openStage({ window: 4_000, plugins: [rules(3_300)], script: () => 'ok' });
    await stage.session.run('hello');
    expect(await stage.session.client.command('compact', '')).toMatchObject({
      ok: true,
      result: expect.stringMatching(
        /^Nothing was compacted: there is nothing yet.*still over the limit of 1,500 tokens: about 3,\d{3} are the system prompt and the tools/,
      ),
    });
    // By itself it is tried once, and not again as long as that would be of no use.
    for (const text of ['and?', 'and then?', 'and in the end?']) await stage.session.run(text);
    expect(stage.summaries()).toHaveLength(1);
    expect(await stage.session.client.command('compact', '')).toMatchObject({
      ok: true,
      result: expect.stringMatching(/became a summary.*still over the limit/),
    });
  });
});

describe('B054: the request for a summary has to fit as well', () => {
  const long = 'w'.repeat(30_000);
  test('old output is cut in it, and so is what was said, until it does', async () => {
    await using stage = await openStage({
      window: 10_000,
      options: { threshold: 0.95 },
      script: (number) => (number === 3 ? [['dump', { size: 24_000, mark: 'huge' }]] : 'ok'),
    });
    await stage.session.run('one');
    await stage.session.run(`two ${long.slice(0, 4_000)}`);
    expect(await stage.session.run('three')).toMatchObject({ reason: 'stop' });
    for (const asked of stage.summaries()) expect(tokensOf(asked)).toBeLessThan(10_000);
    expect(stage.summaries()).toHaveLength(1);
    expect(textsOf(stage.summaries()[0] as never)).not.toContain('huge '.repeat(200));
    expect(stage.session.events('error')).toEqual([]);
  });

  test('of results hardly anything is sent, of arguments little', async () => {
    await using stage = await openStage({
      window: 8_000,
      script: (number) => (number > 4 ? 'done' : [['dump', { size: 5_000, mark: 'ab', why: 'q'.repeat(900) }]]),
    });
    await stage.session.run('go');
    const text = textsOf(stage.summaries()[0] as never);
    expect(text).toMatch(/Result of dump: (ab ){166}ab… \(4500 more characters\)/);
    expect(text).toMatch(/Assistant calls dump\(size=5000, mark="ab", why="q{199}… \(702 more characters\)\)/);
  });

  test('a host that finds it too long gets a shorter one once; then results alone are left out', async () => {
    await using stage = await openStage({
      window: 12_000,
      script: (number) => (number === 4 ? [['dump', { size: 34_000, mark: 'huge' }]] : number > 4 ? 'ok' : 'r'.repeat(6_000)),
      summary: refuse(400, 'prompt is too long'),
    });
    for (const text of ['one', 'two', 'three']) await stage.session.run(text);
    const before = stage.asked.length;
    expect(await stage.session.run('four')).toMatchObject({ reason: 'stop' });
    expect(stage.asked.length - before).toBeLessThanOrEqual(6);
    const [first, second] = stage.summaries();
    expect(tokensOf(second as never)).toBeLessThan(tokensOf(first as never));
    expect(stage.session.events('notice')).toMatchObject([{ code: 'TOOL_RESULT_TRIMMED' }]);
  });

  test('a conversation of nothing but long texts is cut down as well', async () => {
    await using stage = await openStage({ window: 8_000, script: () => 'y'.repeat(9_000) });
    for (const text of ['one', 'two', 'three', 'four', 'five'])
      expect(await stage.session.run(`${text} ${long.slice(0, 5_000)}`)).toMatchObject({ reason: 'stop' });
    expect(stage.summaries().length).toBeGreaterThan(0);
    for (const asked of stage.summaries()) expect(tokensOf(asked)).toBeLessThan(8_000);
  });
});

describe('B055: a summary that is none leaves the conversation untouched', () => {
  const told: Script = (number) => (number === 1 ? 'the first answer' : 'ok');
  const compacting = async (summary: Play): Promise<Stage> => {
    const stage = await openStage({ window: 100_000, script: told, summary });
    await stage.session.run('remember: the key is 4711');
    await stage.session.run('and go on');
    return stage;
  };
  const nextHasAll = async (stage: Stage): Promise<void> => {
    await stage.session.run('what was the key?');
    const text = textsOf(stage.main().at(-1) as never);
    expect(text).toContain('the key is 4711');
    expect(text).toContain('the first answer');
    expect(text).not.toContain('Summary of the conversation');
    expect((await stage.session.entries()).filter(({ kind }) => kind === 'compaction')).toEqual([]);
  };

  test.each(endings)('one that %s', async (_name, summary) => {
    await using stage = await compacting(summary as Play);
    const answer = await stage.session.client.command('compact', '');
    expect(answer).toMatchObject({ ok: false, code: 'COMPACTION_FAILED', message: expect.stringMatching(/not compacted: no summary could be made: ./) });
    await vi.waitFor(() => expect(whys(stage)).toEqual([expect.stringMatching(/^no summary could be made/)]));
    expect(stage.summaries().length).toBeLessThanOrEqual(2);
    await nextHasAll(stage);
  });

  test('one that the user aborts in the middle', async () => {
    await using stage = await compacting((reply) => void begin(reply).write(delta({ content: '## Goal\nhalf' })));
    const answer = stage.session.client.command('compact', '');
    while (stage.summaries().length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await stage.session.client.abort();
    expect(await answer).toMatchObject({ ok: false, message: expect.stringContaining('aborted') });
    await nextHasAll(stage);
  });

  test.each(endings)('when the window is full and it %s, the error of the provider is kept', async (_name, summary) => {
    let isFull = false;
    await using stage = await openStage({
      window: 100_000,
      script: told,
      summary: summary as Play,
      plugins: [
        definePlugin({
          name: 'full',
          apply: ({ hooks }) => hooks.request.tap('fill', (request) => (isFull ? { system: `${request.system}${'z'.repeat(500_000)}` } : undefined)),
        }) as Plugin,
      ],
    });
    await stage.session.run('remember: the key is 4711');
    await stage.session.run('and go on');
    isFull = true;
    expect(await stage.session.run('more')).toMatchObject({ reason: 'error' });
    expect(errorOf(stage)).toContain("This model's maximum context length is 100000 tokens");
    expect(whys(stage)).toHaveLength(1);
    isFull = false;
    await nextHasAll(stage);
  });

  test('a passing failure is tried once more', async () => {
    let tries = 0;
    await using stage = await compacting((reply) => {
      tries += 1;
      if (tries === 1) refuse(503, 'overloaded', { 'retry-after': '0' })(reply);
      else begin(reply).end(delta({ content: 'all of it' }) + STOP);
    });
    expect(await stage.session.client.command('compact', '')).toMatchObject({ ok: true, result: expect.stringContaining('became a summary') });
    expect(stage.summaries()).toHaveLength(2);
  });
});
