import { describe, test } from 'vitest';
import { conformance, say, use } from '../../../kernel/testkit/index.ts';
import plugin from '../../../plugins/bash/index.ts';
import shell from '../../../plugins/shell/index.ts';

describe('bash', () => {
  for (const check of conformance(plugin as never)) test(check.name, check.run);
});

describe('bash with a person, and a task that is left running', () => {
  const script = [use('bash', { command: 'echo begun; sleep 400', run_in_background: true }), say('done')];
  const checks = conformance(plugin as never, { neighbours: [shell as never], session: { interactive: true }, script });
  for (const check of checks) test(check.name, check.run);
});
