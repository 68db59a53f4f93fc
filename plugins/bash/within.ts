/** Whether some work settles within the time, and before the signal. It goes on in any case. */
export const settlesWithin = (work: Promise<unknown>, ms: number, signal?: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    const end = (isSettled: boolean): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      resolve(isSettled);
    };
    const onAbort = (): void => end(false);
    const timer = setTimeout(end, ms, false);
    signal?.addEventListener('abort', onAbort);
    if (signal?.aborted) onAbort();
    const onSettled = (): void => end(true);
    work.then(onSettled, onSettled);
  });
