import { describe, test } from 'vitest';
import { conformance } from '../../../kernel/testkit/index.ts';
import plugin from '../../../plugins/web/index.ts';

describe('web', () => {
  for (const check of conformance(plugin as never)) test(check.name, check.run);
});
