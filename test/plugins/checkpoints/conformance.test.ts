import { describe, test } from 'vitest';
import { conformance } from '../../../kernel/testkit/index.ts';
import plugin from '../../../plugins/checkpoints/index.ts';

describe('checkpoints', () => {
  for (const check of conformance(plugin as never)) test(check.name, check.run);
});
