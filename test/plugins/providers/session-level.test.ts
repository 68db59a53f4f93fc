import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { createMemoryStore } from '../../../kernel/session/memory-store.ts';
import { createTestSession, manualClock, say, type TestSession } from '../../../kernel/testkit/index.ts';
import { definePlugin, type CastConfig, type Store } from '../../../kernel/index.ts';
import providers from '../../../plugins/providers/index.ts';

/** Behind the tap of the plugin: what is really asked for. */
const looking = (sent: (string | undefined)[]) =>
  definePlugin({ name: 'looking', apply: ({ hooks }) => hooks.request.tap('look', { stage: 'late' }, ({ reasoning }) => void sent.push(reasoning)) });

const open = (store: Store, sent: (string | undefined)[], settings: CastConfig, flags: CastConfig, session?: string): Promise<TestSession> =>
  createTestSession({
    plugins: { providers, looking: looking(sent) },
    store,
    cwd: tmpdir(),
    settings: { provider: 'script', model: 'script-model', ...settings },
    config: flags,
    script: Array.from({ length: 6 }, () => say('fine')),
    ...(session === undefined ? {} : { session }),
  });

test('a level that a flag asked for is that of its session, until another one is chosen', async () => {
  const store = createMemoryStore(manualClock());
  const sent: (string | undefined)[] = [];
  const first = await open(store, sent, { reasoning: 'low' }, { reasoning: 'high' });
  await first.run('a');
  await first.run('b');
  await first.close();
  const second = await open(store, sent, { reasoning: 'low' }, {}, first.id);
  await second.run('c');
  expect(await second.client.command('reasoning', 'medium')).toMatchObject({ ok: true });
  await second.run('d');
  await second.close();
  expect(sent).toEqual(['high', 'high', 'high', 'medium']);
  const levels = (await store.branch(first.id)).flatMap((entry) => (entry.kind === 'plugin' && entry.data.slice === 'level' ? [entry.data.data] : []));
  expect(levels).toEqual([{ level: { provider: 'script', model: 'script-model', level: 'high' } }, { level: null }]);
});

test('another flag wins, another model has no part in it, and without a flag nothing is recorded', async () => {
  const store = createMemoryStore(manualClock());
  const sent: (string | undefined)[] = [];
  const first = await open(store, sent, {}, { reasoning: 'high' });
  await first.run('a');
  await first.close();
  for (const flags of [{ reasoning: 'max' }, {}, { model: 'other' }]) {
    const next = await open(store, sent, {}, flags, first.id);
    await next.run('go');
    await next.close();
  }
  expect(sent).toEqual(['high', 'max', 'max', undefined]);
  const plain = await open(store, sent, { reasoning: 'low' }, {});
  await plain.run('x');
  expect((await store.branch(plain.id)).filter(({ kind }) => kind === 'plugin')).toEqual([]);
  await plain.close();
});
