import { describe, test } from 'vitest';
import { conformance } from '../../../kernel/testkit/index.ts';
import plugin from '../../../plugins/providers/index.ts';

describe('providers', () => {
  for (const check of conformance(plugin as never, { session: { config: { providers: { here: { baseUrl: 'http://127.0.0.1:9/v1' } } } } }))
    test(check.name, check.run);
});
