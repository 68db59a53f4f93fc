/** Recorded streams, where they are at hand: text, reasoning, calls, usage and outcome of each. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isProviderError } from '../../../kernel/index.ts';
import { type Gathered, joined, readPieces } from './replies.ts';

const FOLDER = fileURLToPath(new URL('../../../../shared/fixtures/streams/chat/', import.meta.url));
const NAMES = existsSync(FOLDER)
  ? readdirSync(FOLDER)
      .filter((file) => file.endsWith('.sse'))
      .map((file) => file.slice(0, -4))
  : [];

interface Expected {
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly { readonly id: string | null; readonly name: string; readonly arguments: unknown }[];
  readonly finishReason: string | null;
  readonly usage: Readonly<Record<'prompt' | 'completion' | 'total' | 'cacheRead' | 'reasoning', number | null>>;
  readonly error: object | null;
  readonly truncated: boolean;
}

const LATE_TAG = 'openrouter-x-think-late';
const BAD_CHUNK = 'openrouter-x-bad-json-chunk';
const bytesOf = (name: string): Buffer => readFileSync(`${FOLDER}${name}.sse`);
const expectedOf = (name: string): Expected => JSON.parse(readFileSync(`${FOLDER}${name}.expected.json`, 'utf8'));
const piecesOf = (name: string): Uint8Array[] => {
  const body = bytesOf(name);
  const file = `${FOLDER}${name}.splits.json`;
  const offsets: number[] = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).offsets : [];
  return [0, ...offsets].map((offset, index) => body.subarray(offset, offsets[index] ?? body.length));
};

const squash = (text: string): string => text.replace(/\s+/g, '');
/** Long texts are recorded as a hash. */
const same = (actual: string, expected: string): boolean => {
  const hash = /^sha256:([0-9a-f]{64}):\d+$/.exec(expected)?.[1];
  return hash === undefined ? actual.trim() === expected.trim() : createHash('sha256').update(actual).digest('hex') === hash;
};
const parsed = (text: unknown): unknown => {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
};
const isTree = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const sameValue = (actual: unknown, expected: unknown): boolean => {
  if (typeof actual === 'string' && typeof expected === 'string') return same(actual, expected);
  if (!isTree(actual) || !isTree(expected)) return actual === expected;
  const keys = Object.keys(expected);
  return keys.length === Object.keys(actual).length && keys.every((key) => sameValue(actual[key], expected[key]));
};
const sameArguments = (actual: string, expected: unknown): boolean => {
  if (expected === '' || expected === null) return actual.trim() === '' || sameValue(parsed(actual), {});
  if (typeof expected === 'object') return sameValue(parsed(actual), expected);
  return actual.trim() === String(expected).trim() || parsed(actual) === expected;
};

const checkBroken = (got: Gathered, expected: Expected): void => {
  expect(got.end).toBeUndefined();
  expect(got.calls).toEqual([]);
  expect(got.error === undefined || isProviderError(got.error)).toBe(true);
  expect(expected.text.trim().startsWith(got.text.trim())).toBe(true);
  if (expected.error) expect(got.error).toBeDefined();
};

const checkWhole = (got: Gathered, expected: Expected): void => {
  expect(got.error).toBeUndefined();
  expect(same(got.text, expected.text), `text ${got.text.slice(0, 300)}`).toBe(true);
  expect(squash(got.reasoning)).toBe(squash(expected.reasoning));
  expect(got.calls.map((call) => call.tool)).toEqual(expected.toolCalls.map((call) => call.name));
  expect(got.calls.map((call) => call.id)).toEqual(expected.toolCalls.map((call) => call.id ?? ''));
  got.calls.forEach((call, index) => {
    expect(sameArguments(call.arguments, expected.toolCalls[index]?.arguments), `arguments ${call.arguments.slice(0, 300)}`).toBe(true);
  });
  checkUsage(got, expected);
  expect(got.end).toBe(endOf(expected));
};

const endOf = ({ finishReason, toolCalls }: Expected): string => (finishReason === 'length' ? 'length' : toolCalls.length > 0 ? 'calls' : 'stop');

const checkUsage = ({ usage }: Gathered, { usage: expected }: Expected): void => {
  if (expected.prompt === null) return expect(usage).toBeUndefined();
  if (usage === undefined) throw new Error('no usage');
  const reasoning = expected.reasoning ?? 0;
  expect(usage).toMatchObject({ promptTokens: expected.prompt, cacheReadTokens: expected.cacheRead ?? 0, reasoningTokens: reasoning });
  expect([expected.completion, (expected.completion ?? 0) + reasoning]).toContain(usage.completionTokens);
  expect([expected.total, usage.promptTokens + usage.completionTokens]).toContain(usage.totalTokens);
};

describe.skipIf(NAMES.length === 0)('recorded streams (skipped where the recordings are not at hand)', () => {
  test.each(NAMES)('%s', async (name) => {
    const expected = expectedOf(name);
    const got = await readPieces(piecesOf(name));
    if (name === BAD_CHUNK) return checkWhole(got, expected);
    if (name === LATE_TAG) return checkWhole(got, { ...expected, reasoning: '' });
    if (expected.error || expected.truncated) return checkBroken(got, expected);
    checkWhole(got, expected);
  });

  const SOME = [
    'openrouter-x-crlf',
    'openrouter-x-cr',
    'openrouter-x-think-split',
    'openai-x-interleaved-calls',
    'openrouter-x-multi-data-lines',
    'mistral-reasoning',
  ];
  test.each(SOME.filter((name) => NAMES.includes(name)))('%s: the cuts between reads change nothing', async (name) => {
    const body = bytesOf(name);
    const whole = await readPieces([body]);
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.integer({ min: 0, max: body.length }), { maxLength: 40 }), async (cuts) => {
        const edges = [0, ...cuts.sort((a, b) => a - b), body.length];
        const pieces = edges.slice(1).map((edge, index) => body.subarray(edges[index], edge));
        expect(joined((await readPieces(pieces)).deltas)).toEqual(joined(whole.deltas));
      }),
      { numRuns: 30 },
    );
  });
});
