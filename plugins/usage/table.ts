/** What `/usage` shows. */
import type { Sketch, UsageService, UsageTotals } from '../../kernel/index.ts';

const HEAD = ['model', 'prompt', 'cache read', 'cache write', 'uncached', 'completion', 'sub-agents', 'total', 'cost'];

export const usageTable = (usage: UsageService): Sketch => {
  const models = Object.entries(usage.byModel());
  if (models.length === 0) return { kind: 'text', text: 'No tokens have been used in this session.' };
  const rows = models.map(([model, totals]) => ({ cells: cellsOf(model, totals) }));
  // What the known ones cost is not what all of them cost.
  const isPartial = models.some(([, { cost }]) => cost === undefined);
  const total = models.length > 1 ? [{ cells: cellsOf('all', usage.total(), isPartial ? 'at least ' : '') }] : [];
  return {
    kind: 'rows',
    rows: [
      { kind: 'table', head: HEAD, rows: [...rows, ...total] },
      { kind: 'text', text: `Context: ${number(usage.contextTokens())} tokens in the newest request.` },
    ],
  };
};

const cellsOf = (name: string, totals: UsageTotals, bound = ''): readonly string[] => [
  name,
  ...[totals.promptTokens, totals.cacheReadTokens, totals.cacheWriteTokens, totals.uncachedTokens].map(number),
  ...[totals.completionTokens, totals.subagentTokens, totals.totalTokens].map(number),
  totals.cost === undefined ? 'unknown' : `${bound}$${totals.cost.toFixed(4)}`,
];
const number = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',');
