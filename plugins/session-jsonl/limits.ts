/** Bytes of a transcript that is gone on with: it is read once, line by line, and one record of it is held at a time. */
export const MAX_FILE_BYTES = 2_147_483_648;
/** Characters of one line: a result of a tool at its longest, several times over. */
export const MAX_LINE = 67_108_864;
/** Another process writes for a turn; who finds it writing looks twice more, and does not wait for the turn. */
export const LOCK_TRIES = 3;
export const LOCK_PAUSE_MS = 10;
