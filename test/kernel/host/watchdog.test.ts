/** A plugin that blocks the event loop: the process is ended, the plugin named, and off at the next start. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, expect, test } from 'vitest';
import { definePlugin } from 'cast';
import { blockedFile, takeBlocked } from '../../../kernel/host/blocked.ts';
import { createKernel } from '../../../kernel/host/kernel.ts';
import { manifestOf } from '../../../kernel/host/manifest.ts';

const folder = mkdtempSync(join(tmpdir(), 'cast-watchdog-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('names the tap that has the thread and ends the process', async () => {
  const script = join(folder, 'blocked.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL('./fixtures/blocked.ts', import.meta.url))],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: script,
    logLevel: 'error',
  });
  const ended = spawnSync(process.execPath, [script, folder], { encoding: 'utf8', timeout: 20_000 });
  expect(ended.signal).toBe('SIGKILL');
  expect(ended.stderr).toContain('cast: plugin looper (prepare: spin) has blocked the process');
  expect(takeBlocked(folder)).toMatchObject({ plugin: 'looper', where: 'prepare: spin' });
  expect(takeBlocked(folder)).toBeUndefined();
});

test('the next start keeps that plugin off, says so once, and the start after that has it again', async () => {
  writeFileSync(blockedFile(folder), JSON.stringify({ plugin: 'looper', where: 'prepare: spin', at: 1 }));
  const looper = definePlugin({ name: 'looper' });
  const ref = (plugin: typeof looper, name: string) => ({ manifest: manifestOf(name, plugin.spec), builtin: true, source: 'test', load: async () => plugin });
  const states: unknown[] = [];
  for (let start = 1; start <= 2; start++) {
    const kernel = createKernel({ home: folder, version: '0', builtins: [ref(looper, 'looper')] });
    const { client } = await kernel.open({ cwd: folder, root: folder, environment: {}, interactive: false, ephemeral: true, layers: [], plugins: [] });
    const warnings: string[] = [];
    for await (const event of client.events(0, AbortSignal.timeout(50))) if (event.type === 'warning') warnings.push(event.data.text);
    states.push([(await client.report()).plugins.find((plugin) => plugin.name === 'looper')?.state, warnings.length]);
    await kernel.shutdown('done');
  }
  expect(states).toEqual([
    ['off', 1],
    ['active', 0],
  ]);
});
