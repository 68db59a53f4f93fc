import { describe, test } from 'vitest';
import { conformance } from '../../../kernel/testkit/index.ts';
import plugin from '../../../plugins/session-jsonl/index.ts';

describe('session-jsonl', () => {
  for (const check of conformance(plugin as never, { session: { config: { plugins: { 'session-jsonl': true } } } })) test(check.name, check.run);
});
