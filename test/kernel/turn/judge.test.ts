/** A call that turns out to be about something else once it runs: the gates are asked about that as well. */
import { expect, test } from 'vitest';
import { definePlugin, defineTool, jsonSchema } from 'cast';
import { createTestSession, say, use } from 'cast/testkit';

const walker = (arrived: string[]) =>
  definePlugin({
    name: 'walker',
    apply: ({ registries }) =>
      void registries.tools.add(
        defineTool({
          name: 'walk',
          description: 'Goes where it is led.',
          effect: 'read',
          input: jsonSchema<{ to: string; onward?: string }>({
            type: 'object',
            properties: { to: { type: 'string' }, onward: { type: 'string' } },
            required: ['to'],
          }),
          run: async ({ to, onward }, call) => {
            arrived.push(to);
            const refusal = onward === undefined ? undefined : await call.judge({ to: onward });
            if (refusal) return refusal;
            if (onward !== undefined) arrived.push(onward);
            return 'there';
          },
        }),
      ),
  });
const guard = definePlugin({
  name: 'guard',
  apply: ({ hooks }) =>
    hooks.gate.tap('places', { when: { tool: 'walk' } }, ({ input }) => {
      if (input['to'] === 'cellar') return { deny: 'not the cellar', code: 'OUT_OF_BOUNDS' };
      return input['to'] === 'attic' ? { ask: 'The attic?' } : undefined;
    }),
});

test('it is refused as if it had been called so, with reason and code', async () => {
  const arrived: string[] = [];
  await using session = await createTestSession({ plugins: [walker(arrived), guard], script: [use('walk', { to: 'hall', onward: 'cellar' }), say('ok')] });
  await session.run('go');
  expect(arrived).toEqual(['hall']);
  expect(session.results()).toMatchObject([{ status: 'denied', content: 'not the cellar', error: { code: 'OUT_OF_BOUNDS' } }]);
});

test.each([
  ['once', ['hall', 'attic'], 'ok'],
  ['reject', ['hall'], 'denied'],
])('a person is asked, and answers %s', async (choice, expected, status) => {
  const arrived: string[] = [];
  const answer = ({ text, call }: { text: string; call?: { input: unknown } }): string | undefined =>
    text === 'The attic?' && JSON.stringify(call?.input) === '{"to":"attic"}' ? choice : undefined;
  const script = [use('walk', { to: 'hall', onward: 'attic' }), say('ok')];
  await using session = await createTestSession({ plugins: [walker(arrived), guard], interactive: true, answer, script });
  await session.run('go');
  expect(arrived).toEqual(expected);
  expect(session.results()).toMatchObject([{ status }]);
});

test('what no gate objects to goes on', async () => {
  const arrived: string[] = [];
  await using session = await createTestSession({ plugins: [walker(arrived), guard], script: [use('walk', { to: 'hall', onward: 'kitchen' }), say('ok')] });
  await session.run('go');
  expect(arrived).toEqual(['hall', 'kitchen']);
  expect(session.results()).toMatchObject([{ status: 'ok', content: 'there' }]);
});
