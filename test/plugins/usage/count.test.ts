import { expect, test } from 'vitest';
import type { Usage } from '../../../kernel/index.ts';
import { add, NOTHING, totalsOf } from '../../../plugins/usage/count.ts';
import { Ledger } from '../../../plugins/usage/ledger.ts';
import { usageTable } from '../../../plugins/usage/table.ts';

const usage = (more: Partial<Usage> = {}): Usage => ({
  promptTokens: 100,
  completionTokens: 10,
  totalTokens: 110,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  ...more,
});

const MAIN = { provider: 'one', active: 'one', isChild: false, isMain: true };
const CHILD = { ...MAIN, isChild: true };
const JUDGE = { ...MAIN, isMain: false };

test.each<[Partial<Usage>, Partial<typeof NOTHING>]>([
  [{}, { promptTokens: 100, totalTokens: 110, uncachedTokens: 100, subagentTokens: 0 }],
  [{ totalTokens: 999 }, { totalTokens: 110 }],
  [{ promptTokens: -5 }, { promptTokens: 0, totalTokens: 10, uncachedTokens: 0 }],
  [{ completionTokens: Number.NaN }, { completionTokens: 0, totalTokens: 100 }],
  [{ cacheReadTokens: 80 }, { cacheReadTokens: 80, uncachedTokens: 20 }],
  [{ cacheReadTokens: 500 }, { uncachedTokens: 0 }],
  [
    { cacheReadTokens: 50, cacheWriteTokens: 30 },
    { cacheWriteTokens: 30, uncachedTokens: 20 },
  ],
  [{ cost: -1 }, { cost: 0 }],
])('%j', (given, expected) => expect(totalsOf(usage(given), false)).toMatchObject(expected));

test('a part of the total is that of sub-agents', () => expect(totalsOf(usage(), true).subagentTokens).toBe(110));
test('an unknown cost stays unknown, and does not hide a known one', () => {
  expect(add(NOTHING, NOTHING)).not.toHaveProperty('cost');
  expect(add(totalsOf(usage({ cost: 0.5 }), false), totalsOf(usage(), false)).cost).toBe(0.5);
});

test('the context is that of the newest reply, not of a judge or a child', () => {
  const ledger = new Ledger('s', () => null);
  expect(ledger.contextTokens()).toBe(0);
  ledger.book({ ...MAIN, model: 'm', usage: usage({ promptTokens: 1000 }) });
  ledger.book({ ...CHILD, model: 'm', usage: usage({ promptTokens: 0 }) });
  ledger.book({ ...JUDGE, model: 'small', usage: usage({ promptTokens: 7 }) });
  ledger.book({ ...CHILD, model: 'm', usage: usage({ promptTokens: 3 }) });
  expect(ledger.contextTokens()).toBe(1000);
  expect(ledger.total().promptTokens).toBe(1010);
});
test('sums of another session are not taken over: a fork begins at nothing', () => {
  const first = new Ledger('a', () => null);
  first.book({ ...MAIN, model: 'm', usage: usage() });
  expect(new Ledger('a', () => first.sums).total().totalTokens).toBe(110);
  expect(new Ledger('b', () => first.sums).total().totalTokens).toBe(0);
});
test('the table has a row a model and one for all', () => {
  const ledger = new Ledger('s', () => null);
  expect(usageTable(ledger)).toMatchObject({ kind: 'text' });
  ledger.book({ ...MAIN, model: 'big', usage: usage({ promptTokens: 1234567, cost: 0.5 }) });
  ledger.book({ ...CHILD, model: 'small', usage: usage() });
  expect(usageTable(ledger)).toMatchObject({
    kind: 'rows',
    rows: [
      {
        kind: 'table',
        rows: [
          { cells: ['big', '1,234,567', '0', '0', '1,234,567', '10', '0', '1,234,577', '$0.5000'] },
          { cells: ['small', '100', '0', '0', '100', '10', '110', '110', 'unknown'] },
          { cells: ['all', '1,234,667', '0', '0', '1,234,667', '20', '110', '1,234,687', 'at least $0.5000'] },
        ],
      },
      { kind: 'text', text: 'Context: 1,234,567 tokens in the newest request.' },
    ],
  });
});
test('another provider that becomes the active one keeps its sums apart, also in a later process', () => {
  const first = new Ledger('s', () => null);
  first.book({ ...MAIN, model: 'm', usage: usage() });
  first.book({ ...MAIN, provider: 'two', model: 'm', usage: usage() });
  const next = new Ledger('s', () => first.sums);
  next.book({ ...MAIN, provider: 'two', active: 'two', model: 'm', usage: usage() });
  next.book({ ...MAIN, active: 'two', model: 'm', usage: usage() });
  expect(Object.entries(next.byModel()).map(([name, { totalTokens }]) => [name, totalTokens])).toEqual([
    ['m', 220],
    ['two/m', 220],
  ]);
});
