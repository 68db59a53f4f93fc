/** `cast record` and `cast replay` as programs: recorded once with a provider, played without one. */
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { call, say } from '../provider.ts';
import { useCommand } from './command.ts';
import type { Place } from './program.ts';

const { provide, project, cast } = useCommand();
const REPLIES = [
  call('write', { path: 'made.txt', content: 'made' }, { reasoning: 'hm', text: 'Writing.' }),
  call('bash', { command: 'rm made.txt; touch ran' }),
  say('Done, all of it.'),
];
/** A plugin of the user's own, as it was when the session was recorded. */
const MINE = (command: string): string =>
  `export default { plugins: { mine: { kind: 'cast.plugin', spec: { name: 'mine', version: '1.0.0', capabilities: [], taps: ['call'], activation: ['session'],
  apply: ({ hooks }) => hooks.call.tap('safer', { when: { tool: 'bash' } }, () => ({ input: { command: '${command}' } })) } } } };`;

const recorded = async (files: Readonly<Record<string, string>> = {}, ...flags: readonly string[]): Promise<{ place: Place; file: string }> => {
  const place = project(files);
  const provider = await provide(...REPLIES);
  const run = await cast(['record', 'run.json', ...flags, 'go'], { provider, place });
  expect(run).toMatchObject({ code: 0, stderr: expect.stringContaining('cast: recorded in run.json') });
  return { place, file: join(place.cwd, 'run.json') };
};

describe('a recorded run', () => {
  test('is that run: its output, its session, its exit code', async () => {
    const place = project();
    const provider = await provide(...REPLIES);
    const run = await cast(['record', 'run.json', '--', '--format', 'json', '--max-steps', '2', 'go'], { provider, place });
    expect([run.code, JSON.parse(run.stdout)]).toMatchObject([1, { reason: 'limit', steps: 2 }]);
    expect(statSync(join(place.cwd, 'run.json')).mode & 0o777).toBe(0o600);
    expect((await cast(['sessions', 'list'], { place })).stdout).toContain('go');
    // Turns that fail replay as well.
    expect(await cast(['replay', 'run.json'], { place })).toMatchObject({ code: 0, stdout: expect.stringMatching(/^The same: \d+ outcomes in 1 turn\.\n$/) });
  });

  test('replays without provider, tools and network, also where its folder and settings are gone', async () => {
    const { place, file } = await recorded();
    const copy = project({ 'copy.json': readFileSync(file, 'utf8') });
    rmSync(place.cwd, { recursive: true });
    const replay = await cast(['replay', 'copy.json', '--json'], { place: copy });
    expect(replay).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(replay.stdout)).toMatchObject({ same: true, turns: 1, plugins: [] });
    expect(existsSync(place.cwd)).toBe(false);
    expect(existsSync(join(copy.cwd, 'ran'))).toBe(false);
    expect(existsSync(join(copy.castHome, 'sessions'))).toBe(false);
  });

  test('names the plugin that is another one now', async () => {
    const { place, file } = await recorded({ '~/cast.config.mjs': MINE('touch safe') });
    expect(existsSync(join(place.cwd, 'safe'))).toBe(true);
    expect((await cast(['replay', file], { place })).code).toBe(0);
    writeFileSync(join(place.castHome, 'cast.config.mjs'), MINE('touch other'));
    const changed = await cast(['replay', file], { place });
    expect(changed.code).toBe(1);
    expect(changed.stdout).toContain('Different in turn 1, step 2, call call_2_0: hook call, plugin mine, tap "safer"');
    expect(changed.stdout).toMatch(/expected {2}.*touch safe.*\n {2}came {6}.*touch other/);
    const gone = await cast(['replay', '--safe', file], { place });
    expect([gone.code, gone.stdout]).toEqual([
      1,
      expect.stringMatching(/plugin mine, tap "safer"\n.*touch safe.*\n {2}came {6}\(nothing\)\n {2}plugins {3}mine 1\.0\.0 is gone/),
    ]);
    expect(existsSync(join(place.cwd, 'other'))).toBe(false);
  });

  test('holds no key', async () => {
    const place = project();
    const provider = await provide(say('the key is in my-secret-key-0123456789 here'), say('done'));
    await cast(['record', 'run.json', 'go'], { provider, place, env: { CAST_API_KEY: 'my-secret-key-0123456789' } });
    expect(readFileSync(join(place.cwd, 'run.json'), 'utf8')).not.toContain('my-secret-key');
  });
});

describe('what cannot be', () => {
  test('a file is not replaced, and a session not gone on with', async () => {
    const place = project({ 'mine.ts': 'precious' });
    expect(await cast(['record', 'mine.ts', 'go'], { place })).toMatchObject({ code: 3, stderr: expect.stringContaining('mine.ts is there already') });
    expect(readFileSync(join(place.cwd, 'mine.ts'), 'utf8')).toBe('precious');
    expect(await cast(['record', 'run.json', '--', '-c', 'go'], { place })).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('begins with a new session'),
    });
    expect(await cast(['record', 'run.json', '--', '--modle', 'x', 'go'], { place })).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('Did you mean --model?'),
    });
    expect(existsSync(join(place.cwd, 'run.json'))).toBe(false);
  });

  test.each<readonly [string, string, RegExp]>([
    ['no JSON', '{', /cannot be read/],
    ['no recording', '[]', /is no recording of a session/],
    ['replies only', '{"version":1,"steps":[]}', /is no recording of a session/],
    ['half a head', '{"version":1,"steps":[],"session":{"id":"x"}}', /`session` is not complete/],
    [
      'another version',
      '{"version":9,"steps":[],"session":{"id":"x","startedAt":1,"cwd":"/","root":"/","config":{},"models":[],"inputs":[{"text":"go","isRunning":false}]}}',
      /`version` must be 1/,
    ],
  ])('%s: exit 3', async (_, text, says) => {
    const place = project({ 'bad.json': text });
    expect(await cast(['replay', 'bad.json'], { place })).toMatchObject({ code: 3, stderr: expect.stringMatching(says) });
  });

  test('no file, a folder', async () => {
    const place = project();
    mkdirSync(join(place.cwd, 'folder'));
    for (const name of ['none.json', 'folder']) expect((await cast(['replay', name], { place })).code).toBe(3);
  });
});
