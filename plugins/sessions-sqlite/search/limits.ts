/** Bounds of a search, each with its reason. */
export const SEARCH = {
  /** Milliseconds of indexing in one transaction, for which everything else in the process waits. */
  pieceMs: 60,
  /** Sessions that are looked up for it at a time, and messages of one that are read. */
  sessions: 500,
  rows: 50,
  /** Characters of a message that are found. */
  textChars: 65_536,
  /** Milliseconds of indexing before a search answers with what there is. */
  indexingMs: 1_000,
  /** Newest places of a word that are ranked among themselves. */
  candidates: 2_000,
  /** Newest places that are looked at for those of one project, per candidate that is wanted. */
  lookedAt: 5,
  /** With so few places of a word, places within words are looked for as well. */
  enough: 50,
  /** Newest messages that are read for a pair of ideographs, which no index has. */
  scanned: 20_000,
  /** Bytes of messages that are read to be ranked; beyond them the newest come first. */
  rankedBytes: 16 * 1024 * 1024,
  /** Words of a query, and characters of each: what is beyond is not looked for. */
  words: 12,
  wordChars: 200,
  /** Places that are shown of a session. */
  places: 3,
  /** Characters of a snippet, and those before its first word. */
  snippetChars: 200,
  beforeHit: 60,
} as const;
