import { describe, test } from 'vitest';
import { conformance } from '../../../kernel/testkit/index.ts';
import plugin from '../../../plugins/fallback/index.ts';

describe('fallback', () => {
  const session = { config: { fallback: ['script/other'] } };
  for (const check of conformance(plugin as never, { session })) test(check.name, check.run);
});
