import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { asNobody } from './as-nobody.ts';
import { type Desk, ENGINES, openDesk } from './desk.ts';

let desk: Desk;
beforeEach(() => {
  desk = openDesk();
});
afterEach(() => desk.remove());

describe.each(ENGINES)('with %s', (engine) => {
  test('B034: grep over a folder that holds a pipe and a link to a device skips both', { timeout: 10_000 }, async () => {
    execFileSync('mkfifo', [join(desk.cwd, 'pipe')]);
    symlinkSync('/dev/zero', join(desk.cwd, 'zero'));
    desk.put('a.txt', 'hit\n');
    expect((await desk.run(engine, 'grep', { pattern: 'hit' })).content).toBe('a.txt:1:hit');
    expect((await desk.run(engine, 'glob', { pattern: '*' })).content).toMatch(/^a\.txt\n\(/);
    for (const path of ['pipe', 'zero']) {
      expect(await desk.run(engine, 'grep', { pattern: 'hit', path })).toMatchObject({ status: 'error', error: { code: 'INVALID_ARGUMENT' } });
    }
  });

  test('B036: pattern `--pre=touch PWNED` is searched for', async () => {
    desk.put('a.txt', '--pre=touch PWNED\n-e\n');
    for (const literal of [false, true]) {
      expect((await desk.run(engine, 'grep', { pattern: '--pre=touch PWNED', literal })).content).toBe('a.txt:1:--pre=touch PWNED');
    }
    for (const path of ['.', 'a.txt']) {
      expect((await desk.run(engine, 'grep', { pattern: '--pre=touch PWNED', path })).content).toBe('a.txt:1:--pre=touch PWNED');
    }
    expect(existsSync(join(desk.cwd, 'PWNED'))).toBe(false);
  });

  test('B036: pattern `-e` is searched for', async () => {
    desk.put('a.txt', 'one\n-e\n');
    for (const literal of [false, true]) expect((await desk.run(engine, 'grep', { pattern: '-e', literal })).content).toBe('a.txt:2:-e');
  });

  test('B036: glob `-x` is looked for', async () => {
    desk.put('a.txt', 'hit\n');
    expect((await desk.run(engine, 'glob', { pattern: '-x' })).content).toBe('No files found');
    expect((await desk.run(engine, 'grep', { pattern: 'hit', glob: '-x' })).content).toBe('No matches found');
    desk.put('-x', 'hit\n');
    expect((await desk.run(engine, 'glob', { pattern: '-x' })).content).toMatch(/^-x\n/);
    expect((await desk.run(engine, 'grep', { pattern: 'hit', glob: '-x' })).content).toBe('-x:1:hit');
    desk.put('b.--pre=x', 'hit\n');
    expect((await desk.run(engine, 'grep', { pattern: 'hit', glob: '*.--pre=x' })).content).toBe('b.--pre=x:1:hit');
  });

  test('B036: path `--files` is a path', async () => {
    for (const tool of ['grep', 'glob', 'ls'] as const) {
      expect((await desk.run(engine, tool, { pattern: 'x', path: '--files' })).error?.code).toBe('NOT_FOUND');
    }
    desk.put('--files/-e', 'found\n');
    expect((await desk.run(engine, 'grep', { pattern: 'found', path: '--files' })).content).toBe('--files/-e:1:found');
    expect((await desk.run(engine, 'grep', { pattern: 'found', path: '--files/-e' })).content).toBe('--files/-e:1:found');
    expect((await desk.run(engine, 'glob', { pattern: '*', path: '--files' })).content).toMatch(/^--files\/-e\n/);
    expect((await desk.run(engine, 'ls', { path: '--files' })).content).toBe('f 6 -e');
  });

  test.each(['grep', 'glob', 'ls'] as const)('B037: %s in `nope/` is an error', async (tool) => {
    const result = await desk.run(engine, tool, { pattern: 'x', path: 'nope/' });
    expect(result).toMatchObject({ status: 'error', error: { code: 'NOT_FOUND' }, content: expect.stringContaining('nope/') as string });
  });

  test('B037: a folder of mode 000 is skipped and mentioned', async () => {
    for (const name of ['a/x.txt', 'locked/x.txt', 'z/x.txt']) desk.put(name, 'hit\n');
    desk.put('secret.txt', 'hit\n');
    for (const name of ['locked', 'secret.txt']) chmodSync(join(desk.cwd, name), 0o000);
    await asNobody(desk.top, async () => {
      expect((await desk.run(engine, 'grep', { pattern: 'hit' })).content).toBe(
        'a/x.txt:1:hit\nz/x.txt:1:hit\n(2 paths could not be read: locked, secret.txt.)',
      );
      expect((await desk.run(engine, 'grep', { pattern: 'hit', glob: '*.md' })).content).toBe('No matches found\n(1 path could not be read: locked.)');
      expect((await desk.run(engine, 'glob', { pattern: '*' })).content).toBe(
        'a/x.txt\nsecret.txt\nz/x.txt\n(So few files: read one of them rather than search on.)\n(1 path could not be read: locked.)',
      );
      expect((await desk.run(engine, 'ls', {})).content).toContain('d - locked/');
      expect((await desk.run(engine, 'ls', { path: 'locked' })).error?.code).toBe('PERMISSION_DENIED');
      expect((await desk.run(engine, 'grep', { pattern: 'hit', path: 'locked/x.txt' })).error?.code).toBe('PERMISSION_DENIED');
    });
    chmodSync(join(desk.cwd, 'locked'), 0o755);
  });

  test('B037: a name of two lines that cannot be read costs nothing else', async () => {
    for (const name of ['a.txt', 'two\nlines: x.txt']) desk.put(name, 'hit\n');
    chmodSync(join(desk.cwd, 'two\nlines: x.txt'), 0o000);
    await asNobody(desk.top, async () => {
      const { status, content } = await desk.run(engine, 'grep', { pattern: 'hit' });
      expect([status, content.split('\n')[0]]).toEqual(['ok', 'a.txt:1:hit']);
      expect(content).toContain('1 path could not be read');
    });
  });

  test('B037: a link to the folder above and two that name each other list each file once', { timeout: 10_000 }, async () => {
    desk.put('a/x.txt', 'hit\n');
    desk.put('y.txt', 'hit\n');
    symlinkSync('..', join(desk.cwd, 'a/loop'));
    symlinkSync('circle-b', join(desk.cwd, 'circle-a'));
    symlinkSync('circle-a', join(desk.cwd, 'circle-b'));
    symlinkSync('y.txt', join(desk.cwd, 'link.txt'));
    symlinkSync('nowhere', join(desk.cwd, 'broken'));
    expect((await desk.run(engine, 'grep', { pattern: 'hit' })).content).toBe('a/x.txt:1:hit\ny.txt:1:hit');
    expect((await desk.run(engine, 'glob', { pattern: '*' })).content).toMatch(/^a\/x\.txt\ny\.txt\n\(/);
    expect((await desk.run(engine, 'ls', {})).content).toBe('d - a/\nf ? broken\nf ? circle-a\nf ? circle-b\nf 4 link.txt\nf 4 y.txt');
    expect((await desk.run(engine, 'ls', { path: 'a' })).content).toBe('d - loop/\nf 4 x.txt');
  });

  test('links are not followed below the place, but the place may be one', async () => {
    desk.put('../secret/s.txt', 'hit\n');
    symlinkSync(join(desk.top, 'secret'), join(desk.cwd, 'link'));
    desk.put('a.txt', 'hit\n');
    symlinkSync('.', join(desk.cwd, 'loop'));
    expect((await desk.run(engine, 'grep', { pattern: 'hit' })).content).toBe('a.txt:1:hit');
    expect((await desk.run(engine, 'grep', { pattern: 'hit', path: 'link' })).content).toBe(`${join(desk.top, 'secret/s.txt')}:1:hit`);
  });

  test('a link to a file that is named is searched', async () => {
    desk.put('a.txt', 'hit\n');
    symlinkSync('a.txt', join(desk.cwd, 'link.txt'));
    expect((await desk.run(engine, 'grep', { pattern: 'hit', path: 'link.txt' })).content).toBe('a.txt:1:hit');
  });

  test.each([
    ['ls', { path: 'a.txt' }, 'INVALID_ARGUMENT'],
    ['glob', { pattern: 'x', path: 'a.txt' }, 'INVALID_ARGUMENT'],
    ['grep', { pattern: 'x', path: ' ' }, 'INVALID_ARGUMENT'],
    ['glob', { pattern: 'x', path: '' }, 'INVALID_ARGUMENT'],
    ['ls', { path: '\t' }, 'INVALID_ARGUMENT'],
    ['grep', { pattern: 'x', path: 'circle' }, 'NOT_FOUND'],
  ] as const)('%s %o is an error', async (tool, input, code) => {
    desk.put('a.txt', 'x');
    symlinkSync('circle', join(desk.cwd, 'circle'));
    expect(await desk.run(engine, tool, input)).toMatchObject({ status: 'error', error: { code } });
  });
});
