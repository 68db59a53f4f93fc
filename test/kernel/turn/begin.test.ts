/** What a vote of `gate` wants done just before a call, and when it is over. */
import { expect, test } from 'vitest';
import { type Clock, definePlugin, defineTool, jsonSchema } from '../../../kernel/index.ts';
import { systemClock } from '../../../kernel/host/clock.ts';
import { LIMITS } from '../../../kernel/limits.ts';
import { createTestSession, say, use } from '../../../kernel/testkit/index.ts';

const calling = (
  log: string[],
  run: (signal: AbortSignal) => Promise<string>,
  begin: () => Promise<(result: { status: string } | undefined) => Promise<void>>,
) =>
  definePlugin({
    name: 'calling',
    taps: ['gate'],
    apply: ({ hooks, registries }) => {
      registries.tools.add(
        defineTool({
          name: 'act',
          description: 'Acts.',
          input: jsonSchema<object>({ type: 'object' }),
          effect: 'write',
          run: async (_, { signal }) => {
            log.push('run');
            return run(signal);
          },
        }),
      );
      hooks.gate.tap('begin', () => ({ begin }));
      hooks.gate.tap('ask', () => ({ ask: 'May it?' }));
    },
  });
const open = (
  log: string[],
  run: (signal: AbortSignal) => Promise<string>,
  begin: () => Promise<(result: { status: string } | undefined) => Promise<void>> = begun(log),
  choice = 'once',
  clock: Clock = systemClock,
) =>
  createTestSession({
    clock,
    plugins: [calling(log, run, begin)],
    interactive: true,
    script: [use('act', {}), say('ok')],
    answer: () => {
      log.push('asked');
      return choice;
    },
  });
const begun = (log: string[]) => () => {
  log.push('begin');
  return Promise.resolve((result: { status: string } | undefined) => {
    log.push(`end ${result?.status ?? 'unknown'}`);
    return Promise.resolve();
  });
};

test('it begins behind the question, and ends with the call', async () => {
  const log: string[] = [];
  await using session = await open(log, () => Promise.resolve('done'));
  await session.run('go');
  expect(log).toEqual(['asked', 'begin', 'run', 'end ok']);
});

test('nothing begins when a person says no', async () => {
  const log: string[] = [];
  await using session = await open(log, () => Promise.resolve('done'), begun(log), 'reject');
  await session.run('go');
  expect(log).toEqual(['asked']);
});

test('it ends also when the call fails or is aborted', async () => {
  const failing: string[] = [];
  await using failed = await open(failing, () => Promise.reject(new Error('no')));
  await failed.run('go');
  expect(failing.at(-1)).toBe('end error');

  const stopping: string[] = [];
  await using stopped = await open(stopping, (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))));
  const turn = stopped.run('go');
  await expect.poll(() => stopping.at(-1)).toBe('run');
  await stopped.client.abort();
  await turn;
  expect(stopping.at(-1)).toBe('end aborted');
});

test('a throw refuses the call; a throw at its end costs nothing but a warning', async () => {
  const log: string[] = [];
  await using refused = await open(
    log,
    () => Promise.resolve('done'),
    () => Promise.reject(new Error('not now')),
  );
  await refused.run('go');
  expect([log, refused.results()[0]?.status]).toEqual([['asked'], 'error']);

  await using warned = await open(
    [],
    () => Promise.resolve('done'),
    () => Promise.resolve(() => Promise.reject(new Error('too late'))),
  );
  await warned.run('go');
  expect(warned.results()[0]?.status).toBe('ok');
  expect(warned.events('warning').map(({ text }) => text)).toContain('too late');
});

test('what never comes back from its beginning or its end is not waited for', async () => {
  for (const [begin, expected] of [
    [() => new Promise<never>(() => undefined), ['asked']],
    [() => Promise.resolve(() => new Promise<never>(() => undefined)), ['asked', 'run']],
  ] as const) {
    const log: string[] = [];
    const clock = { now: () => Date.now(), sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms === LIMITS.besideCallMs ? 20 : ms, signal) };
    await using session = await open(log, () => Promise.resolve('done'), begin, 'once', clock);
    expect(await session.run('go')).toMatchObject({ reason: 'stop' });
    expect(log).toEqual(expected);
    const told = JSON.stringify([session.results(), session.events('warning')]);
    expect(told).toContain('calling: begin took longer than 60 s beside a call');
  }
});
