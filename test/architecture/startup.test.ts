/** What is loaded before the first request leaves: a user waits for each byte of it. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DIST, ROOT } from './sources.ts';

const CLI = join(DIST, 'cli.js');
const RECORDER = join(ROOT, 'test/architecture/record-loads.mjs');
/** Too heavy to be loaded before they are wanted, or wanted only by some. */
const LATE = [
  'zod',
  'kysely',
  'ink',
  'react',
  '@modelcontextprotocol/sdk',
  'jiti',
  'unbash',
  'diff',
  '@cfworker/json-schema',
  '@vscode/ripgrep',
  'linkedom',
  'turndown',
  '@mozilla/readability',
  'iconv-lite',
  'ipaddr.js',
];

/** What all of it may weigh. */
const MAX_KIBIBYTES = 450;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cast-startup-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Files that a process has loaded so far, those of Node left out. */
const loadedIn = (record: string): readonly string[] => {
  const lines = existsSync(record) ? readFileSync(record, 'utf8').split('\n') : [];
  const paths = lines.map((line) => (line.startsWith('file:') ? fileURLToPath(line) : line)).filter((path) => path.startsWith('/') && path !== RECORDER);
  return [...new Set(paths)];
};

/** Packages in a file: its own, or those bundled into it as its source map tells. */
const packagesIn = (file: string): readonly string[] => {
  const sources =
    file.startsWith(DIST) && existsSync(`${file}.map`) ? (JSON.parse(readFileSync(`${file}.map`, 'utf8')) as { sources: string[] }).sources : [file];
  return [...new Set(sources.flatMap((source) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? []))];
};

const run = async (args: readonly string[], record: string, env: Record<string, string> = {}): Promise<{ code: number | null; out: string; err: string }> => {
  const child = spawn(process.execPath, ['--import', RECORDER, CLI, ...args], {
    cwd: folder,
    // The code cache loads what is in its folder by itself, unseen by the recorder.
    env: { PATH: process.env['PATH'], HOME: folder, CAST_HOME: join(folder, 'home'), CAST_NO_DAEMON: '1', CAST_CODE_CACHE: 'off', CAST_LOADS: record, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (bytes: Buffer) => (out += bytes.toString()));
  child.stderr.on('data', (bytes: Buffer) => (err += bytes.toString()));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, out, err };
};

describe.skipIf(!existsSync(CLI))('the built command (npm run build comes first)', () => {
  test('tells its version from one file', async () => {
    const record = join(folder, 'version');
    const { code, out } = await run(['--version'], record);
    expect(out).toMatch(/\d+\.\d+\.\d+/);
    expect(code).toBe(0);
    expect(loadedIn(record).map((file) => relative(DIST, file))).toEqual(['cli.js']);
    expect(packagesIn(CLI)).toEqual([]);
  });

  test('loads nothing that can wait before the first request', async () => {
    const record = join(folder, 'run');
    let atRequest: readonly string[] | undefined;
    const server = createServer((request, response) => {
      atRequest ??= loadedIn(record);
      request.resume().on('end', () => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const choice = (delta: object, finish: string | null): string =>
          `data: ${JSON.stringify({ id: 'a', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
        response.end(`${choice({ role: 'assistant', content: 'hello' }, null)}${choice({}, 'stop')}data: [DONE]\n\n`);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const { code, out, err } = await run(['run', 'hi'], record, { CAST_BASE_URL: `http://127.0.0.1:${port}/v1`, CAST_MODEL: 'm' });
    server.close();
    expect({ code, out: out.trim() }, err).toEqual({ code: 0, out: 'hello' });

    const files = atRequest ?? [];
    const packages = files.flatMap((file) => packagesIn(file).map((name) => ({ name, file: relative(ROOT, file) })));
    const scripts = files.filter((file) => file.endsWith('.js'));
    const kibibytes = Math.round(scripts.reduce((sum, file) => sum + statSync(file).size, 0) / 1024);
    process.stdout.write(`loaded before the first request: ${scripts.length} files, ${kibibytes} KiB\n`);
    expect(kibibytes).toBeLessThan(MAX_KIBIBYTES);
    // Seen to see: what is bundled, and what is loaded from node_modules.
    expect(packages.map(({ name }) => name)).toEqual(expect.arrayContaining(['tapable', 'openai', 'better-sqlite3']));
    expect(packages.filter(({ name }) => LATE.includes(name))).toEqual([]);
  }, 60_000);
});
