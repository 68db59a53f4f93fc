import type { Usage } from '../data.ts';

export interface UsageTotals extends Usage {
  /** Prompt tokens that no cache served and none took in. */
  readonly uncachedTokens: number;
  /** Part of the total that child sessions used. */
  readonly subagentTokens: number;
}
/** What was used of one model since the record before, as the plugin `usage` keeps it with the session. */
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
