/** Which model answers what: the slots of `models`, and models that a plugin asks for. */
import { describe, expect, test } from 'vitest';
import { type CastConfig, definePlugin, type Purpose } from '../../../kernel/index.ts';
import { readModelRef } from '../../../kernel/model-ref.ts';
import { createMemoryStore, createTestSession, manualClock, say, scriptedProvider } from '../../../kernel/testkit/index.ts';

interface Asked {
  readonly purpose: Purpose;
  readonly model?: string;
  readonly config?: CastConfig;
}

/** Asks once through the power of a plugin; returns what answered, as the provider saw it and as it was booked. */
const ask = async ({ purpose, model, config }: Asked) => {
  const providers = ['second', 'second-eu'].map((name) => ({ ...scriptedProvider([], say(`from ${name}`)), name }));
  const asker = definePlugin({
    name: 'asker',
    capabilities: ['model'],
    apply: ({ registries, powers }) => {
      for (const provider of providers) registries.providers.add(provider);
      registries.commands.add({
        name: 'ask',
        summary: 'x',
        run: async (_, { signal }) => (await powers.model.ask({ purpose, prompt: 'well?', ...(model === undefined ? {} : { model }) }, signal)).text,
      });
    },
  });
  await using session = await createTestSession({ plugins: [asker as never], script: [say('x')], aux: say('from script'), ...(config ? { config } : {}) });
  // Before it is asked: what comes with the answer may have been and gone.
  const booking = session.until('usage');
  const outcome = await session.client.command('ask', '');
  const [request] = [session.requests, ...providers.map(({ requests }) => requests)].flat();
  const usage = await booking;
  return { outcome, sent: `${request?.provider} ${request?.model}`, booked: `${usage.provider} ${usage.model} ${usage.purpose}` };
};

describe('slots', () => {
  test.each<[string, Asked, string]>([
    ['none: the main model', { purpose: 'summary' }, 'script script-model'],
    ['a model of the active provider', { purpose: 'summary', config: { models: { summary: 'small' } } }, 'script small'],
    ['a model of another provider', { purpose: 'summary', config: { models: { summary: 'second/small' } } }, 'second small'],
    ['each purpose its own', { purpose: 'judge', config: { models: { summary: 'second/small', judge: 'second/strict' } } }, 'second strict'],
    ['the slot of another purpose does not count', { purpose: 'judge', config: { models: { summary: 'second/small' } } }, 'script script-model'],
    ['nor does that of child sessions', { purpose: 'summary', config: { models: { subagent: 'second/small' } } }, 'script script-model'],
    ['names of models have slashes', { purpose: 'judge', config: { models: { judge: 'second/vendor/small:free' } } }, 'second vendor/small:free'],
    ['a prefix that is no provider', { purpose: 'judge', config: { models: { judge: 'vendor/small' } } }, 'script vendor/small'],
    ['the beginning of a name is no name', { purpose: 'judge', config: { models: { judge: 'second-eu/small' } } }, 'second-eu small'],
    ['a title has no slot', { purpose: 'title', config: { models: { summary: 'second/small', judge: 'second/small' } } }, 'script script-model'],
    ['what a plugin asks for comes before the slot', { purpose: 'judge', model: 'second/asked', config: { models: { judge: 'no' } } }, 'second asked'],
  ])('%s', async (_, asked, expected) => {
    const { outcome, sent, booked } = await ask(asked);
    expect(outcome).toEqual({ ok: true, result: `from ${expected.split(' ')[0]}` });
    expect([sent, booked]).toEqual([expected, `${expected} ${asked.purpose}`]);
  });

  test('the conversation itself stays with the main model', async () => {
    const config = { models: { summary: 'small', judge: 'small', plan: 'small', subagent: 'small' } };
    await using session = await createTestSession({ script: [say('x')], config });
    await session.run('go');
    expect(session.requests.map(({ provider, model }) => `${provider} ${model}`)).toEqual(['script script-model']);
  });

  test.each<[string, CastConfig, string]>([
    ['its slot', { models: { subagent: 'second/small' } }, 'second small'],
    ['without one the main model', { models: { summary: 'second/small' } }, 'script script-model'],
  ])('a child session asks %s', async (_, config, expected) => {
    const store = createMemoryStore(manualClock());
    await store.create({ id: 'child', cwd: '/', root: '/', title: '', model: '', provider: '', parent: 'p', kind: 'child', createdAt: 1 });
    const second = { ...scriptedProvider([say('y')]), name: 'second' };
    const bring = definePlugin({ name: 'bring', apply: ({ registries }) => void registries.providers.add(second) });
    await using session = await createTestSession({ plugins: [bring], script: [say('x')], config, store, session: 'child' });
    await session.run('go');
    expect([...session.requests, ...second.requests].map(({ provider, model }) => `${provider} ${model}`)).toEqual([expected]);
  });
});

describe('references', () => {
  const names = ['open', 'open-eu', 'local'];
  test.each([
    ['small', 'active', 'small'],
    ['local/small', 'local', 'small'],
    ['local/a/b/c', 'local', 'a/b/c'],
    ['open-eu/m', 'open-eu', 'm'],
    ['vendor/m', 'active', 'vendor/m'],
    ['local/', 'active', 'local/'],
    ['local', 'active', 'local'],
    ['/m', 'active', '/m'],
  ])('%s', (ref, provider, model) => expect(readModelRef(ref, names, 'active')).toEqual({ provider, model }));
});
