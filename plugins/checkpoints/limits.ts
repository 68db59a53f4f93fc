/** Bounds of this plugin, each with its reason. */
export const LIMITS = {
  /** Bytes of a file that is kept: sources are far smaller, and each change of a larger one would cost as much again. */
  fileBytes: 16_777_216,
  /** Compressed bytes that one session keeps; what would go beyond is not kept, and said to be so. */
  sessionBytes: 536_870_912,
  /** Compressed bytes of all sessions; the sessions longest unused go first. */
  totalBytes: 2_147_483_648,
  /** Milliseconds (30 days) after which the points of a session that nobody has used are removed. */
  keptMs: 2_592_000_000,
  /** Files with changes of the user's own that are kept before a shell command: each is read and hashed. */
  dirtyFiles: 2_000,
  /** Bytes of those files, in all. */
  dirtyBytes: 134_217_728,
  /** Files that one shell command may change and have taken back; a checkout of another branch is git's to take back. */
  changedFiles: 5_000,
  /** Bytes of one list that git prints: about a million paths. */
  listBytes: 134_217_728,
  /** Files that are looked at outside git around a shell command; of a larger folder nothing is listed. */
  scannedFiles: 50_000,
  /** Milliseconds that git has for one list: a command must not wait long for its record. */
  gitMs: 10_000,
  /** Milliseconds that one merge may take; after that it counts as a conflict. */
  mergeMs: 2_000,
  /** Turns whose files are kept around each shell command: what the work is about now. */
  pointsKnown: 20,
  /** Prompts that the list of `/rewind` shows, the newest. */
  prompts: 50,
  /** Entries that are read at a time on the way back through a branch. */
  page: 500,
  /** Entries that are read in all on the way back to a turn. */
  entries: 200_000,
  /** Characters of a prompt in the list. */
  promptChars: 80,
  /** Paths that an answer names of each kind. */
  named: 40,
} as const;
