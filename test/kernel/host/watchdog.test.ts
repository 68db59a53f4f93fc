/** A plugin that blocks the event loop: the process is ended, the plugin named, and off at the next start. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { definePlugin } from 'cast';
import { blockedFile, peekBlocked, takeBlocked } from '../../../kernel/host/blocked.ts';
import { createKernel } from '../../../kernel/host/kernel.ts';
import { manifestOf } from '../../../kernel/host/manifest.ts';

const folder = mkdtempSync(join(tmpdir(), 'cast-watchdog-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a process with a plugin that blocks it', () => {
  const script = join(folder, 'blocked.mjs');
  beforeAll(() =>
    build({
      entryPoints: [fileURLToPath(new URL('./fixtures/blocked.ts', import.meta.url))],
      bundle: true,
      platform: 'node',
      format: 'esm',
      banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
      outfile: script,
      logLevel: 'error',
    }),
  );
  const run = (way: string) => spawnSync(process.execPath, [script, folder, way], { encoding: 'utf8', timeout: 20_000 });

  test.each([
    ['at once', 'prepare: spin'],
    ['in a listener', 'event: turn.started'],
    ['in apply', 'apply: apply'],
    ['in a dispose', 'dispose: dispose'],
  ])('%s is ended, and what had the thread is named', (way, where) => {
    const ended = run(way);
    expect([ended.signal, ended.stderr]).toEqual([
      'SIGKILL',
      `cast: plugin looper (${where}) has blocked the process for 1 s; it is ended. The plugin stays off at the next start.\n`,
    ]);
    expect(takeBlocked(folder)).toMatchObject({ plugin: 'looper', where, isSuspect: false });
    expect(takeBlocked(folder)).toBeUndefined();
  });

  test.each([
    ['after its first await', 'prepare: spin'],
    ['in a tool', 'tool: spin'],
  ])('%s is ended, and what was the last under way is named', (way, where) => {
    const ended = run(way);
    expect([ended.signal, ended.stderr]).toEqual([
      'SIGKILL',
      `cast: the process has been blocked for 1 s; it is ended. The last under way was plugin looper (${where}). The plugin stays off at the next start.\n`,
    ]);
    expect(takeBlocked(folder)).toMatchObject({ plugin: 'looper', where, isSuspect: true });
  });

  test('while nothing is under way is ended as well', () => {
    const ended = run('in a timer');
    expect([ended.signal, ended.stderr]).toEqual(['SIGKILL', 'cast: the process has been blocked for 1 s; it is ended. No plugin was under way.\n']);
    expect(existsSync(blockedFile(folder))).toBe(false);
  });

  test('and one that does not is left alone', () => expect(run('not at all')).toMatchObject({ status: 0, stderr: '' }));
});

describe('the next start', () => {
  const looper = definePlugin({ name: 'looper' });
  const kernelOf = (builtin: boolean) =>
    createKernel({
      home: folder,
      version: '0',
      builtins: [{ manifest: manifestOf('looper', looper.spec), builtin, source: 'test', load: async () => looper }],
    });
  const opening = { cwd: folder, root: folder, environment: {}, interactive: false, ephemeral: true, layers: [], plugins: [] };
  const openOn = async (kernel: ReturnType<typeof kernelOf>): Promise<readonly unknown[]> => {
    const { client } = await kernel.open(opening);
    const warnings: string[] = [];
    for await (const event of client.events(0, AbortSignal.timeout(50))) if (event.type === 'warning') warnings.push(event.data.text);
    return [(await client.report()).plugins.find((plugin) => plugin.name === 'looper')?.state, warnings.length];
  };
  const leave = (more: object = {}): void => writeFileSync(blockedFile(folder), JSON.stringify({ plugin: 'looper', where: 'prepare: spin', at: 1, ...more }));

  test('keeps that plugin off in every session and says so; the start after that has it again', async () => {
    leave();
    const states: unknown[] = [];
    for (const sessions of [2, 1]) {
      const kernel = kernelOf(false);
      for (let i = 0; i < sessions; i++) states.push(await openOn(kernel));
      await kernel.shutdown('done');
    }
    expect(states).toEqual([
      ['off', 1],
      ['off', 1],
      ['active', 0],
    ]);
  });

  test('is not that of a kernel which only lists plugins', async () => {
    leave();
    const kernel = kernelOf(false);
    for (let i = 0; i < 2; i++) expect((await kernel.inspect(opening)).plugins).toMatchObject([{ name: 'looper', state: 'off' }]);
    expect(peekBlocked(folder)).toMatchObject({ plugin: 'looper' });
    await kernel.shutdown('done');
    rmSync(blockedFile(folder));
  });

  test('switches nothing off that comes with cast on a mere suspicion', async () => {
    leave({ isSuspect: true });
    const kernel = kernelOf(true);
    expect(await openOn(kernel)).toEqual(['active', 0]);
    await kernel.shutdown('done');
  });
});
