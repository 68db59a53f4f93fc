/** What `/context` says of real sessions. */
import { expect, test, vi } from 'vitest';
import { definePlugin, defineTool, jsonSchema, type Plugin, type SessionFace } from '../../../kernel/index.ts';
import { createTestSession, say, use, type Beat, type TestSession, type TestSessionOptions } from '../../../kernel/testkit/index.ts';
import compaction from '../../../plugins/compaction/index.ts';
import context from '../../../plugins/context/index.ts';
import type { ContextReport } from '../../../plugins/context/report.ts';
import usage from '../../../plugins/usage/index.ts';

interface Stage {
  rules: string;
  toolSays: string;
  model?: string;
  face?: SessionFace;
}
const staged = (stage: Stage): Plugin =>
  definePlugin({
    name: 'staged',
    commands: [{ name: 'renew', summary: 'again' }],
    apply: (scope) => {
      stage.face = scope.session;
      scope.registries.sections.add({ name: 'rules', slot: 'project', text: () => stage.rules });
      scope.registries.sections.add({ name: 'empty', slot: 'project', text: () => undefined });
      scope.registries.tools.add(
        defineTool({
          name: 'look',
          description: stage.toolSays,
          effect: 'read',
          input: jsonSchema<object>({ type: 'object' }),
          run: async () => 'x'.repeat(4000),
        }),
      );
      scope.registries.commands.add({ name: 'renew', summary: 'again', run: (_, at) => at.renew() });
      scope.hooks.request.tap('model', () => (stage.model === undefined ? undefined : { model: stage.model }));
    },
  });
const open = (stage: Stage, script: readonly Beat[], more: Partial<TestSessionOptions> = {}): Promise<TestSession> =>
  createTestSession({ plugins: [context as Plugin, usage as Plugin, staged(stage)], script, ...more });
const report = async (session: TestSession): Promise<ContextReport> => {
  const answer = await session.client.command('context', '--json');
  return JSON.parse(answer.ok && typeof answer.result === 'string' ? answer.result : 'null') as ContextReport;
};
const stage = (): Stage => ({ rules: 'Be kind.', toolSays: 'looks' });
const kept = async (session: TestSession): Promise<number> =>
  (await session.entries()).filter((entry) => entry.kind === 'plugin' && entry.data.plugin === 'context').length;

test('every part has an owner and a size, and the sizes add up', async () => {
  await using session = await open(stage(), [use('look'), say('done')]);
  await session.run('what is there?');
  const { parts, tokens, window, provider, model, newest } = await report(session);
  expect({ provider, model, window, newest }).toEqual({
    provider: 'script',
    model: 'script-model',
    window: 128_000,
    newest: { promptTokens: 100, cacheReadTokens: 0 },
  });
  expect(parts.map(({ kind, name, from, count }) => [kind, name, from, count])).toEqual([
    ['section', 'rules', 'staged', 1],
    ['tool', 'look', 'staged', 1],
    ['messages', 'results of look', 'staged', 1],
    ['messages', 'replies', 'model', 2],
    ['messages', 'prompts', 'user', 1],
  ]);
  expect(parts[2]?.tokens).toBeGreaterThan(1000);
  expect(tokens).toBe(parts.reduce((sum, part) => sum + part.tokens, 0));
});

test('a conversation that only grows never breaks the cache, and leaves one record', async () => {
  await using session = await open(stage(), [use('look'), say('one'), use('look'), say('two')]);
  await session.run('a');
  await session.run('b');
  expect((await report(session)).cache).toEqual({ breaks: 0, newest: [] });
  expect(await kept(session)).toBe(1);
  expect(JSON.stringify(await session.client.command('context', ''))).toContain('the cache never broke');
});

test('a masked message is named with its turn, and with what it cost', async () => {
  const on = stage();
  await using session = await open(on, [use('look'), say('one'), say('two')]);
  await session.run('a');
  const result = on.face?.view().find(({ role }) => role === 'tool');
  await on.face?.mask(result?.entry ?? '', 'gone');
  await session.run('b');
  const { cache } = await report(session);
  expect(cache).toMatchObject({ breaks: 1, newest: [{ turn: 2, step: 1, at: 'message', what: 'message 3, results of look' }] });
  expect(cache.newest[0]?.tokens).toBeGreaterThan(1000);
});

