/** The work's outcome, or the signal's reason as soon as it aborts; what comes later is dropped. */
export const untilAborted = async <T>(signal: AbortSignal, work: Promise<T>): Promise<T> => {
  work.catch(() => undefined);
  signal.throwIfAborted();
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    if (onAbort) signal.removeEventListener('abort', onAbort);
  }
};
