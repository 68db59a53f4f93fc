import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestSession, type TestSession } from '../../../kernel/testkit/index.ts';
import replay from '../../../plugins/replay/index.ts';
import { createPlayer } from '../../../plugins/replay/player.ts';
import { readRecording, type Recording } from '../../../plugins/replay/recording.ts';
import type { Clock, Delta } from '../../../kernel/index.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cast-replay-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const fileWith = (content: unknown): string => {
  const file = join(folder, 'recording.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
};
const end = { type: 'end', reason: 'stop' } as const;
const said = (text: string): Recording['steps'][number] => ({ purpose: 'main', deltas: [{ type: 'text', text }, end] });

const play = async (recording: unknown, options: { readonly delays?: boolean; readonly file?: string } = {}): Promise<TestSession> =>
  createTestSession({
    plugins: [replay],
    config: { provider: 'replay', plugins: { replay: { file: recording === undefined ? join(folder, 'none.json') : fileWith(recording), ...options } } },
    cwd: folder,
  });

describe('in a session', () => {
  test('replies come in the order recorded', async () => {
    await using session = await play({ version: 1, steps: [said('one'), said('two')] });
    expect(await session.run('a')).toMatchObject({ reason: 'stop' });
    expect(await session.run('b')).toMatchObject({ reason: 'stop' });
    expect(session.text()).toBe('one\ntwo');
  });

  test('a file is found from the working directory', async () => {
    fileWith({ version: 1, steps: [said('found')] });
    await using session = await play({ version: 1, steps: [said('found')] }, { file: './recording.json' });
    await session.run('a');
    expect(session.text()).toBe('found');
  });

  test('when the recording is over the turn fails and says so', async () => {
    await using session = await play({ version: 1, steps: [said('one')] });
    await session.run('a');
    expect(await session.run('b')).toMatchObject({ reason: 'error' });
    expect(session.events('error').at(-1)?.message).toMatch(/has 1 repl(?:y|ies), and one more was asked for/);
  });

  test('without a file the turn fails and names it', async () => {
    await using session = await play(undefined);
    expect(await session.run('a')).toMatchObject({ reason: 'error' });
    expect(session.events('error')[0]?.message).toContain('none.json');
  });
});

describe('by purpose', () => {
  const collect = async (deltas: AsyncIterable<Delta>): Promise<readonly Delta[]> => {
    const all: Delta[] = [];
    for await (const delta of deltas) all.push(delta);
    return all;
  };
  const waits: number[] = [];
  const clock: Clock = { now: () => 0, sleep: async (ms) => void waits.push(ms) };
  const signal = new AbortController().signal;
  const steps: Recording['steps'] = [
    { purpose: 'title', deltas: [{ type: 'text', text: 'A title' }, end] },
    { purpose: 'main', deltas: [{ type: 'text', text: 'slow', afterMs: 500 }, { type: 'call', tool: 'read', arguments: '{}' } as never, end] },
  ];

  test('each has its own order, and side work that was not recorded gets an empty reply', async () => {
    const player = createPlayer({ version: 1, steps }, { clock, keepsDelays: false });
    expect(await collect(player.play('main', signal))).toEqual([{ type: 'text', text: 'slow' }, { type: 'call', id: '', tool: 'read', arguments: '{}' }, end]);
    expect(await collect(player.play('title', signal))).toEqual([{ type: 'text', text: 'A title' }, end]);
    expect(await collect(player.play('title', signal))).toEqual([end]);
    expect(waits).toEqual([]);
  });

  test('waits are kept when they are wanted, and end with the signal', async () => {
    const player = createPlayer({ version: 1, steps }, { clock, keepsDelays: true });
    await collect(player.play('main', signal));
    expect(waits).toEqual([500]);
    const stopped = createPlayer({ version: 1, steps }, { clock, keepsDelays: true }).play('main', AbortSignal.abort(new Error('stop')));
    await expect(collect(stopped)).rejects.toThrow('stop');
  });
});

describe('what is no recording is named with its place', () => {
  test.each<readonly [unknown, RegExp]>([
    ['{', /cannot be read/],
    [[], /a recording is an object/],
    [{ version: 2, steps: [] }, /`version` must be 1/],
    [{ version: 1 }, /`steps` must be a list/],
    [{ version: 1, steps: [said('a'), { purpose: 'mein', deltas: [end] }] }, /steps\[1\]\.purpose must be one of main, /],
    [{ version: 1, steps: [{ purpose: 'main', deltas: [] }] }, /steps\[0\]\.deltas must be a list/],
    [{ version: 1, steps: [{ purpose: 'main', deltas: [{ type: 'txt' }] }] }, /steps\[0\]\.deltas\[0\]\.type must be one of/],
    [{ version: 1, steps: [{ purpose: 'main', deltas: [{ type: 'call', tool: 'a' }] }] }, /deltas\[0\]\.arguments must be a text/],
    [{ version: 1, steps: [{ purpose: 'main', deltas: [{ ...end, afterMs: -1 }] }] }, /afterMs must be a number/],
  ])('%j', async (content, says) => {
    await expect(readRecording(fileWith(content))).rejects.toMatchObject({ code: 'REPLAY_INVALID', message: expect.stringMatching(says) });
  });

  test('the recording of the demo is one', async () => {
    const file = new URL('../../../cli/demo/recording.json', import.meta.url).pathname;
    expect((await readRecording(file)).steps).toHaveLength(5);
  });
});
