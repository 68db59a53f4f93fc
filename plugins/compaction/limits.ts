/** Every bound of a compaction. Tokens, unless it says otherwise. */
export const LIMITS = {
  /** Left for the reply, where `limits.maxOutputTokens` says nothing else. */
  reserve: 8_192,
  /** Part of the window that the reserve may be: in a small one nothing would be left for the conversation. */
  reserveShare: 0.5,
  /** Part of the conversation that stays. */
  tailShare: 0.4,
  /** Of a conversation of this size and above, what stays is kept between the next two. */
  long: 15_000,
  leastTail: 10_000,
  mostTail: 20_000,
  /** Messages with a text that stay of a long one: who only sees calls does not know what they were for. */
  leastTexts: 5,
  /** Part of the limit that a compaction by itself has to free where the one before did not help: it would come again at each step. */
  leastGain: 0.1,
  /** Of one summary. */
  summary: 2_000,
  /** Part of the window that a summary may take, in a small one. */
  summaryShare: 1 / 8,
  /** Beside the summary for models that reason, whose reasoning counts as output. */
  reasoning: 6_000,
  /** Characters of an argument and of a result, in what the model summarises. */
  argumentChars: 200,
  resultChars: 500,
  /** Arguments of one call in it. */
  arguments: 12,
  /** Part of its window that the request for a summary may fill: sizes are estimates. */
  requestShare: 0.8,
  /** Requests for one summary: a passing failure, or one that is too long after all, is tried once more. */
  requests: 2,
  /** Milliseconds before a request is made again, and what a provider may ask for. */
  pauseMs: 1_000,
  leastPauseMs: 100,
  longestPauseMs: 20_000,
  /** Files that a summary lists, of each kind. The oldest go first. */
  files: 200,
} as const;
