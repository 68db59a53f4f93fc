/** Waits between attempts end with whoever waits for them. */
import { expect, test } from 'vitest';
import { useCommand } from './command.ts';
import { linesOf, start, streamFaults } from './program.ts';

const { program, provide, project } = useCommand();

test.each(['text', 'json', 'stream-json'])('B015: an interrupt in the second wait ends it at once, and nothing more is sent: %s', async (format) => {
  const provider = await provide({ status: 503, error: 'over capacity' }, { status: 503, error: 'over capacity', headers: { 'retry-after': '30' } });
  const running = start(['run', '--format', format, 'go'], { program: program(), place: project(), provider });
  const end = performance.now() + 20_000;
  while (provider.requests.length < 2 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(provider.requests).toHaveLength(2);
  // Into the wait, not into the reply before it.
  await new Promise((resolve) => setTimeout(resolve, 500));
  const sentAt = performance.now();
  running.child.kill('SIGINT');
  const run = await running.done;
  expect(performance.now() - sentAt).toBeLessThan(5_000);
  expect([run.code, provider.requests.length]).toEqual([130, 2]);
  if (format === 'json') expect(JSON.parse(run.stdout)).toMatchObject({ reason: 'aborted', error: null });
  if (format !== 'stream-json') return;
  expect(streamFaults(run)).toEqual([]);
  expect(linesOf(run).map(({ type, attempt, delayMs }) => (type === 'retry' ? [attempt, delayMs] : type))).toEqual([
    'session',
    [1, expect.any(Number)],
    [2, 30_000],
    'end',
  ]);
  expect(linesOf(run).at(-1)).toMatchObject({ reason: 'aborted', exitCode: 130 });
});