test.each<[string, (on: Stage) => void, object]>([
  ['a section', (on) => (on.rules = 'Be brief.'), { at: 'system', what: 'section rules' }],
  ['a tool', (on) => (on.toolSays = 'looks harder'), { at: 'tools', what: 'tool look' }],
])('%s that a renewal changed is named', async (_name, change, expected) => {
  const on = stage();
  await using session = await open(on, [say('one'), say('two'), say('three')]);
  await session.run('a');
  change(on);
  await session.client.command('renew', '');
  await session.run('b');
  await session.run('c');
  const { cache } = await report(session);
  expect(cache).toMatchObject({ breaks: 1, newest: [{ turn: 2, step: 1, ...expected }] });
});

test('another model is a break, and so is the way back', async () => {
  const on = stage();
  await using session = await open(on, [say('one'), say('two'), say('three')]);
  await session.run('a');
  on.model = 'other';
  await session.run('b');
  delete on.model;
  await session.run('c');
  expect((await report(session)).cache.newest.map(({ turn, at, what }) => [turn, at, what])).toEqual([
    [2, 'model', 'script/script-model'],
    [3, 'model', 'script/other'],
  ]);
});

test('a resumed session breaks nothing when nothing changed, and says what did', async () => {
  const first = await open(stage(), [use('look'), say('one')]);
  await first.run('a');
  const same = await open(stage(), [say('two')], { store: first.store, session: first.id });
  await same.run('b');
  expect((await report(same)).cache.breaks).toBe(0);
  expect(await kept(same)).toBe(1);
  await same.close();
  await using changed = await open({ ...stage(), rules: 'Be brief.' }, [say('three')], { store: first.store, session: first.id });
  await changed.run('c');
  expect((await report(changed)).cache).toMatchObject({ breaks: 1, newest: [{ turn: 3, step: 1, at: 'system', what: 'section rules' }] });
  await first.close();
});

test('what a compaction would drop stands beside what fills the window', async () => {
  await using session = await createTestSession({
    plugins: [context as Plugin, compaction as unknown as Plugin, usage as Plugin, staged(stage())],
    script: [use('look'), say('one'), say('two'), say('three')],
    aux: say('A summary.'),
  });
  await session.run('first');
  const nothing = await report(session);
  await session.run('second');
  await session.run('third');
  const { compaction: forecast, parts } = await report(session);
  expect(forecast).toMatchObject({ auto: true, limit: 89_856, isMeasured: false });
  expect(forecast?.tokens).toBeGreaterThan(1_000);
  expect(forecast?.drops.length).toBeGreaterThanOrEqual(4);
  const dropped = parts.reduce((sum, part) => sum + (part.dropped ?? 0), 0);
  expect(dropped).toBe(forecast?.droppedTokens);
  expect(parts.find(({ name }) => name === 'results of look')).toMatchObject({ dropped: expect.any(Number) });
  const shown = JSON.stringify(await session.client.command('context', ''));
  expect(shown).toMatch(
    /A compaction comes by itself above 89,856 tokens; there are about \d,\d{3}\. It would put a summary in place of \d messages of about 1,0\d\d tokens\./,
  );
  expect(await session.client.command('compact', '')).toMatchObject({ ok: true });
  // As foretold, and then there is less to tell.
  await vi.waitFor(() => expect(session.events('compacted')[0]?.messages).toBe(forecast?.drops.length));
  expect((await report(session)).tokens).toBeLessThan(nothing.tokens);
});

test('without the plugin that compacts nothing is said of it', async () => {
  await using session = await open(stage(), [say('one')]);
  await session.run('a');
  expect((await report(session)).compaction).toBeNull();
  expect(JSON.stringify(await session.client.command('context', ''))).not.toContain('compaction');
});
