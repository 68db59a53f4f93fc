import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Desk, ENGINES, openDesk } from './desk.ts';

let desk: Desk;
beforeEach(() => {
  desk = openDesk();
});
afterEach(() => desk.remove());

const gitRun = (...args: readonly string[]): string =>
  execFileSync('git', args, {
    cwd: desk.cwd,
    encoding: 'utf8',
    env: { ...process.env, HOME: join(desk.top, 'home'), XDG_CONFIG_HOME: join(desk.top, 'home/.config') },
  });
const initialise = (): void => void gitRun('init', '-q');

/** Every file below the working directory that a tool finds, without what is said about it. */
const found = async (engine: (typeof ENGINES)[number], tool: 'grep' | 'glob', path = '.'): Promise<readonly string[]> => {
  const { content } = await (tool === 'grep' ? desk.run(engine, tool, { pattern: 'hit', path }) : desk.run(engine, tool, { pattern: '*', path }));
  return content
    .split('\n')
    .filter((line) => !/^(?:\(|No )/.test(line))
    .map((line) => line.replace(/:1:hit$/, ''))
    .filter((name) => !name.endsWith('.gitignore'));
};
const gitFound = (): readonly string[] =>
  gitRun('-c', 'core.quotePath=false', 'ls-files', '-co', '--exclude-standard')
    .split('\n')
    .filter((name) => name !== '' && !name.endsWith('.gitignore'));

const NOTE = 'is ignored by git; it is shown because it was asked for by name.)';

describe.each(ENGINES)('with %s', (engine) => {
  const sameForAll = async (expected: readonly string[], isRepository = true): Promise<void> => {
    if (isRepository) expect([...gitFound()].sort()).toEqual([...expected].sort());
    for (const tool of ['grep', 'glob'] as const) expect([...(await found(engine, tool))].sort(), tool).toEqual([...expected].sort());
  };

  test('B035: CRLF ends, `build/`, `!build/keep.txt`', async () => {
    initialise();
    desk.put('.gitignore', '\ufeff# note\r\nbuild/\r\n!build/keep.txt\r\n*.log\r\n!keep.log\r\n');
    for (const name of ['a.txt', 'build/keep.txt', 'build/x.txt', 'sub/build/y.txt', 'x.log', 'keep.log', 'sub/build.txt']) desk.put(name, 'hit\n');
    await sameForAll(['a.txt', 'keep.log', 'sub/build.txt']);
    expect((await desk.run(engine, 'ls', {})).content).toMatch(
      /^f +\d+ \.gitignore\nf +4 a\.txt\nf +4 keep\.log\nd +- sub\/\n\(2 entries that git ignores not listed\)$/,
    );
  });

  test('B035: `build/*` with `!build/keep.txt` does bring it back', async () => {
    initialise();
    desk.put('.gitignore', 'build/*\r\n!build/keep.txt\r\n');
    for (const name of ['build/keep.txt', 'build/x.txt']) desk.put(name, 'hit\n');
    await sameForAll(['build/keep.txt']);
  });

  test('B035: a pattern with an escaped space', async () => {
    initialise();
    desk.put('.gitignore', 'with\\ space.txt\nend\\ \ntrailing   \n\\#sharp\n\\!loud\n');
    for (const name of ['with space.txt', 'withspace.txt', 'end ', 'end', 'trailing', '#sharp', '!loud', 'loud']) desk.put(name, 'hit\n');
    await sameForAll(['end', 'loud', 'withspace.txt']);
  });

  test('B035: nested .gitignore', async () => {
    initialise();
    desk.put('.gitignore', '*.tmp\n/only-here\n');
    desk.put('a/.gitignore', '!keep.tmp\nlocal/\n/x.txt\n');
    for (const name of ['a/keep.tmp', 'a/b/keep.tmp', 'a/o.tmp', 'keep.tmp', 'a/local/f', 'a/x.txt', 'a/b/x.txt', 'only-here', 'a/only-here'])
      desk.put(name, 'hit\n');
    await sameForAll(['a/b/keep.tmp', 'a/b/x.txt', 'a/keep.tmp', 'a/only-here']);
    expect((await desk.run(engine, 'ls', { path: 'a' })).content).toContain('(3 entries that git ignores not listed)');
  });

  test.each([
    ['core.excludesFile', '.gitconfig', '[core]\n\texcludesFile = ~/mine\n', 'mine'],
    ['its default place', 'unused', '', '.config/git/ignore'],
  ])('B035: global excludes file, %s', async (_, config, text, file) => {
    initialise();
    desk.put(`../home/${config}`, text);
    desk.put(`../home/${file}`, '*.swp\n/top.txt\n');
    for (const name of ['a.txt', 'a.swp', 'b/b.swp', 'top.txt', 'b/top.txt']) desk.put(name, 'hit\n');
    await sameForAll(['a.txt', 'b/top.txt']);
    expect((await desk.run(engine, 'ls', {})).content).toContain('(2 entries that git ignores not listed)');
  });

  test('B035: info/exclude, also of a worktree', async () => {
    initialise();
    desk.put('.git/info/exclude', 'out.txt\n');
    for (const name of ['in.txt', 'out.txt']) desk.put(name, 'hit\n');
    await sameForAll(['in.txt']);
    gitRun('add', '.');
    gitRun('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'x');
    gitRun('worktree', 'add', '-q', '../tree');
    desk.put('../tree/out.txt', 'hit\n');
    expect(await found(engine, 'grep', '../tree')).toEqual([join(desk.top, 'tree/in.txt')]);
    expect(await found(engine, 'glob', '../tree')).toEqual([join(desk.top, 'tree/in.txt')]);
  });

  test('B035: folder that is no repository', async () => {
    desk.put('.gitignore', 'build/\r\n!build/keep.txt\r\n*.log\r\n');
    desk.put('sub/.gitignore', '!s.log\n');
    for (const name of ['a.txt', 'build/keep.txt', 'x.log', 'sub/s.log']) desk.put(name, 'hit\n');
    await sameForAll(['a.txt', 'sub/s.log'], false);
  });

  test('B035: what is ignored and asked for by name is searched, and said to be', async () => {
    initialise();
    desk.put('.gitignore', 'out/\n*.log\n');
    desk.put('out/deep/a.log', 'hit\n');
    expect((await desk.run(engine, 'grep', { pattern: 'hit' })).content).toBe('No matches found');
    expect((await desk.run(engine, 'grep', { pattern: 'hit', path: 'out' })).content).toBe(`out/deep/a.log:1:hit\n(out ${NOTE}`);
    expect((await desk.run(engine, 'grep', { pattern: 'hit', path: 'out/deep' })).content).toBe(`out/deep/a.log:1:hit\n(out/deep ${NOTE}`);
    expect((await desk.run(engine, 'grep', { pattern: 'hit', path: 'out/deep/a.log' })).content).toBe(`out/deep/a.log:1:hit\n(out/deep/a.log ${NOTE}`);
    expect((await desk.run(engine, 'glob', { pattern: '*', path: 'out' })).content).toContain(`out/deep/a.log\n`);
    expect((await desk.run(engine, 'glob', { pattern: '*', path: 'out' })).content).toContain(`(out ${NOTE}`);
    expect((await desk.run(engine, 'ls', { path: 'out' })).content).toBe(`d - deep/\n(out ${NOTE}`);
  });

  test('a repository within another has its own rules', async () => {
    initialise();
    desk.put('.gitignore', '*.log\n');
    desk.put('.git/info/exclude', 'out.txt\n');
    desk.put('inner/.git/HEAD', 'ref: refs/heads/main\n');
    for (const name of ['x.log', 'out.txt', 'inner/x.log', 'inner/out.txt']) desk.put(name, 'hit\n');
    expect(await found(engine, 'glob')).toEqual(['inner/out.txt', 'inner/x.log']);
    expect(await found(engine, 'grep', 'inner')).toEqual(['inner/out.txt', 'inner/x.log']);
  });

  test('node_modules and caches are left out, ignored or not, unless they are named', async () => {
    initialise();
    for (const name of ['a.txt', 'node_modules/m/i.js', 'x/.venv/v.py', '__pycache__/c.py', 'target/t.rs', 'dist/d.js']) desk.put(name, 'hit\n');
    // `target` and `dist` may be anything: where they are made by a tool, git ignores them.
    expect(await found(engine, 'glob')).toEqual(['a.txt', 'dist/d.js', 'target/t.rs']);
    expect(await found(engine, 'grep', 'node_modules')).toEqual(['node_modules/m/i.js']);
    expect(await found(engine, 'grep', 'x/.venv')).toEqual(['x/.venv/v.py']);
  });
});
