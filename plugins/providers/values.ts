/** Reading of values whose shape no provider guarantees. */

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
// Asked for every token of a reply, most often in vain.
const NOTHING: Fields = Object.freeze({});
const NONE: readonly unknown[] = Object.freeze([]);

/** The object under a key; empty when there is none. */
export const fieldsOf = (value: unknown, key: string): Fields => {
  const inner = isFields(value) ? value[key] : undefined;
  return isFields(inner) ? inner : NOTHING;
};
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : NONE);
/** A text with something in it. */
export const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
export const numberOf = (value: unknown): number | undefined => (typeof value === 'number' && Number.isFinite(value) ? value : undefined);

/** A place in a list: some write it as a text. */
export const placeOf = (value: unknown): number | undefined => numberOf(typeof value === 'string' && value.trim() !== '' ? Number(value) : value);

/** What a reply left to be sent back goes to the host that gave it; of what says no host the name of the provider is enough. */
export const isFromHost = (kept: Fields, host: string | undefined): boolean => kept['host'] === undefined || host === undefined || kept['host'] === host;

export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
