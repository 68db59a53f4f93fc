import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ToolInputs } from '../../../kernel/index.ts';
import { asNobody } from './as-nobody.ts';
import { type Desk, openDesk } from './desk.ts';

/** Bytes that ripgrep reads at once: what is binary must not depend on where such a piece ends. */
const PIECE = 65_536;
const filler = (size: number): string => `${'.'.repeat(79)}\n`.repeat(Math.ceil(size / 80)).slice(0, size);

let desk: Desk;
beforeAll(() => {
  desk = openDesk();
  const files: Readonly<Record<string, string | Buffer>> = {
    '.gitignore': '\ufeff# comment\r\nbuild/\r\n!build/keep.txt\r\n*.log\r\n!keep.log\r\nwith\\ space.txt\r\n/anchored.txt\r\ndeep/**/cache.txt\r\n',
    '.hidden.ts': 'hit hidden\n',
    'a.ts': 'hit one\nmiss\nhit two\nmiss\nmiss\nmiss\nhit three\n',
    'a-b.ts': 'hit in a-b\n',
    'a/b.ts': 'hit in a/b\n',
    'a/nested/.gitignore': 'local.txt\n!out.log\n*.tmp\n',
    'a/nested/local.txt': 'hit ignored\n',
    'a/nested/out.log': 'hit brought back\n',
    'a/nested/x.tmp': 'hit ignored\n',
    'a/anchored.txt': 'hit not at the root\n',
    'anchored.txt': 'hit ignored\n',
    'with space.txt': 'hit ignored\n',
    'build/keep.txt': 'hit ignored\n',
    'build/sub/x.ts': 'hit ignored\n',
    'debug.log': 'hit ignored\n',
    'keep.log': 'hit kept\n',
    'UPPER.LOG': 'hit kept, too\n',
    'deep/x/cache.txt': 'hit ignored\n',
    'deep/x/other.txt': 'hit deep\n',
    'excluded.txt': 'hit ignored by info/exclude\n',
    'personal.swp': 'hit ignored by the user\n',
    'node_modules/m/index.js': 'hit module\n',
    'sub/.git/HEAD': 'ref: refs/heads/main\n',
    'sub/own.log': 'hit in another repository\n',
    'crlf.txt': 'hit end\r\nmiss\r\nhit end\r\n',
    'bom.txt': '\ufeffhit behind a mark\n',
    'latin.txt': Buffer.from('hit gr\xfcn\n', 'latin1'),
    'wide.txt': Buffer.from('\ufeffhit wide\r\n', 'utf16le'),
    'wide-be.txt': Buffer.from('\ufeffhit wide\n', 'utf16le').swap16(),
    'binary.dat': Buffer.from('hit\0binary\n'),
    'binary/before.bin': Buffer.from('\0\nhit binary\n'),
    'binary/behind.bin': Buffer.from(`hit binary\n${'miss\n'.repeat(100)}\0`),
    'binary/far-behind.bin': Buffer.from(`hit binary\n${filler(3 * PIECE)}\0\n`),
    'binary/behind-the-limit.bin': Buffer.from(`${'hit binary\n'.repeat(200)}${filler(5 * PIECE)}hit\n\0\n`),
    'binary/wide.bin': Buffer.from('\ufeffhit binary\0\n', 'utf16le'),
    'text/no-nul.txt': Buffer.from('hit \x01\x02\x7f\x1b[31m \xff\xfe\n', 'latin1'),
    'text/large.txt': `${filler(4 * PIECE - 3)}hit across\nmiss\nhit\n${filler(6 * PIECE)}last hit`,
    'text/large-crlf.txt': `${`miss\r\n`.repeat(50_000)}hit\r\n${`miss\r\n`.repeat(50_000)}`,
    'text/large-wide.txt': Buffer.from(`\ufeff${'größe\n'.repeat(60_000)}hit wide\n`, 'utf16le'),
    'text/cut-wide.txt': Buffer.concat([Buffer.from('\ufeffhit cut\n', 'utf16le'), Buffer.from([0x41])]),
    'text/lone-returns.txt': 'hit one\rhit two\r\nmiss\rhit\n\r\nhit\r',
    'text/kelvin.txt': 'K \u212a k ſ S s İ ı ẞ ß ΣΑΣ\n',
    '-dash/-e': 'hit --dash\n',
    '-dash/--files': 'hit -x\n',
    '{brace}/[x].ts': 'hit brace\n',
    'ünïcödé/ß.txt': 'hit name\n',
    'quo\'te"/x y.txt': 'hit quote\n',
    'new\nline.txt': 'hit name\n',
    'locked/x.txt': 'hit locked\n',
    'locked.txt': 'hit locked\n',
    'long.txt': `${'x'.repeat(3000)}ü hit ${'y'.repeat(3000)}\n`,
    'app/(shop)/[id]/page.tsx': 'hit page\n',
    'many.txt': 'hit\n'.repeat(250),
    'special.txt': '--pre=touch PWNED\n-e\na.b\naxb\n$1 (x) [y] {z}\nfoo{\n"quoted" it\'s\n',
    'empty.txt': '',
    'no-final-feed.txt': 'miss\nhit last',
    'Case.TXT': 'HIT upper\n',
    'umlaut.txt': 'Größe ÄRGER\n',
    'braces/x.{ts}': 'hit\n',
    'braces/x.b': 'hit\n',
    'braces/x.2': 'hit\n',
    'braces/x.': 'hit\n',
    'braces/x.ts': 'hit\n',
    'braces/bb': 'hit\n',
    'braces/{b,c}+': 'hit\n',
  };
  for (const [name, content] of Object.entries(files)) desk.put(name, content);
  execFileSync('git', ['init', '-q'], { cwd: desk.cwd });
  desk.put('.git/info/exclude', 'excluded.txt\n');
  desk.put('../home/.gitconfig', '[core]\n\texcludesFile = ~/my-ignores\n');
  desk.put('../home/my-ignores', '*.swp\n');
  symlinkSync('..', join(desk.cwd, 'a/loop'));
  symlinkSync('circle-b', join(desk.cwd, 'circle-a'));
  symlinkSync('circle-a', join(desk.cwd, 'circle-b'));
  symlinkSync('a.ts', join(desk.cwd, 'link.ts'));
  execFileSync('mkfifo', [join(desk.cwd, 'pipe')]);
  // No repository, but ignore files.
  desk.put('../plain/.gitignore', '*.log\nskip/\n');
  desk.put('../plain/x.log', 'hit ignored\n');
  desk.put('../plain/y.txt', 'hit plain\n');
  desk.put('../plain/skip/z.txt', 'hit skipped\n');
  desk.put('../plain/repo/.git/HEAD', 'ref: refs/heads/main\n');
  desk.put('../plain/repo/.git/info/exclude', 'out.txt\n');
  for (const name of ['in.txt', 'out.txt', 'x.log']) desk.put(`../plain/repo/${name}`, `hit ${name}\n`);
  for (const name of ['locked', 'locked.txt']) chmodSync(join(desk.cwd, name), 0o000);
  mkdirSync(join(desk.top, 'main'));
  const git = (...args: readonly string[]): void =>
    void execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: join(desk.top, 'main') });
  git('init', '-q');
  desk.put('../main/.gitignore', '*.log\n');
  desk.put('../main/a.txt', 'hit committed\n');
  git('add', '.');
  git('commit', '-qm', 'x');
  git('worktree', 'add', '-q', '../worktree');
  desk.put('../main/.git/info/exclude', 'out.txt\n');
  for (const name of ['x.log', 'out.txt', 'new.txt']) desk.put(`../worktree/${name}`, `hit ${name}\n`);
});
afterAll(() => {
  for (const name of ['locked', 'locked.txt']) chmodSync(join(desk.cwd, name), 0o755);
  desk.remove();
});

