/** Facts about a model: read from values whose shape nobody guarantees, and merged. */
import type { ModelInfo } from '../../../kernel/index.ts';
import { type Fields, fieldsOf, isFields, listOf, numberOf, textOf } from '../values.ts';

export type Facts = Omit<ModelInfo, 'id'>;
export type Price = NonNullable<ModelInfo['price']>;
export type Reasoning = NonNullable<ModelInfo['reasoning']>;

/** Longer windows are a fault of whoever tells them. */
const MAX_TOKENS = 1_000_000_000;
/** Levels, the least first; one that is not among them stands behind them. */
const LADDER = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
const MAX_LEVELS = 16;
const MAX_LEVEL_CHARS = 32;
const MAX_ID_CHARS = 300;
/** US dollars a million tokens. */
const MAX_PRICE = 1_000_000;

/** The name of a model; undefined for what nobody could type, nor a table show. */
export const idOf = (value: unknown): string | undefined => {
  const id = textOf(value);
  return id !== undefined && id.length <= MAX_ID_CHARS ? id : undefined;
};

/** A number of tokens above zero, also as a text. */
export const tokensOf = (value: unknown): number | undefined => {
  const count = amountOf(value);
  return count !== undefined && count >= 1 && count <= MAX_TOKENS ? Math.floor(count) : undefined;
};
/** A number that is not below zero, also as a text. */
export const amountOf = (value: unknown): number | undefined => {
  const text = textOf(value)?.trim();
  const amount = text === undefined || text === '' ? numberOf(value) : numberOf(Number(text));
  return amount !== undefined && amount >= 0 ? amount : undefined;
};
export const flagOf = (value: unknown): boolean | undefined => (typeof value === 'boolean' ? value : undefined);
export const firstOf = <T>(values: readonly unknown[], read: (value: unknown) => T | undefined): T | undefined => {
  for (const value of values) {
    const found = read(value);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** In order and without doubles; `none` is our `off`. */
export const levelsOf = (values: unknown): readonly string[] => {
  const names = listOf(values)
    .flatMap((value) => textOf(value)?.toLowerCase() ?? [])
    .filter((name) => name.length <= MAX_LEVEL_CHARS);
  const levels = [...new Set(names.map((name) => (name === 'none' ? 'off' : name)))].slice(0, MAX_LEVELS);
  const rank = (level: string): number => (LADDER.includes(level) ? LADDER.indexOf(level) : LADDER.length);
  return levels.sort((a, b) => rank(a) - rank(b));
};

/** Without what is not known. */
export const factsFrom = (parts: { readonly [K in keyof Facts]: Facts[K] | undefined }): Facts =>
  Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined)) as Facts;

/** Of a file of ours, which anybody may have changed. */
export const readFacts = (value: unknown): Facts => {
  const fields: Fields = isFields(value) ? value : {};
  return factsFrom({
    contextWindow: tokensOf(fields['contextWindow']),
    maxOutput: tokensOf(fields['maxOutput']),
    price: priceFrom(fieldsOf(fields, 'price')),
    reasoning: reasoningFrom(fields['reasoning']),
    images: flagOf(fields['images']),
  });
};
const reasoningFrom = (value: unknown): Reasoning | undefined => {
  if (!isFields(value) || !Array.isArray(value['levels'])) return undefined;
  const usual = textOf(value['default']);
  return { levels: levelsOf(value['levels']), ...(usual === undefined ? {} : { default: usual }) };
};

const dollarsOf = (value: unknown): number | undefined => {
  const amount = amountOf(value);
  return amount !== undefined && amount <= MAX_PRICE ? amount : undefined;
};

/** Undefined when one of the two main prices is missing. */
export const priceFrom = (given: { readonly [K in keyof Price]?: unknown }): Price | undefined => {
  const [plain, out, cacheRead, cacheWrite] = [given.in, given.out, given.cacheRead, given.cacheWrite].map(dollarsOf);
  if (plain === undefined || out === undefined) return undefined;
  return { in: plain, out, ...(cacheRead === undefined ? {} : { cacheRead }), ...(cacheWrite === undefined ? {} : { cacheWrite }) };
};

/** Field by field; the first that knows something of a field counts. Undefined when nobody knows anything. */
export const mergeFacts = (...sources: readonly (Facts | undefined)[]): Facts | undefined => {
  const facts: Facts = Object.assign({}, ...sources.toReversed());
  return Object.keys(facts).length === 0 ? undefined : facts;
};
