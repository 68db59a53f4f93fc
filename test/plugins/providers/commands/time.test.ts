/** Waits of the commands: over in time, and saying who did not answer. */
import { expect, test } from 'vitest';
import { systemClock } from '../../../../kernel/host/clock.ts';
import { withinTime } from '../../../../plugins/providers/commands/time.ts';

const slow = { clock: systemClock, ms: 20, who: 'here' };
const never = new AbortController().signal;

test.each<[string, (signal: AbortSignal) => Promise<unknown>]>([
  ['as it is', (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))],
  ['as another error', (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new TypeError('terminated'))))],
])('who gave no answer is named, where the end arrives %s', async (_, run) => {
  await expect(withinTime(slow, never, run)).rejects.toMatchObject({
    code: 'MODEL_UNREACHABLE',
    message: 'here gave no answer within 0.02 s',
    fix: expect.any(String),
  });
});

test('an answer, an error and an abort from outside stay what they are', async () => {
  expect(await withinTime(slow, never, async () => 7)).toBe(7);
  await expect(withinTime(slow, never, () => Promise.reject(new TypeError('mine')))).rejects.toThrow('mine');
  const outer = AbortSignal.abort(new Error('left'));
  await expect(withinTime(slow, outer, async (signal) => signal.throwIfAborted())).rejects.toThrow('left');
});