const greps: readonly ToolInputs['grep'][] = [
  { pattern: 'hit' },
  { pattern: 'hit', path: 'a' },
  { pattern: 'hit', path: 'a/nested' },
  { pattern: 'hit', path: 'build' },
  { pattern: 'hit', path: 'build/keep.txt' },
  { pattern: 'hit', path: 'a.ts' },
  { pattern: 'hit', path: 'link.ts' },
  { pattern: 'hit', path: 'binary.dat' },
  { pattern: 'hit', path: 'node_modules' },
  { pattern: 'hit', path: 'sub' },
  { pattern: 'hit', path: '../plain' },
  { pattern: 'hit', path: '../plain/skip' },
  { pattern: 'hit', glob: '*.ts' },
  { pattern: 'hit', glob: '!*.ts' },
  { pattern: 'hit', glob: 'a/**/*.{ts,log}' },
  { pattern: 'hit', glob: 'app/(shop)/**' },
  { pattern: 'hit', context: 1 },
  { pattern: 'hit', context: 2, limit: 1 },
  { pattern: 'hit', path: 'many.txt', limit: 3, context: 1 },
  { pattern: 'HIT', ignoreCase: true, glob: '*.TXT' },
  { pattern: 'ÄRGER|größe', ignoreCase: true },
  { pattern: 'end$' },
  { pattern: '^hit (behind|wide)' },
  { pattern: 'gr' },
  { pattern: 'Gr\\p{L}+e' },
  { pattern: 'a.b', literal: true },
  { pattern: '$1 (x) [y] {z}', literal: true },
  { pattern: '--pre=touch PWNED' },
  { pattern: '-e' },
  { pattern: '--files', literal: true },
  { pattern: '\\"quoted\\" it\\\'s' },
  { pattern: 'foo{' },
  { pattern: '[[:upper:]]IT' },
  { pattern: '(?i)HIT upper' },
  { pattern: 'hit (?=two)' },
  { pattern: '(\\w)\\1' },
  { pattern: '^$' },
  { pattern: 'nothing at all like this' },
  { pattern: 'hit', path: 'binary' },
  { pattern: 'hit', path: 'binary', limit: 1, context: 1 },
  { pattern: 'hit', path: 'binary/behind-the-limit.bin', limit: 2 },
  { pattern: 'hit', path: 'text', context: 3 },
  { pattern: 'hit', path: 'text', limit: 1 },
  { pattern: '^hit', path: 'text' },
  { pattern: 'hit$', path: 'text' },
  { pattern: '\\r', path: 'text', limit: 2 },
  { pattern: 'hit[^\\n]*two' },
  { pattern: 'K', ignoreCase: true, path: 'text/kelvin.txt' },
  { pattern: '[a-z] S', ignoreCase: true, path: 'text/kelvin.txt' },
  { pattern: 'hit', path: '-dash' },
  { pattern: 'hit', path: '-dash/-e' },
  { pattern: 'hit', glob: '{brace}/*' },
  { pattern: 'hit', glob: '\\{brace\\}/*' },
  { pattern: 'hit', glob: '!{*.ts,text/**}' },
  { pattern: 'hit', glob: '*.{bin,txt}', path: 'text' },
  { pattern: 'hit', glob: '[a-c].ts' },
  { pattern: 'hit', glob: '**/nested/**' },
  { pattern: 'hit', path: 'ünïcödé' },
  { pattern: 'hit', path: '../worktree' },
  { pattern: 'hit', path: '../main' },
  { pattern: 'hit', limit: 1, context: 100 },
  { pattern: 'hit', path: 'nowhere' },
  { pattern: '(?<=hit )\\w+(?= b)', context: 1 },
  { pattern: '(?<!\\w)hit(?!\\s)' },
  { pattern: '\\bin\\b', ignoreCase: true },
  { pattern: 'hit', path: 'locked' },
  { pattern: 'hit', path: 'pipe' },
  { pattern: 'hit', path: 'a/loop' },
];
const globs: readonly ToolInputs['glob'][] = [
  { pattern: '*' },
  { pattern: '**/*' },
  { pattern: '**/*.ts' },
  { pattern: 'a/**' },
  { pattern: 'nested/*' },
  { pattern: '*.{ts,{log,tsx}}' },
  { pattern: '?.ts' },
  { pattern: 'app/(shop)/*/*.tsx' },
  { pattern: '*', path: 'build' },
  { pattern: '*', path: '../plain' },
  { pattern: '*', limit: 3 },
  { pattern: '-x' },
  { pattern: '{a' },
  { pattern: '/a.ts' },
  { pattern: 'a/' },
  { pattern: '[x].ts' },
  { pattern: '\\[x\\].ts' },
  { pattern: '{brace}/**' },
  { pattern: '**/.git*' },
  { pattern: '.*' },
  { pattern: '*.{ts}', path: 'braces' },
  { pattern: '*.{a..c}', path: 'braces' },
  { pattern: '*.{1..3}', path: 'braces' },
  { pattern: '*.{ts,}', path: 'braces' },
  { pattern: '*.{ts,b}', path: 'braces' },
  { pattern: '*.TXT' },
  { pattern: '*', path: '../worktree' },
  { pattern: '*', path: 'locked' },
  { pattern: '*', path: 'nowhere' },
  { pattern: '*', path: 'a.ts' },
];
const lists: readonly ToolInputs['ls'][] = [
  {},
  { limit: 2 },
  { path: 'a' },
  { path: 'build' },
  { path: 'binary' },
  { path: 'locked' },
  { path: 'a.ts' },
  { path: '../worktree' },
];

