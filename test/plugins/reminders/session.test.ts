import { describe, expect, test } from 'vitest';
import { definePlugin, defineTool, jsonSchema, type ModelRequest } from '../../../kernel/index.ts';
import { createMemoryStore, createTestSession, hang, manualClock, say, use } from '../../../kernel/testkit/index.ts';
import reminders from '../../../plugins/reminders/index.ts';

const DAY = 86_400_000;
const noon = new Date(2026, 2, 1, 12).getTime();
const remindersOf = (request: ModelRequest | undefined): readonly string[] =>
  (request?.messages ?? []).flatMap((message) =>
    message.blocks.flatMap((block) => (block.type === 'text' && block.text.startsWith('<system-reminder>') ? [block.text] : [])),
  );

const counter = (ran: unknown[]) =>
  definePlugin({
    name: 'counter',
    apply: ({ registries }) =>
      void registries.tools.add(
        defineTool({
          name: 'note',
          description: 'Notes.',
          input: jsonSchema<{ text: string }>({ type: 'object' }),
          effect: 'exec',
          run: async (input) => {
            ran.push(input);
            return 'noted';
          },
        }),
      ),
  });

describe('the date', () => {
  test('is told at the first turn, and again on a later day, also after a resume', async () => {
    const clock = manualClock(noon);
    const store = createMemoryStore(clock);
    const session = await createTestSession({ plugins: [reminders as never], script: [say('1'), say('2'), say('3')], clock, store });
    await session.run('one');
    await session.run('two');
    expect(remindersOf(session.requests[1]).filter((text) => text.includes('2026-03-01'))).toHaveLength(1);
    await clock.advance(DAY);
    await session.run('three');
    const all = remindersOf(session.requests[2]);
    expect(all).toHaveLength(2);
    expect(all[1]).toContain('Monday, 2026-03-02');
    // The prefix of earlier requests is not touched.
    expect(session.requests[2]?.messages.slice(0, session.requests[1]?.messages.length)).toEqual(session.requests[1]?.messages);
    await session.close();

    await using again = await createTestSession({ plugins: [reminders as never], script: [say('4')], clock, store, session: session.id });
    await again.run('four');
    expect(remindersOf(again.requests[0])).toEqual(all);
  });
  test('is told again when a compaction took it away', async () => {
    const shortener = definePlugin({
      name: 'shortener',
      apply({ hooks, registries }) {
        hooks.compact.tap('keep the newest', ({ cuts }) => ({ summary: 'It began.', keepFrom: cuts.at(-1) ?? '' }));
        registries.commands.add({
          name: 'shorten',
          summary: 'Compacts.',
          run: async (_, { session, signal }) => void (await session.compact('command', signal)),
        });
      },
    });
    await using session = await createTestSession({
      plugins: [reminders as never, shortener as never],
      script: [say('1'), say('2'), say('3'), say('4')],
      clock: manualClock(noon),
    });
    for (const text of ['one', 'two']) await session.run(text);
    expect(await session.client.command('shorten', '')).toMatchObject({ ok: true });
    for (const text of ['three', 'four']) await session.run(text);
    const told = (index: number) => remindersOf(session.requests[index]).filter((text) => text.includes('2026-03-01'));
    expect([2, 3].map((index) => told(index).length)).toEqual([1, 1]);
    expect(session.events('compacted')).toHaveLength(1);
  });
  test('never goes backwards', async () => {
    const store = createMemoryStore(manualClock(noon));
    const first = await createTestSession({ plugins: [reminders as never], script: [say('1')], clock: manualClock(noon), store });
    await first.run('one');
    await first.close();
    await using again = await createTestSession({
      plugins: [reminders as never],
      script: [say('2')],
      clock: manualClock(noon - DAY),
      store,
      session: first.id,
    });
    await again.run('two');
    expect(remindersOf(again.requests[0])).toHaveLength(1);
  });
});

describe('an interrupted turn', () => {
  test('is told once, at the next turn', async () => {
    await using session = await createTestSession({ plugins: [reminders as never], script: [hang(), say('2'), say('3')] });
    const ended = session.run('one');
    await session.until('turn.started');
    while (session.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await session.client.abort();
    expect((await ended).reason).toBe('aborted');
    await session.run('two');
    const told = (index: number) => remindersOf(session.requests[index]).filter((text) => text.includes('interrupted'));
    expect(told(0)).toEqual([]);
    expect(told(1)).toHaveLength(1);
    expect(told(1)[0]).toContain('by the user');
    await session.run('three');
    expect(told(2)).toHaveLength(1);
  });
});

describe('steps run out', () => {
  test('the model is told four steps before the cap and at the last', async () => {
    const steps = Array.from({ length: 6 }, (_, index) => use('note', { text: String(index) }));
    await using session = await createTestSession({ plugins: [reminders as never, counter([]) as never], script: steps, config: { limits: { maxSteps: 6 } } });
    expect((await session.run('go')).reason).toBe('limit');
    const told = session.requests.map((request) => remindersOf(request).filter((text) => /step/.test(text)).length);
    expect(told).toEqual([0, 0, 1, 1, 1, 2]);
  });
  test('also where nobody has set a cap, as there is one', async () => {
    let cap = 0;
    const looking = definePlugin({ name: 'looking', apply: ({ hooks, session }) => hooks.prepare.tap('look', () => void (cap = session.maxSteps)) });
    const steps = Array.from({ length: 500 }, (_, index) => use('note', { text: String(index) }));
    await using session = await createTestSession({ plugins: [reminders as never, counter([]) as never, looking as never], script: steps });
    expect(await session.run('go')).toMatchObject({ reason: 'limit', steps: 500 });
    expect(cap).toBe(500);
    const told = session.requests.slice(-5).map((request) => remindersOf(request).filter((text) => /step/.test(text)).length);
    expect(told).toEqual([0, 1, 1, 1, 2]);
  });
});

describe('the fourth identical call', () => {
  test('is blocked one by one', async () => {
    const ran: unknown[] = [];
    const same = Array.from({ length: 4 }, () => use('note', { text: 'x' }));
    await using session = await createTestSession({
      plugins: [reminders as never, counter(ran) as never],
      script: [...same, use('note', { text: 'y' }), say('done')],
    });
    const ended = await session.run('go');
    expect(ran).toEqual([{ text: 'x' }, { text: 'x' }, { text: 'x' }, { text: 'y' }]);
    const results = session.events('tool.ended');
    expect(results.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok', 'denied', 'ok']);
    expect(results[3]).toMatchObject({ error: { code: 'DOOM_LOOP' } });
    expect(session.events('plugin')).toMatchObject([{ plugin: 'reminders', name: 'doom_loop' }]);
    expect(ended.exitCode).toBe(0);
  });
  test('is blocked within one batch, and free again after new input', async () => {
    const ran: unknown[] = [];
    const batch = use(...Array.from({ length: 5 }, () => ['note', { text: 'x' }] as const));
    await using session = await createTestSession({ plugins: [reminders as never, counter(ran) as never], script: [batch, say('1'), batch, say('2')] });
    await session.run('go');
    expect(ran).toHaveLength(3);
    await session.run('again');
    expect(ran).toHaveLength(6);
  });
});
