/** A store that is damaged, or cannot be written: as whole processes. */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, readdirSync, renameSync, rmSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { call, say, type TestProvider } from '../provider.ts';
import { useCommand } from './command.ts';
import { linesOf, start, streamFaults, type Place } from './program.ts';

const { program, provide, project } = useCommand();
const cast = (place: Place, ...args: readonly string[]) => start(args, { program: program(), place }).done;
const storeOf = (place: Place): string => join(place.castHome, 'sessions', 'sessions.db');
const setAside = (place: Place): readonly string[] => readdirSync(join(place.castHome, 'sessions')).filter((name) => name.includes('corrupt'));

/** Sessions with so much in them that the file has many pages. */
const filled = async (place: Place): Promise<string> => {
  const provider = await provide(say('an answer '.repeat(2_000)));
  for (const prompt of ['one', 'two', 'three']) await start(['run', `prompt ${prompt} ${'words '.repeat(500)}`], { program: program(), place, provider }).done;
  const [newest] = JSON.parse((await cast(place, 'sessions', 'list', '--json')).stdout) as { id: string }[];
  return newest?.id ?? '';
};
const overwrite = (file: string): void => {
  const handle = openSync(file, 'r+');
  writeSync(handle, Buffer.alloc(4_096, 0x5a), 0, 4_096, Math.floor(statSync(file).size / 2 / 4_096) * 4_096);
  closeSync(handle);
};

describe('B046: a store that is damaged', () => {
  test.each<[string, (place: Place) => void]>([
    ['4 KB in the middle are overwritten', (place) => overwrite(storeOf(place))],
    ['it is cut to 100 bytes', (place) => truncateSync(storeOf(place), 100)],
    ['its log is left without it', (place) => renameSync(storeOf(place), `${storeOf(place)}-wal`)],
  ])('B046: %s: it is set aside, its place is told, and new sessions work', async (_, damage) => {
    const place = project();
    await filled(place);
    const before = statSync(storeOf(place)).size;
    damage(place);
    const run = await start(['run', '--format', 'json', 'after the damage'], { program: program(), place, provider: await provide(say('works')) }).done;
    expect([run.code, run.stderr]).toEqual([0, expect.stringMatching(/sessions\.db[^ ]*corrupt/)]);
    expect(run.stderr).not.toMatch(/\n\s+at /);
    expect(setAside(place)).not.toEqual([]);
    expect(before).toBeGreaterThan(20_000);
    const [newest] = JSON.parse((await cast(place, 'sessions', 'list', '--json')).stdout) as { title: string }[];
    expect(newest?.title).toBe('after the damage');
  });

  test('B046: of a store with one bad page the other sessions are saved', async () => {
    const place = project();
    await filled(place);
    overwrite(storeOf(place));
    const titles = (JSON.parse((await cast(place, 'sessions', 'list', '--json')).stdout) as { title: string }[]).map(({ title }) => title.slice(0, 12));
    expect(titles.filter((title) => title.startsWith('prompt ')).length).toBeGreaterThanOrEqual(2);
  });

  test('B046: one message row is no JSON: nothing is set aside, the session goes on without it', async () => {
    const place = project();
    const id = await filled(place);
    const db = new BetterSqlite3(storeOf(place));
    db.pragma('writable_schema = ON');
    for (const { name } of db.prepare("SELECT name FROM sqlite_master WHERE type = 'trigger'").all() as { name: string }[]) db.exec(`DROP TRIGGER "${name}"`);
    db.prepare(
      "UPDATE entries SET data_json = '{\"role' WHERE session_id = ? AND kind = 'message' AND seq = (SELECT min(seq) FROM entries WHERE session_id = ? AND kind = 'message')",
    ).run(id, id);
    db.close();
    const provider = await provide(say('works'));
    const run = await start(['run', '-c', 'go on'], { program: program(), place, provider }).done;
    expect(run.code, run.stderr).toBe(0);
    expect(run.stderr).toMatch(/1 entries? of session .* cannot be read/);
    expect(setAside(place)).toEqual([]);
    expect(provider.prompts()).toContain('go on');
  });
});

