import type { Usage } from '../data.ts';
import type { ProviderFailure } from '../errors.ts';

export const NO_USAGE: Usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };

/** Absent and negative numbers count as nothing; an unknown cost stays unknown. */
export const addUsage = (a: Usage, b: Partial<Usage>): Usage => {
  const sum = (key: Exclude<keyof Usage, 'cost'>): number => a[key] + Math.max(0, b[key] ?? 0);
  const cost = a.cost === undefined && b.cost === undefined ? {} : { cost: (a.cost ?? 0) + Math.max(0, b.cost ?? 0) };
  const promptTokens = sum('promptTokens');
  const completionTokens = sum('completionTokens');
  return {
    promptTokens,
    completionTokens,
    totalTokens: sum('totalTokens'),
    cacheReadTokens: sum('cacheReadTokens'),
    cacheWriteTokens: sum('cacheWriteTokens'),
    reasoningTokens: sum('reasoningTokens'),
    ...cost,
  };
};

/** What the running turn has done so far. */
export class Tally {
  steps = 0;
  toolCalls = 0;
  usage: Usage = NO_USAGE;
  startedAt = 0;
  clientId: string | undefined;
  /** Failures of the provider in this turn, by kind. */
  readonly failures = new Map<ProviderFailure, number>();
  /** Replies in a row that ended in the middle of a call. */
  cutCalls = 0;

  begin(now: number, clientId: string | undefined): void {
    this.steps = 0;
    this.toolCalls = 0;
    this.usage = NO_USAGE;
    this.startedAt = now;
    this.clientId = clientId;
    this.failures.clear();
    this.cutCalls = 0;
  }
}
