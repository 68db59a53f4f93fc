/** A pipe in the place of a file of rules, for which ripgrep would wait for ever, holds up nobody. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Desk, ENGINES, openDesk } from './desk.ts';

let desk: Desk;
beforeEach(() => {
  desk = openDesk();
  desk.put('a.txt', 'hit\n');
  desk.put('deep/b.txt', 'hit\n');
  desk.put('deep/er/c.txt', 'hit\n');
  desk.put('deep/er/c.log', 'hit\n');
  desk.put('deep/er/.gitignore', '*.log\n');
});
afterEach(() => desk.remove());

const pipe = (name: string): void => {
  const path = join(desk.cwd, name);
  rmSync(path, { recursive: true, force: true });
  mkdirSync(dirname(path), { recursive: true });
  execFileSync('mkfifo', [path]);
};
const FOUND = 'a.txt:1:hit\ndeep/b.txt:1:hit\ndeep/er/c.txt:1:hit';

describe.each(ENGINES)('with %s', (engine) => {
  const finds = async (): Promise<void> => {
    expect(await desk.run(engine, 'grep', { pattern: 'hit' })).toMatchObject({ status: 'ok', content: FOUND });
    expect((await desk.run(engine, 'glob', { pattern: '*.{txt,log}' })).content).toMatch(/^a\.txt\ndeep\/b\.txt\ndeep\/er\/c\.txt\n\(So few/);
  };

  test.each(['.gitignore', '.ignore', '.rgignore', '.git/info/exclude', '../.gitignore', '../home/.gitconfig', '../home/.config/git/ignore'])(
    'a pipe %s at the top or above it',
    async (name) => {
      pipe(name);
      await finds();
    },
  );

  test.each(['deep/.gitignore', 'deep/.ignore', 'deep/.rgignore', 'deep/er/.git/info/exclude', 'deep/er/.git'])(
    'a pipe %s below it',
    { timeout: 20_000 },
    async (name) => {
      pipe(name);
      await finds();
    },
  );

  test('a folder, a socket and a link to a device in its place', { timeout: 20_000 }, async () => {
    mkdirSync(join(desk.cwd, 'one/.gitignore'), { recursive: true });
    mkdirSync(join(desk.cwd, 'two'));
    const server = createServer().listen(join(desk.cwd, 'two/.gitignore'));
    mkdirSync(join(desk.cwd, 'three'));
    symlinkSync('/dev/null', join(desk.cwd, 'three/.gitignore'));
    await finds();
    await new Promise((resolve) => void server.close(resolve));
  });

  test('a pipe in what is left out is none of them', async () => {
    for (const name of ['node_modules/x/.gitignore', 'out/.gitignore']) pipe(name);
    desk.put('.gitignore', 'out/\n');
    await finds();
    expect(desk.started).toHaveLength(engine === 'ripgrep' ? 2 : 0);
  });
});

test('an abort while ripgrep waits is an abort', { timeout: 20_000 }, async () => {
  pipe('deep/.gitignore');
  const aborter = new AbortController();
  setTimeout(() => aborter.abort(), 300);
  expect(await desk.run('auto', 'grep', { pattern: 'hit' }, { signal: aborter.signal })).toEqual({ status: 'aborted', content: '[aborted]' });
});
