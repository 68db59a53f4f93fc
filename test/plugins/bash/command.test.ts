/** The plugin in the command as it is run: real signals to the agent, its memory, and what a program reads. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { useCommand } from '../../cli/command.ts';
import { linesOf, start, streamFaults } from '../../cli/program.ts';
import { call, say } from '../../provider.ts';
import { running, uniqueSleep, until } from './bench.ts';

const { program, provide, project, cast } = useCommand();
const USAGE = fileURLToPath(new URL('../../bench/usage.cjs', import.meta.url));

describe.each(['SIGINT', 'SIGTERM'] as const)('B022: %s to the agent leaves nothing running', (signal) => {
  test.each([
    ['children', (first: string, second: string) => `sh -c '${first} & ${second}'`],
    ['a child that ignores SIGTERM', (first: string, second: string) => `trap '' TERM INT; ${first} & ${second}; ${second}`],
  ])('of %s', async (_name, script) => {
    const [place, first, second] = [project(), uniqueSleep(400), uniqueSleep(401)];
    const agent = start(['run', '--format', 'stream-json', 'go'], {
      program: program(),
      place,
      provider: await provide(call('bash', { command: script(first, second) })),
    });
    expect(await until(() => running(first).length + running(second).length === 2, 15_000)).toBe(true);
    const sentAt = performance.now();
    agent.child.kill(signal);
    const run = await agent.done;
    expect(performance.now() - sentAt).toBeLessThan(5000);
    expect([run.code, streamFaults(run)]).toEqual([130, []]);
    expect(await until(() => running(first).length + running(second).length === 0)).toBe(true);
  });
});

test.runIf(process.platform === 'linux')('B022: a process in a session of its own is named to the model, after an end in good order as well', async () => {
  const nap = uniqueSleep(20);
  const provider = await provide(call('bash', { command: `setsid ${nap} > /dev/null 2>&1 & sleep 0.3; echo started` }), say('ok'));
  expect(await cast(['run', 'go'], { provider })).toMatchObject({ code: 0 });
  const pids = running(nap);
  expect(pids).toHaveLength(1);
  expect(JSON.stringify(provider.requests[1]?.body.messages.at(-1))).toContain(
    `May still run, in a session of its own and so killed neither with the command nor with this session: pid ${pids[0]} (${nap})`,
  );
  for (const pid of pids) process.kill(pid, 'SIGKILL');
});

/** Peak memory in MiB of a run that makes one call, and what the model was told. */
const peakOf = async (command: string): Promise<{ readonly memory: number; readonly told: string }> => {
  const place = project();
  const provider = await provide(call('bash', { command }), say('ok'));
  const usage = join(place.home, 'usage');
  expect(await cast(['run', 'go'], { place, provider, node: ['--require', USAGE], env: { BENCH_USAGE: usage }, limitMs: 100_000 })).toMatchObject({ code: 0 });
  const { memory } = JSON.parse(readFileSync(usage, 'utf8')) as { memory: number };
  return { memory: memory / 1024, told: String(provider.requests[1]?.body.messages.at(-1)?.content) };
};

test('B024: output of any size is bounded in memory and in the result, which says what is missing and where it is', { timeout: 240_000 }, async () => {
  const tiny = await peakOf('echo y');
  const many = await peakOf('yes | head -c 2000000000');
  expect(many.told).toMatch(/^(y\n){2}\[999998000 lines \(1999996\d{3} bytes\) were left out here\. The first 64 MiB are in \/\S+\]\n(y\n){1997}y$/);
  expect(many.memory - tiny.memory).toBeLessThan(100);
  const long = await peakOf("head -c 600000000 /dev/zero | tr '\\0' x");
  expect(long.told).toMatch(/^x{2048}\n\[0 lines \(599868928 bytes\) were left out here\. The first 64 MiB are in \/\S+\]\nx{129024}$/);
  expect(long.memory - tiny.memory).toBeLessThan(100);
});

test('B026: a failure is flagged in what programs read, and to the model also after a resume', async () => {
  const place = project();
  const provider = await provide(call('bash', { command: 'echo out; echo err >&2; exit 3' }), call('bash', { command: 'echo out; kill -9 $$' }), say('ok'));
  const run = await cast(['run', '--format', 'stream-json', 'go'], { place, provider });
  expect(run.code).toBe(0);
  const results = linesOf(run).filter(({ type }) => type === 'tool_end');
  const [status, signal] = ['out\nerr\n\nProcess exited with code 3', 'out\n\nProcess was killed by SIGKILL'];
  expect(JSON.stringify(results[0])).toContain(JSON.stringify(status));
  expect(results.map((line) => line['status'])).toEqual(['error', 'error']);
  expect(JSON.stringify(results[1])).toContain(JSON.stringify(signal));
  await cast(['run', '-c', 'again'], { place, provider });
  const told = provider.requests.at(-1)?.body.messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : []));
  expect(told).toEqual([status, signal]);
});
