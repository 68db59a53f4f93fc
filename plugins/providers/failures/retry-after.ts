/** How long a provider asks to wait, in all the spellings that occur. */
import { isFields, listOf, numberOf, textOf } from '../values.ts';

export interface HeaderSource {
  get(name: string): string | null;
  entries(): IterableIterator<[string, string]>;
}

const SECOND = 1000;
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: SECOND, m: 60 * SECOND, h: 3600 * SECOND, d: 86_400 * SECOND };

/** Milliseconds; undefined when it does not say. */
export const retryAfterOf = (headers: HeaderSource | undefined, body: unknown, text: string, now: number): number | undefined =>
  milliseconds(headers?.get('retry-after-ms')) ??
  secondsOrDate(headers?.get('retry-after'), now) ??
  retryDelay(body) ??
  inWords(text) ??
  (headers ? fromResets([...headers.entries()], now) : undefined) ??
  fromResets(resetsIn(body), now);

const milliseconds = (value: string | null | undefined): number | undefined => {
  const count = value ? Number(value) : Number.NaN;
  return Number.isFinite(count) && count >= 0 ? Math.ceil(count) : undefined;
};

const secondsOrDate = (value: string | null | undefined, now: number): number | undefined => {
  if (!value) return undefined;
  const seconds = milliseconds(value);
  if (seconds !== undefined) return Math.ceil(Number(value) * SECOND);
  const date = Date.parse(value);
  return Number.isNaN(date) ? duration(value) : Math.max(0, date - now);
};

/** `9m38.016s`, `2m59.56s`, `350ms`, `11.4` (seconds). */
const duration = (value: string): number | undefined => {
  const text = value.trim().toLowerCase();
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * SECOND);
  if (!/^(\d+(\.\d+)?(ms|[dhms]))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, count, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[dhms])/g)) total += Number(count) * (UNITS[unit ?? 's'] ?? SECOND);
  return Math.ceil(total);
};

/** `details[].retryDelay` of Google's errors, in whatever they are wrapped. */
const retryDelay = (body: unknown): number | undefined => {
  const top: unknown = Array.isArray(body) ? body[0] : body;
  const error = isFields(top) && isFields(top['error']) ? top['error'] : top;
  const details = isFields(error) ? listOf(error['details']) : [];
  for (const detail of details) {
    const delay = isFields(detail) ? textOf(detail['retryDelay']) : undefined;
    if (delay !== undefined) return duration(delay);
  }
  return undefined;
};

const inWords = (text: string): number | undefined => {
  const found = /(?:try again|retry|wait)\s+(?:in|after|for)\s+((?:\d+(?:\.\d+)?\s*(?:ms|milliseconds?|d|h|hours?|m|minutes?|s|seconds?)?\s*)+)/i.exec(text);
  if (!found?.[1]) return undefined;
  const short = found[1]
    .toLowerCase()
    .replace(/\s+/g, '')
    .replace(/milliseconds?/g, 'ms')
    .replace(/(hour|minute|second)s?/g, (unit) => unit[0] ?? '');
  return duration(short);
};

/** Of several limits that of the one used up; else the nearest. */
const fromResets = (headers: readonly (readonly [string, string])[], now: number): number | undefined => {
  const lower = new Map(headers.map(([name, value]) => [name.toLowerCase(), value]));
  const resets = [...lower].filter(([name]) => name.startsWith('x-ratelimit-reset'));
  const usedUp = resets.filter(([name]) => lower.get(name.replace('reset', 'remaining')) === '0');
  const waits = (usedUp.length > 0 ? usedUp : resets).map(([, value]) => untilReset(value, now)).filter((wait) => wait !== undefined);
  return waits.length > 0 ? Math.min(...waits) : undefined;
};

/** A duration, or a moment in epoch seconds or milliseconds; moments that are over say nothing. */
const untilReset = (value: string, now: number): number | undefined => {
  const count = numberOf(Number(value)) ?? 0;
  if (count < 1e9) return duration(value);
  const wait = (count < 1e12 ? count * SECOND : count) - now;
  return wait > 0 ? Math.ceil(wait) : undefined;
};

const resetsIn = (body: unknown): readonly (readonly [string, string])[] => {
  const error = isFields(body) && isFields(body['error']) ? body['error'] : undefined;
  const headers = error && isFields(error['metadata']) && isFields(error['metadata']['headers']) ? error['metadata']['headers'] : {};
  return Object.entries(headers).map(([name, value]) => [name, String(value)] as const);
};

/** For people: `45 s`, `7 min`, `24 h`. */
export const inWordsFor = (ms: number): string => {
  if (ms < 90 * SECOND) return `${Math.max(1, Math.round(ms / SECOND))} s`;
  if (ms < 5400 * SECOND) return `${Math.round(ms / 60_000)} min`;
  return `${Math.round(ms / 3_600_000)} h`;
};
