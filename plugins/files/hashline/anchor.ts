/** How an op names its place. A hash that is missing or not whole is undefined. */
export type Anchor =
  | { readonly kind: 'top' | 'end' }
  | { readonly kind: 'line'; readonly number: number; readonly local: string | undefined; readonly chunk: string | undefined }
  | { readonly kind: 'hash'; readonly local: string; readonly chunk: string | undefined };

/** What counts of an anchor: the text of a pasted line does not. */
export const anchorPart = (given: string): string => (given.split(/→|->/, 1)[0] ?? '').trim();

/** Reads `LINE:LOCAL:CHUNK`, parts of it, `0:` and `EOF`. */
export const parseAnchor = (text: string): Anchor | undefined => {
  if (text === '0' || text === '0:') return { kind: 'top' };
  if (text === 'EOF') return { kind: 'end' };
  const [, local, near] = /^([a-z]{3})(?::([a-z]*))?$/.exec(text) ?? [];
  if (local !== undefined) return { kind: 'hash', local, chunk: whole(near) };
  const [, number, ...hashes] = /^([1-9][0-9]{0,8})(?::([a-z]*))?(?::([a-z]*))?$/.exec(text) ?? [];
  return number === undefined ? undefined : { kind: 'line', number: Number(number), local: whole(hashes[0]), chunk: whole(hashes[1]) };
};

const whole = (hash: string | undefined): string | undefined => (hash?.length === 3 ? hash : undefined);
