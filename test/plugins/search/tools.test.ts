import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CastError } from '../../../kernel/index.ts';
import { type Desk, type Engine, openDesk } from './desk.ts';

let desk: Desk;
beforeEach(() => {
  desk = openDesk();
});
afterEach(() => desk.remove());

const ENGINES = ['ripgrep', 'walk'] as const satisfies readonly Engine[];

describe.each(ENGINES)('with %s', (engine) => {
  test('grep answers file, line and text', async () => {
    desk.put('src/a.ts', 'hay\nneedle here\n');
    desk.put('b.txt', 'nothing\n');
    expect(await desk.run(engine, 'grep', { pattern: 'need(le|les)' })).toEqual({ status: 'ok', content: 'src/a.ts:2:needle here' });
  });

  test('no match is no error', async () => {
    desk.put('a.txt', 'x\n');
    expect(await desk.run(engine, 'grep', { pattern: 'zzz' })).toEqual({ status: 'ok', content: 'No matches found' });
    expect(await desk.run(engine, 'glob', { pattern: '*.zzz' })).toEqual({ status: 'ok', content: 'No files found' });
  });

  test('context shows what stands around, with a mark between the parts', async () => {
    desk.put('a.txt', '1\nhit 2\n3\n4\n5\nhit 6\n7\n');
    const { content } = await desk.run(engine, 'grep', { pattern: 'hit', context: 1 });
    expect(content).toBe('a.txt-1-1\na.txt:2:hit 2\na.txt-3-3\n--\na.txt-5-5\na.txt:6:hit 6\na.txt-7-7');
  });

  test('a pattern that looks like an option stays a pattern', async () => {
    desk.put('a.txt', '--pre=touch PWNED\n-e\n');
    expect((await desk.run(engine, 'grep', { pattern: '--pre=touch PWNED' })).content).toBe('a.txt:1:--pre=touch PWNED');
    expect((await desk.run(engine, 'grep', { pattern: '-e', literal: true })).content).toContain('a.txt:2:-e');
    expect((await desk.run(engine, 'glob', { pattern: '-x' })).content).toBe('No files found');
    expect((await desk.run(engine, 'grep', { pattern: 'x', path: '--files' })).error?.code).toBe('NOT_FOUND');
    desk.put('--files', 'found\n');
    expect((await desk.run(engine, 'grep', { pattern: 'found', path: '--files' })).content).toBe('--files:1:found');
    expect(existsSync(join(desk.cwd, 'PWNED'))).toBe(false);
  });

  test('a quote in a pattern or path is nothing special', async () => {
    desk.put(`it's "x"; touch PWNED`, `it's\n`);
    expect((await desk.run(engine, 'grep', { pattern: `it's` })).content).toBe(`it's "x"; touch PWNED:1:it's`);
    expect((await desk.run(engine, 'glob', { pattern: `it's*` })).content).toContain(`it's "x"; touch PWNED`);
    expect(existsSync(join(desk.cwd, 'PWNED'))).toBe(false);
  });

  test.each([
    ['grep', { pattern: 'x', path: 'nope' }, 'NOT_FOUND'],
    ['glob', { pattern: 'x', path: 'nope' }, 'NOT_FOUND'],
    ['ls', { path: 'nope' }, 'NOT_FOUND'],
    ['ls', { path: 'a.txt' }, 'INVALID_ARGUMENT'],
    ['glob', { pattern: 'x', path: 'a.txt' }, 'INVALID_ARGUMENT'],
    ['grep', { pattern: 'x', path: ' ' }, 'INVALID_ARGUMENT'],
    ['grep', { pattern: 'x', path: 'pipe' }, 'INVALID_ARGUMENT'],
    ['grep', { pattern: 'x', path: 'circle' }, 'NOT_FOUND'],
    ['grep', { pattern: 'a\nb' }, 'INVALID_ARGUMENT'],
    ['grep', { pattern: 'a\\nb' }, 'INVALID_ARGUMENT'],
    ['grep', { pattern: '(open' }, 'INVALID_ARGUMENT'],
  ] as const)('%s %o is an error', async (tool, input, code) => {
    desk.put('a.txt', 'x');
    execFileSync('mkfifo', [join(desk.cwd, 'pipe')]);
    symlinkSync('circle', join(desk.cwd, 'circle'));
    const result = await desk.run(engine, tool, input);
    expect(result).toMatchObject({ status: 'error', error: { code } });
  });

  test('a backslash before an n need not be a line feed', async () => {
    desk.put('a.txt', 'C:\\new\n');
    expect((await desk.run(engine, 'grep', { pattern: 'C:\\\\new' })).content).toBe('a.txt:1:C:\\new');
    expect((await desk.run(engine, 'grep', { pattern: '\\new', literal: true })).content).toBe('a.txt:1:C:\\new');
  });

  test('a folder that cannot be read is skipped and named', async () => {
    desk.put('locked/x.txt', 'hit\n');
    desk.put('open/y.txt', 'hit\n');
    chmodSync(join(desk.cwd, 'locked'), 0o000);
    chmodSync(desk.top, 0o755);
    const isRoot = process.getuid?.() === 0;
    if (isRoot) process.seteuid?.(65534);
    try {
      expect((await desk.run(engine, 'grep', { pattern: 'hit' })).content).toBe('open/y.txt:1:hit\n(1 path could not be read: locked.)');
      expect((await desk.run(engine, 'glob', { pattern: '*' })).content).toContain('(1 path could not be read: locked.)');
      expect((await desk.run(engine, 'ls', { path: 'locked' })).error?.code).toBe('PERMISSION_DENIED');
    } finally {
      if (isRoot) process.seteuid?.(0);
      chmodSync(join(desk.cwd, 'locked'), 0o755);
    }
  });

  test('over 2000 lines the first are shown, with the total', async () => {
    for (let index = 100; index < 130; index++) desk.put(`f${index}.txt`, 'hit\n'.repeat(100));
    const { content } = await desk.run(engine, 'grep', { pattern: 'hit' });
    const lines = content.split('\n');
    expect(lines.filter((line) => line.endsWith(':hit'))).toHaveLength(2000);
    expect(lines[1999]).toBe('f119.txt:100:hit');
    expect(content).toContain('(First 2000 of 3000 lines.');
  });

  test('far more lines are not counted to the end', async () => {
    for (let index = 100; index < 150; index++) desk.put(`f${index}.txt`, 'hit\n'.repeat(200));
    const { content } = await desk.run(engine, 'grep', { pattern: 'hit', limit: 200 });
    expect(content).toContain('(First 2000 of more than 8000 lines.');
    expect(content.split('\n')[1999]).toBe('f109.txt:200:hit');
  });

  test('128 KiB at most', async () => {
    desk.put('a.txt', `hit ${'x'.repeat(450)}\n`.repeat(1000));
    const { content } = await desk.run(engine, 'grep', { pattern: 'hit', limit: 1000 });
    expect(Buffer.byteLength(content)).toBeLessThan(131_072 + 500);
    expect(content).toMatch(/\(First \d+ of 1000 lines\./);
  });

  test('a long line is shown around its match', async () => {
    desk.put('a.txt', `${'ä'.repeat(5000)}needle${'z'.repeat(5000)}\n`);
    const { content } = await desk.run(engine, 'grep', { pattern: 'needle' });
    expect(content).toBe(`a.txt:1:…${'ä'.repeat(100)}needle${'z'.repeat(394)}… (10006 characters)`);
  });

  test('an abort is no result, and no second try', async () => {
    desk.put('a.txt', 'hit\n');
    for (const kind of [engine, 'auto'] as const) {
      const result = await desk.run(kind, 'grep', { pattern: 'hit' }, { signal: AbortSignal.abort() });
      expect(result).toEqual({ status: 'aborted', content: '[aborted]' });
    }
  });

  test('glob lists so many, with the total', async () => {
    for (const name of ['c.ts', 'a.ts', 'b/x.ts', 'd.js']) desk.put(name);
    expect((await desk.run(engine, 'glob', { pattern: '*.ts', limit: 2 })).content).toBe(
      'a.ts\nb/x.ts\n(First 2 of 3 files. Narrow the pattern to see the rest.)',
    );
    expect((await desk.run(engine, 'glob', { pattern: '*.js' })).content).toBe('d.js\n(So few files: read one of them rather than search on.)');
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

  test('an ignored place that is named is searched, and said to be', async () => {
    desk.put('.gitignore', 'out/\n*.log\n');
    desk.put('out/deep/a.log', 'hit\n');
    const note = 'is ignored by git; it is shown because it was asked for by name.)';
    expect((await desk.run(engine, 'grep', { pattern: 'hit' })).content).toBe('No matches found');
    expect((await desk.run(engine, 'grep', { pattern: 'hit', path: 'out' })).content).toBe(`out/deep/a.log:1:hit\n(out ${note}`);
    expect((await desk.run(engine, 'grep', { pattern: 'hit', path: 'out/deep' })).content).toContain('out/deep/a.log:1:hit');
    expect((await desk.run(engine, 'grep', { pattern: 'hit', path: 'out/deep/a.log' })).content).toContain(`(out/deep/a.log ${note}`);
    expect((await desk.run(engine, 'glob', { pattern: '*', path: 'out' })).content).toContain('out/deep/a.log');
    expect((await desk.run(engine, 'ls', { path: 'out' })).content).toBe(`d - deep/\n(out ${note}`);
  });

  test('links are not followed below the place, but the place may be one', async () => {
    desk.put('../secret/s.txt', 'hit\n');
    symlinkSync(join(desk.top, 'secret'), join(desk.cwd, 'link'));
    desk.put('a.txt', 'hit\n');
    symlinkSync('.', join(desk.cwd, 'loop'));
    expect((await desk.run(engine, 'grep', { pattern: 'hit' })).content).toBe('a.txt:1:hit');
    expect((await desk.run(engine, 'grep', { pattern: 'hit', path: 'link' })).content).toBe(`${join(desk.top, 'secret/s.txt')}:1:hit`);
  });
});

test('a pattern that backtracks for ever is stopped', async () => {
  desk.put('a.txt', `${'a'.repeat(60)}b\n`);
  const started = performance.now();
  expect(await desk.run('walk', 'grep', { pattern: '^(a+)+$' })).toMatchObject({ status: 'error', error: { code: 'TIMEOUT' } });
  expect(performance.now() - started).toBeLessThan(6000);
  expect((await desk.run('ripgrep', 'grep', { pattern: '^(a+)+$' })).content).toBe('No matches found');
});

test('files over 5 MiB are left out without ripgrep, and said to be', async () => {
  desk.put('big.txt', `hit\n${'x'.repeat(1023)}\n`.repeat(6000));
  expect((await desk.run('walk', 'grep', { pattern: 'hit' })).content).toBe('No matches found\n(1 file over 5 MiB left out.)');
  expect((await desk.run('ripgrep', 'grep', { pattern: 'hit', limit: 1 })).content).toContain('big.txt:1:hit');
});

test('ripgrep is the one of the package, started without a shell', async () => {
  desk.put('a.txt', 'x');
  await desk.run('auto', 'grep', { pattern: '-x', path: 'a.txt' });
  const argv = desk.started[0] ?? [];
  expect(argv[0]).toMatch(/[\\/]@vscode[\\/]ripgrep-[^\\/]+[\\/]bin[\\/]rg/);
  expect(execFileSync(argv[0] ?? '', ['--version'], { encoding: 'utf8' })).toMatch(/^ripgrep 1\d/);
  expect(argv.slice(-3)).toEqual(['--', '-x', join(desk.cwd, 'a.txt')]);
});

describe('where ripgrep cannot be started', () => {
  let broken: Desk;
  beforeEach(() => {
    broken = openDesk(() => Promise.reject(new CastError('INTERNAL', 'spawn rg ENOENT')));
    broken.put('a.txt', 'hit\n');
  });
  afterEach(() => broken.remove());
  test('auto goes on without it', async () => {
    expect((await broken.run('auto', 'grep', { pattern: 'hit' })).content).toBe('a.txt:1:hit');
    expect((await broken.run('auto', 'glob', { pattern: '*' })).content).toContain('a.txt');
    expect(broken.started).toHaveLength(2);
  });
  test('ripgrep is an error', async () => {
    expect(await broken.run('ripgrep', 'grep', { pattern: 'hit' })).toMatchObject({ status: 'error', error: { code: 'UNAVAILABLE' } });
  });
  test('an abort while it starts does not lead to the other engine', async () => {
    const aborter = new AbortController();
    const slow = openDesk(() => {
      aborter.abort();
      return Promise.reject(new CastError('INTERNAL', 'aborted'));
    });
    slow.put('a.txt', 'hit\n');
    expect((await slow.run('auto', 'grep', { pattern: 'hit' }, { signal: aborter.signal })).status).toBe('aborted');
    slow.remove();
  });
});

test('a search that takes too long is an error that can be tried again', async () => {
  async function* none(): AsyncGenerator<never> {}
  const slow = openDesk(async () => ({
    pid: 1,
    output: none(),
    exit: Promise.resolve({ code: null, signal: 'SIGKILL', timedOut: true }),
    kill: async () => {},
    alive: () => false,
  }));
  expect(await slow.run('auto', 'grep', { pattern: 'x' })).toMatchObject({ status: 'error', error: { code: 'TIMEOUT', retryable: true } });
  slow.remove();
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