// A mount of one's own: as nobody else sees it, it goes with the process.
const canMount = process.platform === 'linux' && spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', '/tmp']).status === 0;
const mounted = (place: Place, options: string, provider: TestProvider, args: readonly string[]) => {
  const script = 'mount -t tmpfs -o "$1" tmpfs "$2" && shift 2 && exec "$@"';
  mkdirSync(place.castHome, { recursive: true });
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: place.home,
    CAST_HOME: place.castHome,
    CAST_BASE_URL: provider.url,
    CAST_API_KEY: 'k',
    CAST_MODEL: 'test-model',
  };
  const child = spawn('unshare', ['-rm', 'sh', '-c', script, 'sh', options, place.castHome, process.execPath, program(), ...args], {
    cwd: place.cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  return new Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>((resolve) =>
    child.on('close', (code) => resolve({ code, stdout, stderr })),
  );
};

describe('B049: nothing can be kept', () => {
  test.skipIf(!canMount)('B049: a home that may only be read: refused before anything is done, in one line, and --no-session runs', async () => {
    const place = project();
    const provider = await provide(say('an answer'));
    const refused = await mounted(place, 'ro,size=1m', provider, ['run', '--format', 'json', 'go']);
    expect([refused.code, provider.requests.length]).toEqual([1, 0]);
    expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: 'STORE_UNAVAILABLE' } });
    expect(refused.stderr).not.toMatch(/\n\s+at /);
    const unkept = await mounted(place, 'ro,size=1m', provider, ['run', '--no-session', 'go']);
    expect([unkept.code, unkept.stdout.trim()]).toEqual([0, 'an answer']);
  });

  test.skipIf(!canMount)('B049: the disk fills up in a long run: it ends with a clear word, and no trace of a stack', async () => {
    const place = project({ 'a.txt': `${'x'.repeat(200_000)}\n` });
    const provider = await provide(...Array.from({ length: 30 }, (_, number) => call('bash', { command: `echo ${number}; cat a.txt` })), say('the end'));
    const run = await mounted(place, 'size=1m', provider, ['run', '--format', 'stream-json', 'go']);
    expect(run.code).toBe(1);
    expect(streamFaults({ ...run, signal: null, ms: 0 })).toEqual([]);
    expect(linesOf({ ...run, signal: null, ms: 0 }).find(({ type }) => type === 'error')).toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringMatching(/disk|full|space/i),
    });
    expect(run.stderr).not.toMatch(/\n\s+at /);
  });

  test('B049: the data folder is removed while it runs: it says that this is not kept, or ends with a clear word', async () => {
    const place = project();
    const provider = await provide(call('bash', { command: `rm -rf '${place.castHome}'` }), say('the end'));
    const run = await start(['run', '--allow', 'bash', '--format', 'stream-json', 'go'], { program: program(), place, provider }).done;
    expect(streamFaults(run)).toEqual([]);
    const told = linesOf(run).filter(({ type }) => type === 'warning' || type === 'error');
    expect(told.map((line) => `${String(line['code'])} ${String(line['message'] ?? line['text'])}`).join('\n')).toMatch(/STORE_/);
    expect(run.stderr).not.toMatch(/\n\s+at /);
    rmSync(place.castHome, { recursive: true, force: true });
    const again = await start(['run', 'go'], { program: program(), place, provider: await provide(say('works')) }).done;
    expect([again.code, again.stdout.trim()]).toEqual([0, 'works']);
  });

  test('B049: a file stands where the home should be', async () => {
    const place = project();
    writeFileSync(place.castHome, 'a file');
    const provider = await provide(say('no'));
    const run = await start(['run', 'go'], { program: program(), place, provider }).done;
    expect([run.code, provider.requests.length, run.stderr]).toEqual([1, 0, expect.stringContaining(place.castHome)]);
    expect(run.stderr).not.toMatch(/\n\s+at /);
    expect(readFileSync(place.castHome, 'utf8')).toBe('a file');
  });
});
