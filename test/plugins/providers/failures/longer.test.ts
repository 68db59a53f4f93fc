import { expect, test } from 'vitest';
import { definePlugin, type CastConfig, type ModelInfo } from '../../../../kernel/index.ts';
import { createTestSession, fail, say, scriptedProvider } from '../../../../kernel/testkit/index.ts';
import { createLonger } from '../../../../plugins/providers/failures/longer.ts';
import providers from '../../../../plugins/providers/index.ts';

const at = { turn: 1, step: 2, attempt: 2 };

test.each([
  ['twice as much', 8_000, { maxOutputTokens: 16_000 }],
  ['nothing else, where there is no limit', undefined, undefined],
])('a reply that was cut is asked for with %s', (_name, limit, change) => {
  const longer = createLonger();
  longer.note({ kind: 'cut' }, at);
  expect(longer.ask(limit === undefined ? {} : { maxOutputTokens: limit }, at)).toEqual(change);
});

test.each<[string, Omit<ModelInfo, 'id'>, CastConfig['limits'], readonly [number, number]]>([
  ['twice as much', {}, undefined, [8_192, 16_384]],
  ['what the model gives', { maxOutput: 10_000 }, { maxOutputTokens: 8_000 }, [8_000, 10_000]],
  ['no more, where the model gives no more', { maxOutput: 8_000 }, undefined, [8_000, 8_000]],
  ['what is little, where the window leaves no more', { contextWindow: 1_200 }, undefined, [256, 256]],
])('in a session a reply that was cut is asked for with %s', async (_name, info, limits, asked) => {
  const script = scriptedProvider([fail('cut', 'cut off'), say('whole')]);
  const known = definePlugin({
    name: 'known',
    apply: ({ registries }) => void registries.providers.add({ ...script, name: 'known', info: (id) => ({ id, ...info }) }),
  });
  const config = { provider: 'known', model: 'm', ...(limits ? { limits } : {}) };
  await using session = await createTestSession({ plugins: [providers as never, known as never], config });
  await session.run('go');
  expect(script.requests.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual(asked);
});

test('holds for the step that was cut, and for no other failure', () => {
  const longer = createLonger();
  for (const kind of ['overload', 'network', 'overflow'] as const) longer.note({ kind }, at);
  expect(longer.ask({ maxOutputTokens: 8 }, at)).toBeUndefined();
  longer.note({ kind: 'empty' }, at);
  expect(longer.ask({ maxOutputTokens: 8 }, { ...at, step: 3 })).toBeUndefined();
  expect(longer.ask({ maxOutputTokens: 8 }, { ...at, attempt: 1 })).toBeUndefined();
  expect(longer.ask({ maxOutputTokens: 8 }, at)).toEqual({ maxOutputTokens: 16 });
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
