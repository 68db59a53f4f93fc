/** Adding up tokens. */
import type { Usage, UsageTotals } from '../../kernel/index.ts';

export const NOTHING: UsageTotals = {
  promptTokens: 0,
  completionTokens: 0,
  totalTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  uncachedTokens: 0,
  subagentTokens: 0,
};

/** What one request used. Providers report nonsense at times: what is no positive number counts as nothing. */
export const totalsOf = (usage: Usage, isChild: boolean): UsageTotals => {
  const count = (value: number | undefined): number => (value !== undefined && Number.isFinite(value) && value > 0 ? value : 0);
  const promptTokens = count(usage.promptTokens);
  const completionTokens = count(usage.completionTokens);
  const totalTokens = promptTokens + completionTokens;
  const cacheReadTokens = count(usage.cacheReadTokens);
  const cacheWriteTokens = count(usage.cacheWriteTokens);
  return {
    promptTokens,
    completionTokens,
    totalTokens,
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens: count(usage.reasoningTokens),
    uncachedTokens: Math.max(0, promptTokens - cacheReadTokens - cacheWriteTokens),
    subagentTokens: isChild ? totalTokens : 0,
    ...(usage.cost === undefined ? {} : { cost: count(usage.cost) }),
  };
};

/** A cost that is unknown on one side leaves the other side's. */
export const add = (a: UsageTotals, b: UsageTotals): UsageTotals => ({
  promptTokens: a.promptTokens + b.promptTokens,
  completionTokens: a.completionTokens + b.completionTokens,
  totalTokens: a.totalTokens + b.totalTokens,
  cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
  cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
  reasoningTokens: a.reasoningTokens + b.reasoningTokens,
  uncachedTokens: a.uncachedTokens + b.uncachedTokens,
  subagentTokens: a.subagentTokens + b.subagentTokens,
  ...(a.cost === undefined && b.cost === undefined ? {} : { cost: (a.cost ?? 0) + (b.cost ?? 0) }),
});
