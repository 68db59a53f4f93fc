/** Seconds that a call may ask for at most. */
export const MAX_TIMEOUT_S = 3600;
/** Commands of a session in the background at one time: each may hold a port, a core and a file of 64 MiB. */
export const MAX_RUNNING = 8;
/** Tasks that have ended and can still be asked about; the oldest is forgotten first. Each holds up to 600 KB of output. */
export const MAX_ENDED = 16;
/** Seconds that one call may wait for a task; a longer wait is several calls, between which a person can say something. */
export const MAX_WAIT_S = 60;
/** Milliseconds that a known server or watcher has in the foreground: enough to say where it listens, or why it cannot. */
export const SETTLE_MS = 1000;
/** Of the output that comes with the notice of an end. The rest can be read. */
export const NOTICE_LINES = 40;
export const NOTICE_BYTES = 4096;
/** Of the output that surfaces draw: more than a screen, and not all of a result a second time in the store. */
export const VIEW_LINES = 200;
export const VIEW_BYTES = 16_384;

/** Milliseconds, lines, UTF-8 bytes. */
export interface ShellLimits {
  readonly timeoutMs: number;
  /** Until a command goes on in the background, where there is one. */
  readonly foregroundMs: number;
  readonly maxLines: number;
  readonly maxBytes: number;
}

/** They say what ran; the room belongs to the end. */
const HEAD_LINES = 2;
/** What is kept of the beginning of long output, inside the whole: with the defaults 2 lines, 2 KiB. */
export const headOf = ({ maxLines, maxBytes }: ShellLimits): { readonly maxLines: number; readonly maxBytes: number } => ({
  maxLines: Math.min(HEAD_LINES, Math.floor(maxLines / 100)),
  maxBytes: Math.floor(maxBytes / 64),
});
