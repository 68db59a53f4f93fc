/** The two exits of the kernel, append and emit: nothing leaves through them with a credential in it or over its size. */
import { messageOf } from '../errors.ts';

export const REDACTED = '[redacted]';

/** Shorter values are too likely to be part of ordinary text. */
const SHORTEST_SECRET = 8;

export interface Exits {
  /** The same value with every secret replaced. A fault replaces the text by a note, never lets it pass. */
  redact<T>(value: T): T;
}

/** `secrets` are values that must not appear anywhere; `patterns` come from plugins. */
export const createExits = (secrets: readonly string[], patterns: readonly RegExp[] = []): Exits => {
  const values = [...new Set(secrets)].filter((secret) => secret.length >= SHORTEST_SECRET).sort((a, b) => b.length - a.length);
  if (values.length === 0 && patterns.length === 0) return { redact: (value) => value };
  const clean = (text: string): string => {
    let out = text;
    for (const value of values) if (out.includes(value)) out = out.replaceAll(value, REDACTED);
    for (const pattern of patterns) out = out.replace(pattern, REDACTED);
    return out;
  };
  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') return clean(value);
    if (Array.isArray(value)) return mapped(value, walk);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value);
    const walked = entries.map(([key, each]) => [key, walk(each)] as const);
    return walked.every(([, each], i) => each === entries[i]?.[1]) ? value : Object.fromEntries(walked);
  };
  return {
    redact: <T>(value: T): T => {
      try {
        return walk(value) as T;
      } catch (error) {
        return `[left out: redaction failed: ${messageOf(error)}]` as T;
      }
    },
  };
};
const mapped = (list: readonly unknown[], walk: (value: unknown) => unknown): readonly unknown[] => {
  const walked = list.map(walk);
  return walked.every((each, i) => each === list[i]) ? list : walked;
};

/** Keeps beginning and end of a text that is over `bytes` UTF-8 bytes, cut between characters, and says what is missing. */
export const capText = (text: string, bytes: number): string => {
  // A UTF-16 unit is at most three bytes, so most texts need no counting.
  if (text.length * 3 <= bytes) return text;
  const buffer = Buffer.from(text, 'utf8');
  if (buffer.length <= bytes) return text;
  const half = Math.floor((bytes - 100) / 2);
  const head = buffer.subarray(0, boundary(buffer, half));
  const tail = buffer.subarray(boundary(buffer, buffer.length - half));
  return `${head.toString('utf8')}\n[… ${buffer.length - head.length - tail.length} bytes left out …]\n${tail.toString('utf8')}`;
};
/** The last place at or before `at` where a character begins. */
const boundary = (buffer: Buffer, at: number): number => {
  let i = at;
  while (i > 0 && ((buffer[i] ?? 0) & 0xc0) === 0x80) i -= 1;
  return i;
};
