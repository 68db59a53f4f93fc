/** Every bound of the kernel, each with its reason. Plugins keep theirs in their own options; `docs/config.md` lists both. */
export const LIMITS = {
  /** Model calls a turn, unless `limits.maxSteps` or `--max-steps` says otherwise: a runaway loop must end. */
  steps: 500,
  /** Attempts at one reply, whatever taps of `failure` and `reply` wish. */
  attempts: 16,
  /** Replies in a row that end in the middle of a call: a model that was told twice to send less does not. */
  cutCalls: 3,
  /** Child sessions of one session that run at a time; further ones wait for a place. */
  children: 10,
  /** Child sessions below one another: each may open ten. */
  childDepth: 3,
  /** Inputs that taps of `settle` may add to one turn. */
  continuations: 8,
  /** Entries of a branch that are always held, so many that taps can look back over a few turns. */
  heldEntries: 256,
  /** Entries of a branch after which the states of plugins are written down anew: a resume reads at most a turn more than these. */
  snapshotEntries: 512,
  /** Characters of JSON of one state in a snapshot; a larger one is folded from its entries at each resume. */
  snapshotStateChars: 65_536,
  /** Milliseconds a tool has after an abort before its call is recorded as aborted. */
  graceMs: 2_000,
  /** Milliseconds that each `begin` of a vote has, and what it answers with. */
  besideCallMs: 60_000,
  /** Milliseconds that `ended` and `stored` have after a turn, in all. */
  afterTurnMs: 2_000,
  /** Milliseconds that `open` has, in all. */
  openMs: 10_000,
  /** Faults after which a tap is closed. */
  strikes: 3,
  /** Events kept for surfaces that attach late; older ones are read from the store. */
  eventBacklog: 20_000,
  /** Characters of one reply, reasoning and arguments included: a model that writes on for ever must end before the memory does. */
  replyChars: 67_108_864,
  /** UTF-8 bytes of one tool result as stored and sent: the cap of last resort behind each tool's own. */
  resultBytes: 262_144,
  /** UTF-8 bytes of one event's text, so that one plugin cannot flood every surface. */
  eventBytes: 1_048_576,
  /** UTF-8 bytes of a prompt, standard input included. */
  promptBytes: 10_485_760,
  /** UTF-8 bytes that `process.run` keeps of each stream, unless told otherwise. */
  processBytes: 1_048_576,
  /** Milliseconds between SIGTERM and SIGKILL to a process group. */
  killGraceMs: 500,
  /** Milliseconds to wait for the pipes of a dead child: a grandchild may hold them open. */
  pipeGraceMs: 250,
  /** Milliseconds the event loop may be blocked before the watchdog ends the process. */
  blockedMs: 30_000,
  /** Milliseconds that the set-up of a plugin has: a session waits for it. */
  setupMs: 30_000,
  /** Milliseconds that each thing registered by `onDispose` has. */
  disposeMs: 2_000,
  /** Members of one list or object in an entry or event; further ones are left out. */
  exitMembers: 50_000,
  /** Depth of one entry or event; what is below is left out. */
  exitDepth: 200,
  /** Characters of a call's question or reason as shown. */
  questionChars: 4_000,
  /** UTF-16 units of all values of an answered form: it becomes a prompt, and has to be one that is let in. */
  answerChars: 1_000_000,
  /** Tokens: context window and reply of a model about which nothing is known. */
  contextWindow: 128_000,
  maxOutputTokens: 8_192,
  /** Tokens of a reply of a model that is known to be able to write more: reasoning counts as output, and 8,192 tokens would cut it off. */
  knownOutputTokens: 32_000,
  /** Tokens that a reply may always have, however full the window seems: below that there is no answer worth asking for. */
  leastOutputTokens: 256,
  /** Tokens of the window that are asked for by nobody: sizes are estimates. */
  windowMargin: 1_024,
} as const;
