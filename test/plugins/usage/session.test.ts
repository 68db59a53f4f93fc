import { expect, test } from 'vitest';
import { definePlugin, type UsageService } from '../../../kernel/index.ts';
import { createMemoryStore, createTestSession, manualClock, say, scriptedProvider, type TestSessionOptions } from '../../../kernel/testkit/index.ts';
import usage from '../../../plugins/usage/index.ts';

const reader = (into: { service?: UsageService }) =>
  definePlugin({
    name: 'reader',
    uses: ['usage'],
    apply: ({ hooks, services }) =>
      hooks.prepare.tap('read', () => {
        into.service = services.get('usage');
      }),
  });

test('a session adds up over its turns and goes on where it stopped', async () => {
  const store = createMemoryStore(manualClock());
  const found: { service?: UsageService } = {};
  const open = (more: Partial<TestSessionOptions> = {}) =>
    createTestSession({ plugins: [usage as never, reader(found) as never], script: [say('1'), say('2')], store, ...more });
  const first = await open();
  await first.run('one');
  await first.run('two');
  expect(found.service?.total()).toMatchObject({ promptTokens: 200, completionTokens: 20, totalTokens: 220 });
  expect(found.service?.contextTokens()).toBe(100);
  const records = (await first.entries()).filter((entry) => entry.kind === 'plugin' && entry.data.plugin === 'usage');
  expect(records).toHaveLength(2);
  await first.close();

  await using again = await open({ session: first.id });
  await again.run('three');
  expect(found.service?.total().totalTokens).toBe(330);
  expect(found.service?.byModel()['script-model']?.totalTokens).toBe(330);
  expect(JSON.stringify(await again.client.command('usage', ''))).toContain('script-model');
});

test('a rewind does not bring tokens back', async () => {
  const found: { service?: UsageService } = {};
  await using session = await createTestSession({ plugins: [usage as never, reader(found) as never], script: [say('1'), say('2'), say('3')] });
  await session.run('one');
  await session.run('two');
  await session.client.rewind({ turn: 2 });
  await session.run('three');
  expect(found.service?.total().totalTokens).toBe(330);
});

test('what a command asked, and what was rewound or cleared just before the end, is counted after a resume', async () => {
  const store = createMemoryStore(manualClock());
  const found: { service?: UsageService } = {};
  const asking = definePlugin({
    name: 'asking',
    capabilities: ['model'],
    apply: ({ registries, powers }) =>
      void registries.commands.add({
        name: 'ask',
        summary: 'ask',
        run: async (_, { signal }) => (await powers.model.ask({ purpose: 'summary', prompt: 'sum up' }, signal)).text,
      }),
  });
  const plugins = [usage as never, reader(found) as never, asking as never];
  const first = await createTestSession({ plugins, script: [say('1'), say('2')], aux: say('short'), store });
  await first.run('one');
  await first.run('two');
  await first.client.rewind({ turn: 1 });
  expect(await first.client.command('ask', '')).toMatchObject({ ok: true, result: 'short' });
  await first.close();
  await using again = await createTestSession({ plugins, script: [say('3')], store, session: first.id });
  await again.run('three');
  expect(found.service?.total().totalTokens).toBe(440);
});

test('one model of two providers has two sums', async () => {
  const found: { service?: UsageService } = {};
  const other = definePlugin({
    name: 'other',
    apply: ({ registries, hooks }) => {
      registries.providers.add({ ...scriptedProvider([say('2')]), name: 'second' });
      hooks.request.tap('ask the other', (_, { turn }) => (turn === 2 ? { provider: 'second' } : undefined));
    },
  });
  await using session = await createTestSession({ plugins: [usage as never, reader(found) as never, other as never], script: [say('1')] });
  await session.run('one');
  await session.run('two');
  expect(Object.entries(found.service?.byModel() ?? {}).map(([name, { totalTokens }]) => [name, totalTokens])).toEqual([
    ['script-model', 110],
    ['second/script-model', 110],
  ]);
});

test('what a reply used is stored together with it; what a turned back one used, at the end of the turn', async () => {
  let isBad = true;
  const picky = definePlugin({
    name: 'picky',
    apply: ({ hooks }) =>
      hooks.reply.tap('turn the first one back', (review) => {
        if (isBad) review.reject('not good');
        isBad = false;
      }),
  });
  await using session = await createTestSession({ plugins: [usage as never, picky as never], script: [say('bad'), say('good')] });
  await session.run('go');
  const kinds = (await session.entries()).map((entry) => (entry.kind === 'plugin' ? entry.data.plugin : entry.kind));
  expect(kinds).toEqual(['turn', 'message', 'rejected', 'message', 'usage', 'turn']);
  const [record] = (await session.entries()).flatMap((entry) => (entry.kind === 'plugin' ? [entry.data.data] : []));
  expect(record).toMatchObject({ added: [{ provider: 'script', model: 'script-model', totalTokens: 220 }] });
});
