/** Seconds that a call may ask for at most. */
export const MAX_TIMEOUT_S = 3600;

/** Milliseconds, lines, UTF-8 bytes. */
export interface ShellLimits {
  readonly timeoutMs: number;
  readonly maxLines: number;
  readonly maxBytes: number;
}
