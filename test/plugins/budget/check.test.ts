import { expect, test } from 'vitest';
import type { ConfigView, ModelRequest, Usage } from '../../../kernel/index.ts';
import { budgetsOf, verdictOn, type Sources } from '../../../plugins/budget/check.ts';
import { Spending } from '../../../plugins/budget/spending.ts';

const REQUEST: ModelRequest = {
  purpose: 'main',
  session: 's',
  provider: 'p',
  model: 'm',
  system: 'x'.repeat(4_000),
  messages: [],
  tools: [],
  maxOutputTokens: 2_000,
};
const config = (limits: object): ConfigView => ({ value: { limits }, origin: () => undefined, entries: () => [] });
const used = (promptTokens: number, cost: number): Usage => ({
  promptTokens,
  completionTokens: 0,
  totalTokens: promptTokens,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  cost,
});
const sources = (limits: object, run: Spending, more: Partial<Sources> = {}): Sources => ({
  config: config(limits),
  options: {},
  run: run.spent,
  total: undefined,
  today: undefined,
  ...more,
});

test('B021: what sub-agents used counts towards the budget of the run, and is named apart', () => {
  const spending = new Spending();
  spending.add(used(6_000, 0.3), false);
  spending.add(used(3_000, 0.2), true);
  const tokens = verdictOn(REQUEST, budgetsOf(sources({ maxTokens: 10_000 }, spending)), undefined);
  expect(tokens).toMatchObject({ refuse: { message: expect.stringContaining('9,000 tokens (3,000 tokens by sub-agents) of 10,000 tokens are used') } });
  const money = verdictOn(REQUEST, budgetsOf(sources({ maxCost: 0.51 }, spending)), { in: 10, out: 10 });
  expect(money).toMatchObject({ refuse: { message: expect.stringContaining('$0.5000 ($0.2000 by sub-agents) of $0.5100 are spent') } });
});

test('the tightest budget decides, and writing into a cache may be dearer than reading', () => {
  const spending = new Spending();
  spending.add(used(500, 0), false);
  const both = budgetsOf(
    sources({ maxTokens: 1_000_000 }, spending, { options: { day: { maxTokens: 5_000 } }, today: { cost: 0, tokens: 2_500, childCost: 0, childTokens: 0 } }),
  );
  expect(verdictOn(REQUEST, both, undefined)).toEqual({ maxOutputTokens: 1_499 });
  const money = budgetsOf(sources({ maxCost: 0.02 }, new Spending()));
  expect(verdictOn(REQUEST, money, { in: 10, out: 1 })).toBeUndefined();
  expect(verdictOn(REQUEST, money, { in: 10, out: 1, cacheWrite: 20 })).toMatchObject({ refuse: { code: 'BUDGET_EXCEEDED' } });
});

test('a session counts what it used before this run, and never less than this run', () => {
  const spending = new Spending();
  spending.add(used(4_000, 0), false);
  const totals = { ...used(1_000, 0), uncachedTokens: 0, subagentTokens: 0 };
  const [session] = budgetsOf(sources({}, spending, { options: { session: { maxTokens: 5_000 } }, total: totals }));
  expect(session?.spent.tokens).toBe(4_000);
});