const same = async <T extends 'grep' | 'glob' | 'ls'>(tool: T, input: ToolInputs[T]): Promise<void> => {
  const [fast, slow] = await asNobody(desk.top, () => Promise.all([desk.run('ripgrep', tool, input), desk.run('walk', tool, input)]));
  expect(slow).toEqual(fast);
};
test.each(greps)('grep %o', (input) => same('grep', input));
test.each(globs)('glob %o', (input) => same('glob', input));
test.each(lists)('ls %o', (input) => same('ls', input));
test('these are enough of them', () => {
  expect(greps.length + globs.length + lists.length).toBe(106);
});
test.each(['(unclosed', '[a', '*', 'a)', 'a\\', '[z-a]', 'a{3,1}', '[[:nope:]]', '(?<n>a)(?<n>b)', '(?<=a*)b'])(
  '%s is a bad pattern for both',
  async (pattern) => {
    const results = await Promise.all((['ripgrep', 'walk'] as const).map((engine) => desk.run(engine, 'grep', { pattern })));
    expect(results[0]).toMatchObject({ status: 'error', error: { code: 'INVALID_ARGUMENT' } });
    expect(results[1]).toEqual(results[0]);
  },
);

test.each(['ripgrep', 'walk'] as const)('%s: a plus in a glob is a plus', async (engine) => {
  expect((await desk.run(engine, 'glob', { pattern: '{b,c}+', path: 'braces' })).content).toBe('No files found');
  expect((await desk.run(engine, 'glob', { pattern: '\\{b,c\\}+', path: 'braces' })).content).toMatch(/^braces\/\{b,c\}\+\n/);
});

