/** What a plugin says when the model has stopped and it wishes to go on. */
import { expect, test } from 'vitest';
import { type Compaction, definePlugin, type SessionFace } from 'cast';
import { type Beat, createTestSession, say } from 'cast/testkit';
import { LIMITS } from '../../../kernel/limits.ts';

test('a wish to go on is a reminder of its plugin, and no word of a person', async () => {
  let face: SessionFace | undefined;
  let job: Compaction | undefined;
  let wishes = 0;
  const going = definePlugin({
    name: 'going',
    apply: ({ hooks, session }) => {
      face = session;
      hooks.settle.tap('on', () => (wishes++ === 0 ? { continue: 'todos are open' } : undefined));
      hooks.compact.tap('look', (given) => {
        job = given;
        return { cancel: 'only looking' };
      });
    },
  });
  await using session = await createTestSession({ plugins: [going], script: [say('done?'), say('done')] });
  expect(await session.run('do it')).toMatchObject({ reason: 'stop', steps: 2 });

  const text = '<system-reminder>\ntodos are open\n</system-reminder>';
  expect(session.requests[1]?.messages.at(-1)).toMatchObject({ role: 'user', origin: 'going', reminder: true, blocks: [{ type: 'text', text }] });
  // Surfaces tell by the origin whose words they are, live and when they read them again.
  expect(session.events('input.accepted')).toEqual([
    { text: 'do it', origin: 'user' },
    { text, origin: 'going' },
  ]);
  const { items } = await session.client.page();
  expect(items.flatMap((item) => (item.kind === 'message' && item.message.role === 'user' ? [item.message] : []))).toMatchObject([
    { origin: 'user' },
    { origin: 'going', reminder: true },
  ]);
  await face?.compact('command', new AbortController().signal);
  expect(job?.messages.map(({ by }) => by)).toEqual(['person', 'model', 'kernel', 'model']);
  // The turn is the prompt's, so that is where it is rewound to.
  await session.client.rewind({ turn: 1 });
  expect((await session.client.page()).items.every((item) => item.kind !== 'message' || !item.inContext)).toBe(true);
});

test('a notice that begins a turn is its prompt, and no word of a person either', async () => {
  let job: Compaction | undefined;
  let face: SessionFace | undefined;
  let notify = (): void => undefined;
  const bringer = definePlugin({
    name: 'bringer',
    apply: (scope) => {
      face = scope.session;
      notify = () => scope.submit('bg-1 has ended', 'notice');
      scope.hooks.compact.tap('look', (given) => {
        job = given;
        return { cancel: 'only looking' };
      });
    },
  });
  await using session = await createTestSession({ plugins: [bringer], script: [say('noted')] });
  notify();
  await session.until('turn.ended');
  await face?.compact('command', new AbortController().signal);
  expect(job?.messages.map(({ by }) => by)).toEqual(['kernel', 'model']);
  await session.client.rewind({ turn: 1 });
});

test('notices that come in take nothing of what taps may add', async () => {
  let notify = (): void => undefined;
  const wishing = definePlugin({
    name: 'wishing',
    apply: (scope) => {
      notify = () => scope.submit('bg-1 has ended', 'notice');
      scope.hooks.settle.tap('on', () => ({ continue: 'go on' }));
    },
  });
  const noticed: Beat = (...given) => {
    notify();
    return say('noted')(...given);
  };
  const notices = Array.from({ length: LIMITS.continuations }, () => noticed);
  const rest = Array.from({ length: LIMITS.continuations + 1 }, () => say('done'));
  await using session = await createTestSession({ plugins: [wishing], script: [...notices, ...rest] });
  expect(await session.run('go')).toMatchObject({ reason: 'stop' });
  const brought = session.events('input.accepted').filter(({ origin }) => origin === 'wishing');
  expect(brought.filter(({ text }) => text.includes('bg-1'))).toHaveLength(LIMITS.continuations);
  expect(brought.filter(({ text }) => text.includes('go on'))).toHaveLength(LIMITS.continuations);
});
