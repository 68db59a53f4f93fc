import { expect, test } from 'vitest';
import { createTestSession, type Beat } from '../../../kernel/testkit/index.ts';
import budget from '../../../plugins/budget/index.ts';
import usage from '../../../plugins/usage/index.ts';
import { answering, delegatePlugin, type Delegations } from '../../kernel/session/delegate.ts';

/** A reply that is said to have taken a thousand tokens. */
const costly = (reply: { readonly text: string } | { readonly prompt: string }): Beat =>
  function* () {
    if ('text' in reply) yield { type: 'text', text: reply.text };
    else yield { type: 'call', id: 'c1', tool: 'task', arguments: JSON.stringify({ prompt: reply.prompt }) };
    yield { type: 'usage', promptTokens: 900, completionTokens: 100, totalTokens: 1_000 };
    yield { type: 'end', reason: 'text' in reply ? 'stop' : 'calls' };
  };

test('what a child of a child spends counts for all of them', async () => {
  const seen: Delegations = { ends: [], events: [] };
  const next: Readonly<Record<string, string>> = { top: 'middle', middle: 'bottom' };
  const script = answering((prompt, results) =>
    costly(results.length === 0 && next[prompt] !== undefined ? { prompt: next[prompt] } : { text: `${prompt} is done` }),
  );
  const session = await createTestSession({
    plugins: [usage, budget, delegatePlugin(seen)] as never[],
    script,
    config: { limits: { maxTokens: 3_050, maxOutputTokens: 300 } },
  });
  const { reason } = await session.run('top');
  const [bottom, middle] = seen.ends;
  expect(bottom).toMatchObject({ reason: 'stop', text: 'bottom is done', usage: { totalTokens: 1_000 } });
  expect(middle).toMatchObject({
    reason: 'limit',
    error: { code: 'BUDGET_EXCEEDED', message: expect.stringContaining('3,000 tokens') as string },
    usage: { totalTokens: 2_000 },
  });
  expect(reason).toBe('limit');
  await session.close();
});
