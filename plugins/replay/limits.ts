/** Bytes of a recording: more than any session that a person would look at again, and less than what a process holds with ease. */
export const MAX_BYTES = 64 * 1_048_576;
/** Deltas of one reply that are kept apart; further ones are joined to the last, so that a long reply does not fill the file with frames. */
export const MAX_DELTAS = 4_000;
/** Outcomes that are kept and compared. */
export const MAX_TRACE = 100_000;
/** Characters of an outcome that are kept for people; the digest stands for all of it. */
export const SHORT_FORM = 300;
/** A wait of a recording that was edited by hand must not last for ever. */
export const LONGEST_WAIT_MS = 60_000;
