import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Desk, ENGINES, openDesk } from './desk.ts';

let desk: Desk;
beforeEach(() => {
  desk = openDesk();
});
afterEach(() => desk.remove());

describe.each(ENGINES)('with %s', (engine) => {
  test('grep answers file, line and text', async () => {
    desk.put('src/a.ts', 'hay\nneedle here\n');
    desk.put('b.txt', 'nothing\n');
    expect(await desk.run(engine, 'grep', { pattern: 'need(le|les)' })).toMatchObject({ status: 'ok', content: 'src/a.ts:2:needle here' });
  });

  test('no match is no error', async () => {
    desk.put('a.txt', 'x\n');
    expect(await desk.run(engine, 'grep', { pattern: 'zzz' })).toMatchObject({ status: 'ok', content: 'No matches found' });
    expect(await desk.run(engine, 'glob', { pattern: '*.zzz' })).toMatchObject({ status: 'ok', content: 'No files found' });
  });

  test('context shows what stands around, with a mark between the parts', async () => {
    desk.put('a.txt', '1\nhit 2\n3\n4\n5\nhit 6\n7\n');
    const { content } = await desk.run(engine, 'grep', { pattern: 'hit', context: 1 });
    expect(content).toBe('a.txt-1-1\na.txt:2:hit 2\na.txt-3-3\n--\na.txt-5-5\na.txt:6:hit 6\na.txt-7-7');
  });

  test('a quote in a pattern or path is nothing special', async () => {
    desk.put(`it's "x"; touch PWNED`, `it's\n`);
    expect((await desk.run(engine, 'grep', { pattern: `it's` })).content).toBe(`it's "x"; touch PWNED:1:it's`);
    expect((await desk.run(engine, 'glob', { pattern: `it's*` })).content).toContain(`it's "x"; touch PWNED`);
    expect(existsSync(join(desk.cwd, 'PWNED'))).toBe(false);
  });

  test.each(['a\nb', 'a\\nb', 'x\\x0a', '[\\n]'])('pattern %j can match no line, which is said', async (pattern) => {
    desk.put('a.txt', 'a\nb\n');
    expect(await desk.run(engine, 'grep', { pattern })).toMatchObject({
      status: 'error',
      error: { code: 'INVALID_ARGUMENT' },
      content: expect.stringContaining('line feed') as string,
    });
  });

  test('a backslash before an n need not be a line feed', async () => {
    desk.put('a.txt', 'C:\\new\n');
    expect((await desk.run(engine, 'grep', { pattern: 'C:\\\\new' })).content).toBe('a.txt:1:C:\\new');
    expect((await desk.run(engine, 'grep', { pattern: '\\new', literal: true })).content).toBe('a.txt:1:C:\\new');
  });

  test.each([
    ['*.ts', ['a.ts', 'src/.hidden.ts', 'src/deep/b.ts']],
    ['**/*.ts', ['a.ts', 'src/.hidden.ts', 'src/deep/b.ts']],
    ['src/*.ts', ['src/.hidden.ts']],
    ['deep/*.ts', ['src/deep/b.ts']],
    ['/deep/*.ts', []],
    ['src/**/*.{ts,{tsx,js}}', ['src/.hidden.ts', 'src/app/(shop)/[id]/p.tsx', 'src/deep/b.ts']],
    ['app/(shop)/**', ['src/app/(shop)/[id]/p.tsx']],
    ['?.ts', ['a.ts', 'src/deep/b.ts']],
    ['{open', ['{open']],
    ['src/deep/', ['src/deep/b.ts']],
    ['./a.ts', ['a.ts']],
  ])('glob %s', async (pattern, expected) => {
    for (const name of ['a.ts', 'src/.hidden.ts', 'src/deep/b.ts', 'src/app/(shop)/[id]/p.tsx', '{open']) desk.put(name, 'hit\n');
    const paths = async (tool: 'glob' | 'grep'): Promise<readonly string[]> => {
      const { content } = await (tool === 'glob' ? desk.run(engine, tool, { pattern }) : desk.run(engine, tool, { pattern: 'hit', glob: pattern }));
      return content.split('\n').filter((line) => !/^(?:\(|No )/.test(line));
    };
    expect(await paths('glob')).toEqual(expected);
    expect(await paths('grep')).toEqual(expected.map((path) => `${path}:1:hit`));
  });

  test('paths are relative to the working directory, outside of it whole', async () => {
    desk.put('sub/a.ts', 'hit\n');
    desk.put('../other/b.ts', 'hit\n');
    expect((await desk.run(engine, 'glob', { pattern: '*.ts', path: 'sub' })).content).toContain('sub/a.ts\n');
    expect((await desk.run(engine, 'grep', { pattern: 'hit', path: '../other' })).content).toBe(`${join(desk.top, 'other/b.ts')}:1:hit`);
    expect((await desk.run(engine, 'glob', { pattern: `${desk.cwd}/**/*.ts` })).content).toContain('sub/a.ts');
  });
});

test('ripgrep is the one of the package, started without a shell', async () => {
  desk.put('a.txt', 'x');
  await desk.run('auto', 'grep', { pattern: '-x', path: 'a.txt' });
  const argv = desk.started[0] ?? [];
  expect(argv[0]).toMatch(/[\\/]@vscode[\\/]ripgrep-[^\\/]+[\\/]bin[\\/]rg/);
  expect(execFileSync(argv[0] ?? '', ['--version'], { encoding: 'utf8' })).toMatch(/^ripgrep 1\d/);
  expect(argv.slice(-3)).toEqual(['--', '-x', join(desk.cwd, 'a.txt')]);
});

test('ls shows kind, size and name', async () => {
  desk.put('big.bin', 'x'.repeat(12_345));
  desk.put('a.txt', 'abc');
  desk.put('sub/b.txt');
  desk.put('.git/HEAD');
  desk.put('.gitignore', '*.log\nout/\n');
  desk.put('x.log');
  mkdirSync(join(desk.cwd, 'out'));
  symlinkSync('sub', join(desk.cwd, 'link'));
  symlinkSync('nowhere', join(desk.cwd, 'broken'));
  expect((await desk.run('auto', 'ls', {})).content).toBe(
    'f    11 .gitignore\nf     3 a.txt\nf 12345 big.bin\nf     ? broken\nd     - link/\nd     - sub/\n(2 entries that git ignores not listed)',
  );
  expect((await desk.run('auto', 'ls', { limit: 1 })).content).toBe('f 11 .gitignore\n(5 more entries)\n(2 entries that git ignores not listed)');
  expect((await desk.run('auto', 'ls', { path: 'out' })).content).toBe('out is empty.\n(out is ignored by git; it is shown because it was asked for by name.)');
  expect(desk.started).toEqual([]);
});

test('a pattern of a million characters is not told back whole', async () => {
  const result = await desk.run('walk', 'grep', { pattern: `(${'a'.repeat(1_000_000)}` });
  expect(result).toMatchObject({ status: 'error', error: { code: 'INVALID_ARGUMENT' } });
  expect(result.content.length).toBeLessThan(5_000);
});
