/** Budgets in whole sessions: what is sent, what is not, and what the user is told. */
import { describe, expect, test } from 'vitest';
import { definePlugin, type CastConfig, type ModelInfo, type Plugin } from '../../../kernel/index.ts';
import {
  createMemoryStore,
  createTestSession,
  say,
  scriptedProvider,
  use,
  type Beat,
  type ScriptedProvider,
  type TestSessionOptions,
} from '../../../kernel/testkit/index.ts';
import { systemClock } from '../../../kernel/host/clock.ts';
import budget from '../../../plugins/budget/index.ts';
import usage from '../../../plugins/usage/index.ts';

const priced = (beats: readonly Beat[], price: ModelInfo['price'], aux?: Beat): { provider: ScriptedProvider; plugin: Plugin } => {
  const provider = { ...scriptedProvider(beats, aux), name: 'priced', info: () => ({ id: 'm', ...(price ? { price } : {}) }) };
  return { provider, plugin: definePlugin({ name: 'seller', apply: ({ registries }) => void registries.providers.add(provider) }) as Plugin };
};
const spend = (promptTokens: number, completionTokens: number, more: Beat = say('')): Beat =>
  function* (...given) {
    for (const delta of more(...given) as Iterable<never>)
      yield (delta as { type: string }).type === 'usage' ? { type: 'usage', promptTokens, completionTokens } : delta;
  };
const open = (script: readonly Beat[], config: CastConfig, more: Partial<TestSessionOptions> = {}) =>
  createTestSession({ plugins: [budget as never, usage as never], script, config, ...more });