const gitFiles = (): readonly string[] =>
  execFileSync('git', ['ls-files', '-z', '--others', '--cached', '--exclude-standard'], {
    cwd: desk.cwd,
    encoding: 'utf8',
    env: { ...process.env, HOME: join(desk.top, 'home'), XDG_CONFIG_HOME: join(desk.top, 'home/.config') },
  })
    .split('\0')
    .filter(Boolean);

test.each(['ripgrep', 'walk'] as const)('%s lists what git considers', async (engine) => {
  const { content } = await desk.run(engine, 'glob', { pattern: '*' });
  // Git says nothing about the inside of another repository and names links; node_modules is not searched even where git has it.
  const expected = gitFiles().filter((path) => !/^(?:sub\/|node_modules\/|a\/loop|circle-|link\.ts)/.test(path));
  expect(
    content
      .split('\n')
      .filter((path) => !path.startsWith('sub/'))
      .sort(),
  ).toEqual(expected.map((path) => (path.includes('\n') ? JSON.stringify(path) : path)).sort());
});

test('matches are where they should be', async () => {
  const { content } = await desk.run('walk', 'grep', { pattern: 'hit' });
  expect(content).toContain('\na/b.ts:1:hit in a/b\n');
  for (const part of ['ignored', 'binary', 'module', 'HEAD']) expect(content).not.toContain(part);
  expect(content).toContain('a/nested/out.log:1:hit brought back');
  expect(content).toContain('sub/own.log:1:hit in another repository');
  expect(content).toContain('long.txt:1:…xxx');
  expect(content).toContain('(At most 100 matches of each file are shown; reached in many.txt.)');
  expect(content.match(/a\.ts:1:hit one/g)).toHaveLength(1);
  expect((await desk.run('walk', 'grep', { pattern: 'hit', path: 'build' })).content).toContain(
    '(build is ignored by git; it is shown because it was asked for by name.)',
  );
});
