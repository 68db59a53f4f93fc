/** The command in places and with plugins that nobody would want: it says what is wrong and ends. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { orStalled } from '../../cli/stalled.ts';
import { call, say, type TestProvider } from '../provider.ts';
import { useCommand } from './command.ts';
import { linesOf, start, streamFaults, type Outcome, type Place } from './program.ts';

const { program, later, provide, project } = useCommand();
/** A project whose configuration brings one plugin. */
const withPlugin = (body: string): Place =>
  project({
    'cast.config.ts': `import { defineConfig, definePlugin, defineTool, z } from 'cast';\nexport default defineConfig({ plugins: { odd: definePlugin({ ${body} }) } });\n`,
  });
const NEVER_TOOL = `apply(s) { s.registries.tools.add(defineTool({ name: 'odd_tool', description: 'x', effect: 'read', input: z.object({}), run: () => new Promise(() => {}) })) }`;

const cast = (args: readonly string[], place: Place, provider?: TestProvider): Promise<Outcome> =>
  start(args, { program: program(), place, ...(provider ? { provider } : {}) }).done;

describe('something that never answers, when nothing else is left to wait for', () => {
  test('ends the run as a failure', async () => {
    const provider = await provide(call('odd_tool', {}), say('done'));
    const run = await cast(['run', '--trust', '--format', 'stream-json', 'go'], withPlugin(NEVER_TOOL), provider);
    expect(run.code).toBe(1);
    expect(linesOf(run).slice(-2)).toMatchObject([
      { type: 'error', code: 'INTERNAL', message: expect.stringContaining('never') as string },
      { type: 'end', reason: 'error', exitCode: 1 },
    ]);
  });
  test('is told to the innermost wait', async () => {
    const told: string[] = [];
    const inner = orStalled(new Promise(() => undefined)).catch(() => told.push('inner'));
    void orStalled(new Promise(() => undefined)).catch(() => told.push('innermost'));
    process.emit('beforeExit', 0);
    await Promise.race([inner, new Promise((resolve) => setImmediate(resolve))]);
    expect(told).toEqual(['innermost']);
  });
  test('work that ends is what it is', async () => {
    await expect(orStalled(Promise.resolve(1))).resolves.toBe(1);
    await expect(orStalled(Promise.reject(new Error('x')))).rejects.toThrow('x');
  });
});

test('a plugin that ends standard output does not silence the run', async () => {
  const place = withPlugin(`apply() { process.stdout.end('from the plugin'); process.stdout.destroy(); }`);
  const run = await cast(['run', '--trust', '--format', 'stream-json', 'go'], place, await provide(say('The answer.')));
  expect(run.code).toBe(0);
  expect(streamFaults(run)).toEqual([]);
  expect(run.stderr).toContain('from the plugin');
});

test('a folder that was removed under the shell is named', async () => {
  const place = project();
  const folder = mkdtempSync(join(tmpdir(), 'cast-gone-'));
  later(() => rmSync(folder, { recursive: true, force: true }));
  const run = spawnSync('sh', ['-c', 'rmdir "$1" && exec "$2" "$3" run go', 'sh', folder, process.execPath, program()], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: place.home },
    encoding: 'utf8',
  });
  expect([run.status, run.stdout]).toEqual([3, '']);
  expect(run.stderr).toMatch(/^cast: .*folder.* gone\n/);
  expect(run.stderr).not.toContain('    at ');
});

describe('names of files that are none', () => {
  test.each(['below/a-file', 'a-file'])('--cwd %s', async (name) => {
    const run = await cast(['run', '--cwd', name, 'go'], project({ below: '', 'a-file': '' }));
    expect([run.code, run.stderr]).toEqual([3, expect.stringContaining('is no folder')]);
  });
  test.runIf(process.platform !== 'win32').each(['--image', '--output-schema'])('%s with a pipe, a device or a folder does not wait', async (flag) => {
    const place = project();
    execFileSync('mkfifo', [join(place.cwd, 'pipe')]);
    mkdirSync(join(place.cwd, 'folder'));
    for (const name of ['pipe', '/dev/zero', 'folder']) {
      const run = await cast(['run', flag, name, 'go'], place, await provide(say('done')));
      expect([run.code, run.stderr]).toEqual([3, expect.stringContaining(`${flag} ${name}`)]);
    }
  });
});
