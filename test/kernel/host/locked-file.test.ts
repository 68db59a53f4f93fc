/** The lock of small shared files: what a dead or halted process leaves behind costs nobody a change. */
import { spawn } from 'node:child_process';
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../../kernel/host/clock.ts';
import { changeLocked } from '../../../kernel/host/locked-file.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cast-locked-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
const file = (): string => join(folder, 'shared.json');
const target = () => ({ file: file(), clock: systemClock, code: 'CONFIG_INVALID' }) as const;
const leftBehind = (lock: string): void => {
  writeFileSync(lock, '');
  utimesSync(lock, 1, 1);
};

const WRITERS = 10;
test('of many processes that find the lock of a dead one together, none loses its change', async () => {
  const program = join(folder, 'write.mjs');
  const source = (path: string): string => JSON.stringify(fileURLToPath(new URL(`../../../kernel/host/${path}`, import.meta.url)));
  const contents = `
    import { existsSync, readFileSync } from 'node:fs';
    import { changeLocked } from ${source('locked-file.ts')};
    import { systemClock } from ${source('clock.ts')};
    const [, , file, name, start] = process.argv;
    // All at the same moment.
    while (Date.now() < Number(start));
    await changeLocked({ file, clock: systemClock, code: 'CONFIG_INVALID' }, () =>
      JSON.stringify({ ...(existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}), [name]: true }));`;
  const resolveDir = fileURLToPath(new URL('../../..', import.meta.url));
  await build({ stdin: { contents, resolveDir, loader: 'ts' }, outfile: program, bundle: true, format: 'esm', platform: 'node', logLevel: 'silent' });
  for (let round = 0; round < 2; round++) {
    rmSync(file(), { force: true });
    leftBehind(`${file()}.lock`);
    const start = String(Date.now() + 1_500);
    const codes = await Promise.all(
      Array.from(
        { length: WRITERS },
        (_, name) =>
          new Promise((resolve) => {
            spawn(process.execPath, [program, file(), String(name), start], { stdio: 'inherit' }).once('close', resolve);
          }),
      ),
    );
    expect(codes).toEqual(codes.map(() => 0));
    expect(Object.keys(JSON.parse(readFileSync(file(), 'utf8')) as object)).toHaveLength(WRITERS);
    expect(readdirSync(folder).sort()).toEqual(['shared.json', 'write.mjs']);
  }
}, 60_000);

test('a process that was halted until its lock was taken from it reads again', async () => {
  writeFileSync(file(), 'old');
  let times = 0;
  await changeLocked(target(), () => {
    const before = readFileSync(file(), 'utf8');
    if (times++ === 0) {
      // Another process has taken the lock meanwhile, changed the file, and left.
      writeFileSync(`${file()}.lock`, 'of another');
      writeFileSync(file(), 'changed by another');
      setTimeout(() => rmSync(`${file()}.lock`), 50);
    }
    return `${before}, and by me`;
  });
  expect(readFileSync(file(), 'utf8')).toBe('changed by another, and by me');
  expect(readdirSync(folder)).toEqual(['shared.json']);
});

test('the lock of another is not removed', async () => {
  const failing = changeLocked(target(), () => {
    writeFileSync(`${file()}.lock`, 'of another');
    throw new Error('no text');
  });
  await expect(failing).rejects.toThrow('no text');
  expect(readFileSync(`${file()}.lock`, 'utf8')).toBe('of another');
});

test('a dead process that was removing a lock stands in nobody’s way', async () => {
  leftBehind(`${file()}.lock`);
  leftBehind(`${file()}.lock.stale`);
  await changeLocked(target(), () => 'new');
  expect(readdirSync(folder)).toEqual(['shared.json']);
});

test('a draft that is a link is not written through', async () => {
  writeFileSync(join(folder, 'precious'), 'precious');
  symlinkSync(join(folder, 'precious'), `${file()}.${process.pid}.tmp`);
  await changeLocked(target(), () => 'new');
  expect(readFileSync(join(folder, 'precious'), 'utf8')).toBe('precious');
  expect(readFileSync(file(), 'utf8')).toBe('new');
});

test('a link to a file elsewhere stays a link', async () => {
  writeFileSync(join(folder, 'elsewhere'), 'old');
  symlinkSync(join(folder, 'elsewhere'), file());
  await changeLocked(target(), () => 'new');
  expect(lstatSync(file()).isSymbolicLink()).toBe(true);
  expect(readFileSync(join(folder, 'elsewhere'), 'utf8')).toBe('new');
});

test('a folder that cannot be written is named, with what to do', async () => {
  mkdirSync(join(folder, 'taken'));
  writeFileSync(join(folder, 'taken', 'home'), '');
  const failing = changeLocked({ ...target(), file: join(folder, 'taken', 'home', 'shared.json') }, () => 'new');
  await expect(failing).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('cannot be written'), fix: expect.any(String) });
});
