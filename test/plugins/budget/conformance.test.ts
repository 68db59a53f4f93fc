import { describe, test } from 'vitest';
import { conformance } from '../../../kernel/testkit/index.ts';
import plugin from '../../../plugins/budget/index.ts';

describe('budget', () => {
  for (const check of conformance(plugin as never, { session: { config: { limits: { maxTokens: 1_000_000 } } } })) test(check.name, check.run);
});
