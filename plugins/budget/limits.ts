export interface Amounts {
  /** US dollars. */
  readonly maxCost?: number;
  readonly maxTokens?: number;
}

/** Tokens of a reply that nobody has limited: what models write at most unless they are asked for more. */
export const UNLIMITED_REPLY = 8_192;
/** Tokens: a reply that could not even be this long is not worth its prompt. */
export const LEAST_REPLY = 1_024;
/** Days whose sums are kept; only the present one is ever read. */
export const KEPT_DAYS = 7;
