import { ToolError } from '../../kernel/index.ts';

/** Runs work with a signal of its own, which aborts with the caller's or when the time is up; ends then, whatever the work does. */
export const within = async <T>(ms: number, signal: AbortSignal, what: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  signal.throwIfAborted();
  const own = new AbortController();
  const late = (): void =>
    own.abort(
      new ToolError('TIMEOUT', `${what} took longer than ${ms / 1000} seconds.`, { retryable: true, fix: 'Try again later, or look for it elsewhere.' }),
    );
  const stop = (): void => own.abort(signal.reason);
  const over = new Promise<never>((_, reject) => own.signal.addEventListener('abort', () => reject(own.signal.reason), { once: true }));
  over.catch(() => undefined);
  const timer = setTimeout(late, ms);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work(own.signal), over]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    // What is still under way, such as a body that nobody reads on, ends here.
    own.abort(null);
  }
};
