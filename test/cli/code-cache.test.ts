/** What V8 compiled of the built files is kept, and a cache that cannot be used, or trusted, costs nothing but time. */
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { Script } from 'node:vm';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { say, startProvider } from '../provider.ts';
import { DIST } from '../architecture/sources.ts';
import { createPlace, start, type Outcome, type Place } from './program.ts';

const CLI = join(DIST, 'cli.js');
const HAS_BUILT_IN = 'enableCompileCache' in (await import('node:module')).default;

let place: Place;
beforeEach(() => {
  place = createPlace({ '~/settings.json': '{}' });
});
afterEach(() => place.remove());

const cast = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Outcome> => start(args, { program: CLI, place, env }).done;
const folder = (): string => join(place.castHome, 'cache', 'code');
const kept = (): readonly string[] => (existsSync(folder()) ? readdirSync(folder()).map((name) => join(folder(), name)) : []);
const only = (): string => {
  expect(kept()).toHaveLength(1);
  return kept()[0] ?? '';
};
const LIST = ['plugins', 'list', '--json'];
const sourcesIn = ({ stdout }: Outcome): readonly string[] => [...stdout.matchAll(/"source": ?"([^"]+:\d+)"/g)].map(([, source]) => source ?? '');

describe.skipIf(!existsSync(CLI) || HAS_BUILT_IN)('the code cache of the built command (npm run build comes first)', () => {
  test('is written once, for its owner alone, and read from then on', async () => {
    expect((await cast(LIST)).code).toBe(0);
    const file = only();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(folder()).mode & 0o777).toBe(0o700);
    const before = statSync(file);
    expect((await cast(LIST)).code).toBe(0);
    expect(statSync(only())).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });

    plant(file);
    expect((await cast(['trust', '--help'])).stdout).toContain('from the cache');
  });

  test('grows with what is used, and keeps what was there', async () => {
    await cast(LIST);
    const names = namesIn(only());
    await cast(['trust', '--list']);
    expect(namesIn(only())).toEqual(expect.arrayContaining([...names, expect.stringMatching(/^cli-trust-/)]));
  });

  test('leaves lines and columns as they are', async () => {
    const [plain, cold, warm] = [await cast(LIST, { CAST_CODE_CACHE: 'off' }), await cast(LIST), await cast(LIST)];
    expect(sourcesIn(plain)).toEqual(expect.arrayContaining([expect.stringMatching(/^plugins\/usage\/index\.ts:\d+$/)]));
    expect([sourcesIn(cold), sourcesIn(warm)]).toEqual([sourcesIn(plain), sourcesIn(plain)]);
  });

  test('lets chunks load packages of ES modules', async () => {
    for (let count = 0; count < 2; count += 1) expect((await cast(['doctor'])).stdout).toMatch(/ripgrep\s.*\d+\.\d+/);
  });

  const damages: readonly (readonly [string, (bytes: Buffer) => Buffer])[] = [
    ['with a byte that is another', (bytes) => (bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1), bytes)],
    ['cut short', (bytes) => bytes.subarray(0, bytes.length >> 1)],
    ['empty', (bytes) => bytes.subarray(0, 0)],
    ['that V8 refuses', (bytes) => sealed(new Map([...entriesOf(bytes).keys()].map((name) => [name, Buffer.from('no code')])))],
    ['of something else', () => sealed(new Map([['x', Buffer.from('y')]]))],
  ];
  test.each(damages)('%s is written anew', async (_, damage) => {
    await cast(LIST);
    const good = readFileSync(only());
    writeFileSync(only(), damage(Buffer.from(good)));
    const outcome = await cast(LIST);
    expect([outcome.code, outcome.stderr]).toEqual([0, '']);
    const written = readFileSync(only());
    expect(written).toEqual(sealed(entriesOf(written)));
    expect([...entriesOf(written).keys()].sort()).toEqual([...entriesOf(good).keys()].sort());
  });

  test('is not read from a folder that others can write to', async () => {
    await cast(['trust', '--help']);
    plant(only());
    chmodSync(folder(), 0o777);
    expect((await cast(['trust', '--help'])).stdout).not.toContain('from the cache');
    chmodSync(folder(), 0o700);
    expect((await cast(['trust', '--help'])).stdout).toContain('from the cache');
  });

  test('is not kept behind a link, nor where no folder can be', async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'cast-elsewhere-'));
    mkdirSync(join(place.castHome, 'cache'));
    symlinkSync(elsewhere, folder());
    expect((await cast(LIST)).code).toBe(0);
    expect(readdirSync(elsewhere)).toEqual([]);
    rmSync(elsewhere, { recursive: true });
    rmSync(folder());
    writeFileSync(folder(), '');
    expect(await cast(LIST)).toMatchObject({ code: 0, stderr: '' });
  });

  test('keeps few files: those of other versions go, the oldest first', async () => {
    mkdirSync(folder(), { recursive: true, mode: 0o700 });
    for (let count = 0; count < 12; count += 1) writeFileSync(join(folder(), `v18.0.${count}-x64-1-1.bin`), '');
    await cast(LIST);
    expect(kept()).toHaveLength(6);
    expect(kept()).toContainEqual(expect.stringContaining(process.version));
  });

  test('is switched off by CAST_CODE_CACHE=off', async () => {
    expect((await cast(LIST, { CAST_CODE_CACHE: 'off' })).code).toBe(0);
    expect(kept()).toEqual([]);
  });

  test('makes no home: neither the version nor the help is a reason to', async () => {
    rmSync(place.castHome, { recursive: true });
    expect((await cast(['--version'])).code).toBe(0);
    expect((await cast(['--help'])).code).toBe(0);
    expect(existsSync(place.castHome)).toBe(false);
    // A run makes one.
    const provider = await startProvider(say('done'));
    expect((await start(['run', 'go'], { program: CLI, place, provider }).done).code).toBe(0);
    await provider.close();
    expect(kept()).toHaveLength(1);
  });
});

const DIGEST = 20;
const entriesOf = (bytes: Buffer): Map<string, Uint8Array> => deserialize(bytes.subarray(DIGEST)) as Map<string, Uint8Array>;
const sealed = (entries: Map<string, Uint8Array>): Buffer => {
  const body = serialize(entries);
  return Buffer.concat([createHash('sha1').update(body).digest(), body]);
};
const namesIn = (file: string): readonly string[] => [...entriesOf(readFileSync(file)).keys()];

/** Replaces what was compiled of the first chunk by something else of the same length, which is all that V8 looks at. */
const plant = (file: string): void => {
  const entries = entriesOf(readFileSync(file));
  const name = [...entries.keys()].find((each) => each.startsWith('cli-main-')) ?? '';
  const length =
    '(function (exports, require, module, __filename, __dirname) { '.length + readFileSync(join(DIST, 'chunks', name), 'utf8').length + '\n})'.length;
  // Whichever way `main` is taken from it. No function of its own may be left: V8 would compile that one from the true source.
  const code = `(function (exports, require, module) {
    if (module) process.stdout.write('from the cache');
    exports.main = isNaN.bind(null, 0);
    exports.main.main = exports.main;
  })`.padEnd(length);
  const script = new Script(code);
  (script.runInThisContext() as (exports: object) => void)({});
  writeFileSync(file, sealed(new Map([...entries, [name, script.createCachedData()]])));
};
