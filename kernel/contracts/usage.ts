import type { Usage } from '../data.ts';

export interface UsageTotals extends Usage {
  /** Prompt tokens that no cache served and none took in. */
  readonly uncachedTokens: number;
  /** Part of the total that child sessions used. */
  readonly subagentTokens: number;
}
/** What was used of one model since the record before. Plugins that count keep a list of them as `added` in what they record with a reply. */
export interface UsageRecord extends UsageTotals {
  readonly provider: string;
  readonly model: string;
}
export interface UsageService {
  /** Of this session, over all its turns. */
  total(): UsageTotals;
  byModel(): Readonly<Record<string, UsageTotals>>;
  /** Prompt tokens of the newest main request; 0 before the first. */
  contextTokens(): number;
}
