/** Recorded streams, where they are at hand: text, reasoning, calls, usage and outcome of each. */
import { describe, expect, test } from 'vitest';
import { isProviderError } from '../../../kernel/index.ts';
import { type Expected, type Recording, recordings, same, sameArguments } from './recordings.ts';
import { type Gathered, readPieces } from './replies.ts';

const ALL = recordings();
const LATE_TAG = 'chat/openrouter-x-think-late';
const BAD_CHUNK = 'chat/openrouter-x-bad-json-chunk';
/** Several responses one after another in one body, which no provider sends: the first one counts. */
const SEVERAL = new Set(['responses/azure-reasoning-encrypted-content-1', 'responses/openai-reasoning-encrypted-content-1', 'responses/openai-shell-tool-1']);

const squash = (text: string): string => text.replace(/\s+/g, '');

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

const endOf = ({ finishReason, toolCalls }: Expected): string =>
  finishReason === 'length' || finishReason === 'max_output_tokens' ? 'length' : toolCalls.length > 0 ? 'calls' : 'stop';

const checkUsage = ({ usage }: Gathered, { usage: expected }: Expected): void => {
  if (expected.prompt === null) return expect(usage).toBeUndefined();
  if (usage === undefined) throw new Error('no usage');
  const reasoning = expected.reasoning ?? 0;
  expect(usage).toMatchObject({ promptTokens: expected.prompt, cacheReadTokens: expected.cacheRead ?? 0, reasoningTokens: reasoning });
  expect([expected.completion, (expected.completion ?? 0) + reasoning]).toContain(usage.completionTokens);
  expect([expected.total, usage.promptTokens + usage.completionTokens]).toContain(usage.totalTokens);
};

describe.skipIf(ALL.length === 0)('recorded streams (skipped where the recordings are not at hand)', () => {
  test.each(ALL.map((recording): [string, Recording] => [recording.name, recording]))('%s', async (name, { wire, pieces, expected }) => {
    const got = await readPieces(pieces, wire);
    if (SEVERAL.has(name)) return expect(got).toMatchObject({ error: undefined, end: expect.any(String) });
    if (name === BAD_CHUNK) return checkWhole(got, expected);
    if (name === LATE_TAG) return checkWhole(got, { ...expected, reasoning: '' });
    if (expected.error || expected.truncated) return checkBroken(got, expected);
    checkWhole(got, expected);
  });
});