describe('tokens', () => {
  test('a request that could go over is not sent; the turn says why and keeps its work', async () => {
    await using session = await open([spend(4_000, 500, use('none', {})), say('never')], { limits: { maxTokens: 5_000 } });
    const end = await session.run('go');
    expect(end).toMatchObject({ reason: 'limit', exitCode: 1, steps: 2 });
    expect(session.requests).toHaveLength(1);
    expect(session.events('error')).toEqual([
      {
        code: 'BUDGET_EXCEEDED',
        message: expect.stringMatching(
          /^the budget of this run does not cover the next request: 4,500 tokens of 5,000 tokens are used, and it could take 1,\d{3} tokens$/,
        ),
        retryable: false,
        suggestedFix: expect.stringContaining('Raise --max-tokens. All work is kept: go on with `cast run -c`.'),
      },
    ]);
    expect((await session.entries()).filter(({ kind }) => kind === 'message')).toHaveLength(3);
  });

  test('a reply is asked to be as short as the budget needs, and no shorter than is of use', async () => {
    await using session = await open([spend(2_000, 100, use('none', {})), spend(10, 10, say('done'))], { limits: { maxTokens: 6_000 } });
    expect(await session.run('go')).toMatchObject({ reason: 'stop' });
    const [first = 0, second = 0] = session.requests.map(({ maxOutputTokens }) => maxOutputTokens);
    expect(first).toBeLessThan(6_000);
    expect(first).toBeGreaterThan(5_800);
    expect(second).toBeLessThan(3_900);
    expect(second).toBeGreaterThan(3_600);
  });

  test('the first request is checked as well', async () => {
    await using session = await open([say('never')], { limits: { maxTokens: 10 } });
    expect(await session.run('go')).toMatchObject({ reason: 'limit', exitCode: 1 });
    expect(session.requests).toHaveLength(0);
  });

  test('what resumes the session begins a new run, and goes on with the whole conversation', async () => {
    const store = createMemoryStore(systemClock);
    const first = await open([spend(4_900, 10, use('none', {}))], { limits: { maxTokens: 5_000 } }, { store });
    expect(await first.run('go')).toMatchObject({ reason: 'limit' });
    await first.close();
    await using again = await open([say('done')], { limits: { maxTokens: 5_000 } }, { store, session: first.id });
    expect(await again.run('go on')).toMatchObject({ reason: 'stop' });
    expect(again.requests[0]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
  });

  test('a session has a budget over all its runs', async () => {
    const store = createMemoryStore(systemClock);
    const config = { plugins: { budget: { session: { maxTokens: 5_000 } } } };
    const first = await open([spend(4_000, 10, say('one'))], config, { store });
    await first.run('go');
    await first.close();
    await using again = await open([say('never')], config, { store, session: first.id });
    expect(await again.run('go on')).toMatchObject({ reason: 'limit' });
    expect(again.events('error')[0]).toMatchObject({
      message: expect.stringContaining('the budget of this session does not cover'),
      suggestedFix: expect.stringContaining('Raise plugins.budget.session.maxTokens'),
    });
  });
});

describe('money', () => {
  const price = { in: 10, out: 100 };
  const config = (maxCost: number): CastConfig => ({ provider: 'priced', model: 'm', limits: { maxCost } });

  test('counts what requests cost, and what the next one could', async () => {
    const { provider, plugin } = priced([spend(10_000, 1_000, use('none', {})), say('never')], price);
    await using session = await open([], config(0.25), { plugins: [budget as never, usage as never, plugin] });
    expect(await session.run('go')).toMatchObject({ reason: 'limit', exitCode: 1, usage: { cost: 0.2 } });
    expect(provider.requests).toHaveLength(1);
    expect(session.events('error')[0]).toMatchObject({
      code: 'BUDGET_EXCEEDED',
      message: expect.stringMatching(/\$0\.2000 of \$0\.2500 are spent, and it could take \$0\.1\d{3}$/),
      suggestedFix: expect.stringContaining('Raise --max-cost.'),
    });
  });

  test('without a known price nothing is sent, and the setting and the way out are named', async () => {
    const { provider, plugin } = priced([say('never')], undefined);
    await using session = await open([], config(1), { plugins: [budget as never, plugin] });
    expect(await session.run('go')).toMatchObject({ exitCode: 3 });
    expect(provider.requests).toHaveLength(0);
    expect(session.events('error')[0]).toMatchObject({
      code: 'BUDGET_NO_PRICE',
      message: 'the price of priced/m is not known, so --max-cost cannot be kept',
      suggestedFix: expect.stringMatching(/providers\.priced\.models\.m\.price .*--max-tokens/),
    });
  });

  test('what costs nothing fits into any budget', async () => {
    const { plugin } = priced([say('free')], { in: 0, out: 0 });
    await using session = await open([], config(0), { plugins: [budget as never, plugin] });
    expect(await session.run('go')).toMatchObject({ reason: 'stop' });
  });

  test('requests beside the conversation are counted and checked like its own', async () => {
    const answers: string[] = [];
    const asker = definePlugin({
      name: 'asker',
      capabilities: ['model'],
      apply: ({ hooks, powers }) =>
        hooks.settle.tap('ask twice', { budgetMs: 60_000 }, async (_, { signal }) => {
          for (const purpose of ['title', 'judge', 'summary'] as const)
            await powers.model.ask({ purpose, prompt: 'x', maxOutputTokens: 1_000 }, signal).then(
              ({ text }) => answers.push(text),
              (error: { code: string }) => answers.push(error.code),
            );
        }),
    });
    const { provider, plugin } = priced([spend(100, 10, say('done'))], price, spend(10_000, 1_000, say('aside')));
    await using session = await open([], config(0.29), { plugins: [budget as never, usage as never, plugin, asker as never] });
    expect(await session.run('go')).toMatchObject({ reason: 'stop' });
    expect(answers).toEqual(['aside', 'BUDGET_EXCEEDED', 'BUDGET_EXCEEDED']);
    expect(provider.requests.map(({ purpose }) => purpose)).toEqual(['main', 'title']);
  });
});

test('a tap that refuses with a code that is none is a fault', async () => {
  const wrong = definePlugin({
    name: 'wrong',
    apply: ({ hooks }) => hooks.request.tap('refuse', () => ({ refuse: { code: 'NO_SUCH_CODE' as never, message: 'no' } })),
  });
  await using session = await createTestSession({ plugins: [wrong as never], script: [say('never')] });
  expect(await session.run('go')).toMatchObject({ reason: 'error' });
  expect(session.events('tap.fault')[0]?.message).toContain('must be a code of an error');
});
