/** Every limit of the three tools. What one of them leaves out is said in the answer. */
export const LIMITS = {
  /** Milliseconds that one search may take, the only bound on how many files are looked at. */
  timeoutMs: 10_000,
  /** Milliseconds for which ripgrep says nothing before it is looked whether it waits for a pipe named as a file of rules. */
  silentMs: 1000,
  /** Lines and bytes of an answer: the same for all tools. */
  lines: 2000,
  bytes: 131_072,
  /** Matching lines after which they are no longer counted: the answer is "more than". */
  counted: 8000,
  /** Lines around a match. */
  context: 100,
  /** Characters of a line that are shown, and how many of them may stand before the match. */
  lineShown: 500,
  beforeMatch: 100,
  /** Bytes of a line that is searched: it has to be held in one piece. */
  line: 64 * 1024 * 1024,
  /** Milliseconds for which a search without ripgrep keeps everything else of the process waiting. */
  sliceMs: 8,
  /** Bytes that are read at one go, and about as many characters are matched at one go. */
  chunk: 262_144,
  /** Milliseconds for such a piece: an unlucky pattern backtracks for ever. */
  matchMs: 1000,
  /** Ways to match a name or path with wildcards that are tried without looking at the time, which costs as much as a thousand names. */
  ways: 1_000_000,
  /** Characters of a glob pattern, about as many as a path may have: some are read in the square of that. */
  glob: 4096,
  /** Bytes of a pattern as ripgrep is given it: Linux takes 128 KiB as one argument. */
  pattern: 100_000,
  /**
   * How large a pattern may be with its repetitions written out: in parts of about 100 bytes, of which ripgrep's own engine takes a million, and in
   * bytes for what looks around, of which PCRE2 takes 64 KiB; and how many characters may be looked for behind, of which PCRE2 takes 255.
   */
  parts: 500_000,
  partsAround: 60_000,
  behind: 255,
  /** Bytes of a file of ignore rules or of git's configuration. */
  rules: 4 * 1024 * 1024,
  /**
   * ripgrep writes one file after another. Where it is much (`calmFrom` bytes), reading each for itself costs as much as the search,
   * so that after a piece of less than `calmBelow` bytes the next has `calmMs` milliseconds to grow.
   */
  calmFrom: 1024 * 1024,
  calmBelow: 32_768,
  calmMs: 2,
  /** Bytes of complaints of ripgrep that are read: a line for each path that cannot be. Beyond them it is said that there are more. */
  complaints: 4 * 1024 * 1024,
} as const;
