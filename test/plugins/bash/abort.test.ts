/** A call that is told to stop in the moment in which its command begins. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Bench } from '../../../plugins/bash/bench.ts';
import { runIn, running, testBench, testCall, uniqueSleep, until, type TestBench } from './bench.ts';

const STOPPED = { status: 'aborted', content: expect.stringMatching(/^\[ABORTED\]/), error: { code: 'ABORTED', retryable: false } };

let bench: TestBench;
let notices: string[] = [];
beforeEach(() => {
  notices = [];
  const background: Bench['background'] = { count: () => 0, record: async () => undefined, tell: (text) => void notices.push(text), parts: () => undefined };
  bench = testBench({ foregroundMs: 1000 }, undefined, {}, background);
});
afterEach(() => bench.close());

describe.each([
  ['in the foreground', false],
  ['in the background', true],
])('aborted %s', (_name, run_in_background) => {
  const nothingIsLeft = async (nap: string): Promise<void> => {
    expect(await until(() => running(nap).length === 0)).toBe(true);
    expect(bench.remains.tasks.all).toEqual([]);
    expect(notices).toEqual([]);
  };

  test('before the command is started: it never runs', async () => {
    const abort = new AbortController();
    const nap = uniqueSleep(300);
    const result = runIn({ command: nap, run_in_background }, testCall('/', { signal: abort.signal }), bench);
    abort.abort();
    expect(await result).toMatchObject(STOPPED);
    await nothingIsLeft(nap);
  });

  test('when it has just been started: it is no task, and nobody is told of its end', async () => {
    const abort = new AbortController();
    const nap = uniqueSleep(300);
    const spawn: Bench['process']['spawn'] = async (...given) => {
      const child = await bench.process.spawn(...given);
      abort.abort();
      return child;
    };
    const hasty = { ...bench, process: { ...bench.process, spawn } };
    const result = await runIn({ command: nap, run_in_background }, testCall('/', { signal: abort.signal }), hasty);
    expect(result).toMatchObject(STOPPED);
    await nothingIsLeft(nap);
  });
});

test('what has ended listens no longer for the end of its turn', async () => {
  const { signal } = new AbortController();
  const listening = new Set<unknown>();
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (type: string, run: never, more?: never) => (listening.add(run), add(type, run, more));
  signal.removeEventListener = (type: string, run: never) => (listening.delete(run), remove(type, run));
  expect(await runIn({ command: 'echo hi' }, testCall('/', { signal }), bench)).toMatchObject({ content: 'hi' });
  expect(listening.size).toBe(0);
});

test('files of output that are begun at one time are two', async () => {
  const { spills } = bench.remains;
  const [one, other] = await Promise.all([spills.create(), spills.create()]);
  expect(one.path).not.toBe(other.path);
});
