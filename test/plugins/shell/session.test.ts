import { expect, test } from 'vitest';
import { definePlugin, defineTool, jsonSchema } from '../../../kernel/index.ts';
import { createTestSession, say, use } from '../../../kernel/testkit/index.ts';
import shell from '../../../plugins/shell/index.ts';

test('the grammar is there for the first gate that sees a command', async () => {
  const seen: unknown[] = [];
  const looker = definePlugin({
    name: 'looker',
    uses: ['shell'],
    apply({ hooks, registries, services }) {
      registries.tools.add(
        defineTool({
          name: 'bash',
          description: 'Does nothing.',
          input: jsonSchema<{ command: string }>({ type: 'object', properties: { command: { type: 'string' } } }),
          effect: 'exec',
          run: async () => 'ok',
        }),
      );
      hooks.gate.tap('look', { stage: 'mode', when: { tool: 'bash' } }, (call) => {
        const service = services.get('shell');
        seen.push([service.parts(call.input.command)?.length, service.isReadOnly(call.input.command), service.dangers(call.input.command)]);
      });
    },
  });
  await using session = await createTestSession({
    plugins: [shell as never, looker as never],
    script: [use('bash', { command: 'ls && sudo ls' }), say('done')],
  });
  await session.run('go');
  expect(seen).toEqual([[3, false, ['sudo']]]);
});
