/** Standard output carries what was promised and nothing else, whoever reads it and whatever plugins do. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { call, say, type TestProvider } from '../provider.ts';
import { useCommand } from './command.ts';
import { linesOf, start, streamFaults, type Outcome, type Place } from './program.ts';

const { program, provide, project } = useCommand();
/** With a plugin of the user's, given as the body of its definition. */
const withPlugin = (body: string, before = ''): Place =>
  project({
    '~/settings.json': '{ "plugins": { "mine": "./mine.mjs" } }',
    '~/mine.mjs': `${before}\nexport default { kind: 'cast.plugin', spec: { ${body} }, with: () => undefined };`,
  });
const cast = (args: readonly string[], place: Place, provider: TestProvider, env?: Readonly<Record<string, string>>): Promise<Outcome> =>
  start(args, { program: program(), place, provider, ...(env ? { env } : {}) }).done;
const stream = (...rest: readonly string[]): readonly string[] => ['run', '--format', 'stream-json', ...rest];

describe('plugins that do not behave', () => {
  const LOUD = `apply() { console.log('printed by apply'); process.stdout.write('written by apply\\n'); console.error('told by apply'); process.emitWarning('deprecated'); }`;

  test.each(['json', 'stream-json'])('what they print goes to standard error: %s', async (format) => {
    const run = await cast(['run', '--format', format, 'go'], withPlugin(LOUD, `console.log('printed at load')`), await provide(say('ok')), {
      CAST_LOG: 'debug',
    });
    expect(run.code).toBe(0);
    for (const line of run.stdout.trim().split('\n')) JSON.parse(line);
    for (const text of ['printed at load', 'printed by apply', 'written by apply', 'told by apply', 'deprecated']) expect(run.stderr).toContain(text);
    if (format === 'stream-json') expect(streamFaults(run)).toEqual([]);
  });

  test('the same for `cast plugins list --json`', async () => {
    const run = await cast(['plugins', 'list', '--json'], withPlugin(LOUD), await provide());
    expect(JSON.parse(run.stdout).plugins.map((plugin: { name: string }) => plugin.name)).toContain('mine');
  });

  test('one that fails at its start is named, behind the session line, and costs only itself', async () => {
    const run = await cast(stream('go'), withPlugin(`apply() { throw new Error('boom'); }`), await provide(say('ok')));
    expect(streamFaults(run)).toEqual([]);
    expect(linesOf(run)[1]).toMatchObject({ type: 'plugin_fault', plugin: 'mine', message: expect.stringContaining('boom') });
    expect(run.code).toBe(0);
  });

  test('one with a timer and a lost promise does not keep the process', async () => {
    const body = `apply() { setInterval(() => undefined, 1000); void Promise.reject(new Error('lost')); }`;
    const running = start(stream('go'), { program: program(), place: withPlugin(body), provider: await provide(say('ok')) });
    await running.until('"end"');
    const endedAt = performance.now();
    const run = await running.done;
    expect(performance.now() - endedAt).toBeLessThan(1_000);
    expect([run.code, run.stderr]).toEqual([0, expect.stringContaining('lost')]);
  });

  test('one that throws out of nowhere ends the run in good order', async () => {
    const body = `apply() { setTimeout(() => { throw new Error('out of nowhere'); }, 20); }`;
    const run = await cast(stream('go'), withPlugin(body), await provide(say('slow '.repeat(100), { piece: 5, pauseMs: 20 })));
    expect(streamFaults(run)).toEqual([]);
    expect([run.code, linesOf(run).at(-2)]).toMatchObject([1, { type: 'error', message: expect.stringContaining('out of nowhere') }]);
  });

  test('one whose close never ends is not waited for', async () => {
    const body = `apply({ hooks, onDispose }) { onDispose(() => new Promise(() => undefined)); hooks.close.tap('never', () => new Promise(() => undefined)); }`;
    const running = start(stream('go'), { program: program(), place: withPlugin(body), provider: await provide(say('ok')) });
    await running.until('"end"');
    const endedAt = performance.now();
    expect((await running.done).code).toBe(0);
    expect(performance.now() - endedAt).toBeLessThan(1_800);
  });
});

describe('readers', () => {
  const shell = (command: string, place: Place, provider?: TestProvider): { status: number | null; stdout: string; stderr: string } => {
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: place.home,
      CAST_HOME: place.castHome,
      CAST: `${process.execPath} ${program()}`,
      ...(provider ? { CAST_BASE_URL: provider.url, CAST_API_KEY: '', CAST_MODEL: 'm' } : {}),
    };
    return spawnSync('bash', ['-c', `set -o pipefail; ${command}`], { cwd: place.cwd, env, encoding: 'utf8', timeout: 20_000 });
  };

  test.each(['$CAST --help | true', '$CAST --version | true', '$CAST plugins list | head -1', '$CAST plugins list --json | head -1'])(
    '%s ends quietly',
    (command) => {
      const run = shell(command, project());
      expect([run.status, run.stderr]).toEqual([0, '']);
    },
  );

  test('a run whose reader goes away stops, and its children with it', async () => {
    const place = project();
    const nap = `sleep 63.${process.pid}3`;
    const provider = await provide(say('first', { calls: [{ tool: 'bash', input: { command: `touch begun; ${nap}` } }] }));
    const running = start(stream('go'), { program: program(), place, provider });
    await running.until('"tool_start"');
    while (!existsSync(join(place.cwd, 'begun'))) await new Promise((resolve) => setTimeout(resolve, 20));
    running.child.stdout?.destroy();
    running.child.kill('SIGINT');
    const run = await running.done;
    expect([run.code, run.stderr]).toEqual([141, '']);
    expect(spawnSync('pgrep', ['-f', nap]).status).toBe(1);
  });

  test('a slow reader gets all of a long answer', async () => {
    const place = project();
    const text = 'word '.repeat(400_000);
    const provider = await provide(say(text, { piece: 100_000 }));
    const child = start(stream('go'), { program: program(), place, provider });
    child.child.stdout?.pause();
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    child.child.stdout?.resume();
    const run = await child.done;
    expect(streamFaults(run)).toEqual([]);
    expect(linesOf(run).find(({ type }) => type === 'assistant_message')?.['content']).toBe(text);
  });
});

test('no network is touched and no plugin loaded for help and version', async () => {
  const place = withPlugin('', `process.stderr.write('mine was loaded\\n');`);
  const provider = await provide();
  for (const args of [['--version'], ['-v'], ['--help'], ['run', '--help'], ['plugins', '--help']]) {
    const run = await cast(args, place, provider);
    expect([args, run.code, run.stderr, run.stdout !== '', provider.requests.length]).toEqual([args, 0, '', true, 0]);
  }
  expect((await cast(['--version'], place, provider)).stdout).toMatch(/^cast v\d+\.\d+\.\d+\n$/);
});

test('text that a filter turned into nothing, and calls only, print nothing', async () => {
  const run = await cast(['run', 'go'], project(), await provide(call('bash', { command: 'true' }), say('done')));
  expect(run.stdout).toBe('done\n');
});
