import { describe, expect, test } from 'vitest';
import { definePlugin, defineTool, jsonSchema, type Plugin, type Scope } from '../../../kernel/index.ts';
import { type Beat, createTestSession, fail, hang, say, type TestSession, use } from '../../../kernel/testkit/index.ts';
import todo from '../../../plugins/todo/index.ts';

const OPEN = [
  { content: 'Write the test', status: 'in_progress', priority: 'high' },
  { content: 'Read the code', status: 'completed', priority: 'high' },
  { content: 'Ship', status: 'pending', priority: 'low' },
];
const write = (todos: readonly object[]): Beat => use('todo_write', { todos });

const open = (script: readonly Beat[], ...more: readonly Plugin[]) => createTestSession({ plugins: [todo as never, ...more], script });
const told = (session: TestSession): readonly string[] =>
  session
    .all()
    .flatMap((event) =>
      event.type === 'plugin' && event.data.plugin === 'todo' && event.data.name.startsWith('open_work')
        ? [JSON.stringify([event.data.name, event.data.data])]
        : [],
    );
const GATE = (fires: number): string => JSON.stringify(['open_work_gate', { fires, openSteps: 2 }]);
const EXHAUSTED = JSON.stringify(['open_work_gate_exhausted', { openSteps: 2, maxFires: 2 }]);

describe('a model that stops while todos are open', () => {
  test('is told twice which, in the name of the plugin, and then let go', async () => {
    await using session = await open([write(OPEN), say('1'), say('2'), say('3'), say('4')]);
    expect(await session.run('go')).toMatchObject({ reason: 'stop', exitCode: 0, steps: 4 });
    expect(told(session)).toEqual([GATE(1), GATE(2), EXHAUSTED]);
    expect(session.events('notice')).toEqual([{ text: 'The model has stopped with 2 todos open.', code: 'OPEN_WORK' }]);
    const nudges = session.requests.at(-1)?.messages.filter(({ origin }) => origin === 'todo') ?? [];
    expect(nudges).toMatchObject([{ role: 'user', reminder: true }, { reminder: true }]);
    const [text] = nudges[0]?.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])) ?? [];
    expect(text).toMatch(/^<system-reminder>\n[^]*- \[~\] \(high\) Write the test\n- \[ \] \(low\) Ship\n[^]*<\/system-reminder>$/);
    expect(text).not.toContain('Read the code');
    // For the user alone: the conversation ends with the reply.
    const newest = (await session.entries()).findLast((entry) => entry.kind === 'message');
    expect(newest?.data).toMatchObject({ role: 'assistant', origin: 'model' });
    await session.run('go on');
    expect(told(session)).toHaveLength(4);
  });

  test('may close them', async () => {
    const closed = OPEN.map((each, index) => ({ ...each, status: index === 0 ? 'completed' : 'cancelled' }));
    await using session = await open([write(OPEN), say('1'), write(closed), say('2')]);
    expect(await session.run('go')).toMatchObject({ steps: 4 });
    expect(told(session)).toEqual([GATE(1)]);
  });

  test.each(['steer', 'queue'] as const)('is told again after a follow-up of a person (%s)', async (how) => {
    let follow: (() => Promise<unknown>) | undefined = () => session.client[how]('and this', 'b');
    const following = definePlugin({
      name: 'following',
      apply: ({ hooks }) =>
        hooks.reply.tap('at the second nudge', async () => {
          if (told(session).length < 2) return;
          await follow?.();
          follow = undefined;
        }),
    });
    await using session = await open([write(OPEN), ...Array.from({ length: 9 }, (_, index) => say(`${index}`))], following);
    const last = session.until('turn.ended', ({ turn }) => turn === (how === 'queue' ? 2 : 1));
    await session.client.submit({ text: 'go', clientId: 'a' });
    await last;
    const again = [GATE(1), GATE(2), EXHAUSTED];
    expect(told(session)).toEqual(how === 'queue' ? [...again, ...again] : [GATE(1), GATE(2), ...again]);
  });

  test('is not told again because a plugin brings something', async () => {
    let submit: Scope<unknown, never>['submit'] = () => undefined;
    const bringer = definePlugin({
      name: 'bringer',
      apply: (scope) => {
        submit = scope.submit;
      },
    });
    await using session = await open([write(OPEN), say('1'), say('2'), say('3'), say('4')], bringer);
    await session.run('go');
    const ended = session.until('turn.ended', ({ turn }) => turn === 2);
    submit('bg-1 has ended', 'notice');
    expect(await ended).toMatchObject({ steps: 1 });
    expect(told(session)).toEqual([GATE(1), GATE(2), EXHAUSTED]);
  });
});

describe('nobody is nudged', () => {
  const ending = definePlugin({
    name: 'ending',
    apply: ({ registries }) =>
      void registries.tools.add(
        defineTool({
          name: 'end',
          description: 'Ends the turn.',
          input: jsonSchema<object>({ type: 'object' }),
          effect: 'exec',
          run: async () => ({ content: 'over', endsTurn: true }),
        }),
      ),
  });
  const closing = definePlugin({
    name: 'closing',
    apply: ({ hooks }) => hooks.offer.tap('no list', (offer, { turn }) => offer.keep(({ name }) => turn === 1 || name !== 'todo_write', 'not now')),
  });
  const done = OPEN.map((each) => ({ ...each, status: 'completed' }));
  const cancelled = OPEN.map((each) => ({ ...each, status: 'cancelled' }));

  test.each<[string, readonly Beat[]]>([
    ['without a list', [say('done')]],
    ['for an empty list', [write([]), say('done')]],
    ['when all is completed', [write(done), say('done')]],
    ['when all is cancelled', [write(cancelled), say('done')]],
    ['after a tool that ended the turn', [write(OPEN), use('end')]],
    ['when the provider fails', [write(OPEN), fail('bad_request')]],
  ])('%s', async (_, script) => {
    await using session = await open(script, ending);
    await session.run('go');
    expect(told(session)).toEqual([]);
    expect(session.requests).toHaveLength(script.length);
  });

  test('when the reply is aborted', async () => {
    await using session = await open([write(OPEN), hang()]);
    const ended = session.run('go');
    await session.until('tool.ended');
    await session.client.abort();
    expect(await ended).toMatchObject({ reason: 'aborted' });
    expect(told(session)).toEqual([]);
  });

  test('who is not offered the tool', async () => {
    await using session = await open([write(OPEN), say('1'), say('2'), say('3'), say('4')], closing);
    await session.run('go');
    expect(told(session)).toHaveLength(3);
    expect(await session.run('plan')).toMatchObject({ steps: 1 });
    expect(told(session)).toHaveLength(3);
  });
});
