import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { call, say } from '../provider.ts';
import { useCommand } from './command.ts';
import { linesOf, start, streamFaults } from './program.ts';

const { program, provide, project } = useCommand();
const until = async (fits: () => boolean, ms = 10_000): Promise<boolean> => {
  for (const end = performance.now() + ms; performance.now() < end; ) {
    if (fits()) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
};
const isRunning = (command: string): boolean => spawnSync('pgrep', ['-f', command]).status === 0;
const stream = ['run', '--format', 'stream-json'];

test.each(['SIGINT', 'SIGTERM'] as const)('%s while text streams: the turn ends as aborted, what came is kept', async (signal) => {
  const place = project();
  const provider = await provide(say('piece '.repeat(400), { piece: 6, pauseMs: 25 }), say('ok'));
  const running = start([...stream, 'first prompt'], { program: program(), place, provider });
  await running.until('"seq":8,');
  const sentAt = performance.now();
  running.child.kill(signal);
  const run = await running.done;
  expect(performance.now() - sentAt).toBeLessThan(3_000);
  expect(streamFaults(run)).toEqual([]);
  expect([run.code, linesOf(run).at(-1)]).toMatchObject([130, { type: 'end', reason: 'aborted', exitCode: 130 }]);

  await start(['run', '-c', 'second prompt'], { program: program(), place, provider }).done;
  const said = provider.requests.at(-1)?.body.messages.filter(({ role }) => role === 'assistant');
  expect(JSON.stringify(said)).toContain('piece piece');
});

test.each(['text', 'json', 'stream-json'])('SIGINT before the first byte: %s', async (format) => {
  const provider = await provide({ hangs: true });
  const running = start(['run', '--format', format, 'go'], { program: program(), place: project(), provider });
  expect(await until(() => provider.requests.length > 0)).toBe(true);
  running.child.kill('SIGINT');
  const run = await running.done;
  expect(run.code).toBe(130);
  if (format === 'json') expect(JSON.parse(run.stdout)).toMatchObject({ reason: 'aborted', error: null });
  if (format === 'text') expect(run.stdout).toBe('');
});

test('SIGINT while standard input is waited for', async () => {
  const provider = await provide(say('no'));
  const running = start(stream, { program: program(), place: project(), provider, stdin: { heldOpen: true } });
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  running.child.kill('SIGINT');
  const run = await running.done;
  expect([run.code, provider.requests.length]).toEqual([130, 0]);
  expect(linesOf(run)).toMatchObject([{ type: 'end', reason: 'aborted', exitCode: 130 }]);
});

test('SIGINT in a command kills what it started', async () => {
  const place = project();
  const nap = `sleep 61.${process.pid}1`;
  const provider = await provide(call('bash', { command: `touch begun; ${nap} & ${nap}` }));
  const running = start([...stream, 'go'], { program: program(), place, provider });
  expect(await until(() => existsSync(join(place.cwd, 'begun')))).toBe(true);
  running.child.kill('SIGINT');
  const run = await running.done;
  expect([run.code, streamFaults(run), provider.requests.length]).toEqual([130, [], 1]);
  expect(await until(() => !isRunning(nap), 2_000)).toBe(true);
});

test('SIGQUIT ends at once, and leaves no child behind', async () => {
  const place = project();
  const nap = `sleep 63.${process.pid}3`;
  const running = start(['run', 'go'], { program: program(), place, provider: await provide(call('bash', { command: `touch begun; ${nap}; ${nap}` })) });
  expect(await until(() => existsSync(join(place.cwd, 'begun')))).toBe(true);
  running.child.kill('SIGQUIT');
  expect((await running.done).code).toBe(131);
  expect(await until(() => !isRunning(nap), 2_000)).toBe(true);
});

test('a second SIGINT does not wait, and leaves no child behind', async () => {
  const place = project();
  const nap = `sleep 62.${process.pid}2`;
  const provider = await provide(call('bash', { command: `trap '' TERM INT; touch begun; ${nap}; ${nap}` }));
  const running = start(['run', 'go'], { program: program(), place, provider });
  expect(await until(() => existsSync(join(place.cwd, 'begun')))).toBe(true);
  running.child.kill('SIGINT');
  await new Promise((resolve) => setTimeout(resolve, 50));
  const sentAt = performance.now();
  running.child.kill('SIGINT');
  const run = await running.done;
  expect(run.code).toBe(130);
  expect(performance.now() - sentAt).toBeLessThan(450);
  expect(await until(() => !isRunning(nap), 2_000)).toBe(true);
});
