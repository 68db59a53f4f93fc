import { expect, test } from 'vitest';
import { createTestSession, fail, say } from '../../../../kernel/testkit/index.ts';
import { createLonger } from '../../../../plugins/providers/failures/longer.ts';
import providers from '../../../../plugins/providers/index.ts';

const at = { turn: 1, step: 2, attempt: 2 };
const room = () => ({ window: 100_000, prompt: 1_000 });

test.each([
  ['twice as much', 8_000, { window: 100_000, prompt: 1_000 }, { maxOutputTokens: 16_000 }],
  ['what the model gives', 8_000, { window: 100_000, prompt: 1_000, maxOutput: 10_000 }, { maxOutputTokens: 10_000 }],
  ['what the window leaves', 8_000, { window: 20_000, prompt: 10_000 }, { maxOutputTokens: 8_976 }],
  ['nothing else, where there is no room', 8_000, { window: 20_000, prompt: 12_000 }, undefined],
  ['nothing else, where the model gives no more', 8_000, { window: 100_000, prompt: 0, maxOutput: 8_000 }, undefined],
  ['nothing else, where there is no limit', undefined, { window: 100_000, prompt: 0 }, undefined],
])('a reply that was cut is asked for with %s', (_name, limit, there, change) => {
  const longer = createLonger();
  longer.note({ kind: 'cut' }, at);
  expect(longer.ask(limit === undefined ? {} : { maxOutputTokens: limit }, at, () => there)).toEqual(change);
});

test('holds for the step that was cut, and for no other failure', () => {
  const longer = createLonger();
  for (const kind of ['overload', 'network', 'overflow'] as const) longer.note({ kind }, at);
  expect(longer.ask({ maxOutputTokens: 8 }, at, room)).toBeUndefined();
  longer.note({ kind: 'empty' }, at);
  expect(longer.ask({ maxOutputTokens: 8 }, { ...at, step: 3 }, room)).toBeUndefined();
  expect(longer.ask({ maxOutputTokens: 8 }, { ...at, attempt: 1 }, room)).toBeUndefined();
  expect(longer.ask({ maxOutputTokens: 8 }, at, room)).toEqual({ maxOutputTokens: 16 });
});

test('in a session: cut once, asked for again with twice the limit and a reminder, then as before', async () => {
  await using session = await createTestSession({
    plugins: [providers as never],
    script: [fail('cut', 'cut off', { after: 'half' }), say('whole'), say('next')],
    config: { limits: { maxOutputTokens: 1_000 } },
  });
  expect((await session.run('go')).reason).toBe('stop');
  await session.run('go on');
  expect(session.requests.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([1_000, 2_000, 1_000]);
  expect(JSON.stringify(session.requests[1]?.messages)).toContain('cut off by the limit');
});
