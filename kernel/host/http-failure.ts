/** What `fetch` and the body of its answer throw: a TypeError that says what happened, with the deepest cause. */
export const fetchFailure = (error: unknown): TypeError => {
  const cause = deepest(error);
  const detail = cause instanceof Error ? cause.message || String((cause as NodeJS.ErrnoException).code ?? cause.name) : String(cause);
  return new TypeError(`fetch failed: ${detail}`, { cause });
};

/** Of several addresses tried, the first that failed says most. */
const deepest = (error: unknown): unknown => {
  let at = error;
  for (let depth = 0; depth < 8; depth++) {
    const inner = at instanceof AggregateError ? at.errors[0] : at instanceof Error ? at.cause : undefined;
    if (inner === undefined) return at;
    at = inner;
  }
  return at;
};
