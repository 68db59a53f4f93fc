/** What a tap of `compact` is told, and where it may cut. */
import { expect, test } from 'vitest';
import { definePlugin, type Compaction, type SessionFace } from 'cast';
import { createTestSession, say, use } from 'cast/testkit';

test('a reminder of a plugin is no prompt: nobody wrote it, and no cut is made before it', async () => {
  let face: SessionFace | undefined;
  let job: Compaction | undefined;
  const plugin = definePlugin({
    name: 'reminding',
    apply: (scope) => {
      face = scope.session;
      scope.hooks.prepare.tap('remind', ({ turn, step }) => scope.remind(`turn ${turn}, step ${step}`));
      scope.hooks.compact.tap('look', (given) => {
        job = given;
        return { cancel: 'only looking' };
      });
    },
  });
  await using session = await createTestSession({ plugins: [plugin], script: [use('nothing'), say('one'), use('nothing'), say('two')] });
  await session.run('first');
  await session.run('second');
  await face?.compact('command', new AbortController().signal);
  const byPerson = (job?.messages ?? []).filter(({ by }) => by === 'person');
  expect(byPerson.map(({ text }) => text)).toEqual(['first', 'second']);
  expect(job?.messages.filter(({ by }) => by === 'kernel').map(({ text }) => text.match(/turn \d, step \d/)?.[0])).toEqual([
    'turn 1, step 1',
    'turn 1, step 2',
    'turn 2, step 1',
    'turn 2, step 2',
  ]);
  const prompt = byPerson.at(-1)?.id;
  const replies = job?.messages.filter(({ by }) => by === 'model').slice(-2) ?? [];
  expect(job?.cuts).toEqual([prompt, ...replies.map(({ id }) => id)]);
});
