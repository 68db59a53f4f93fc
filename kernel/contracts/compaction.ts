/** What would happen if the conversation were compacted now. */
export interface CompactionForecast {
  /** Whether it comes by itself. */
  readonly auto: boolean;
  /** Tokens of a request above which it comes. */
  readonly limit: number;
  /** Tokens of the next request: as the provider counted the newest one, and estimated from there on. */
  readonly tokens: number;
  /** Whether there is a count of the provider in it. */
  readonly isMeasured: boolean;
  /** Entries that would leave the view. */
  readonly drops: readonly string[];
  /** Their estimated tokens. */
  readonly droppedTokens: number;
  /** Why nothing would leave it. */
  readonly why?: string;
}
export interface CompactionService {
  /** Asks no model. */
  forecast(): Promise<CompactionForecast>;
}
