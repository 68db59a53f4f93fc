import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkoutTop, findProject, type Project } from '../../../cli/config/project.ts';
import { fill, folder } from './folder.ts';

const find = (home: string, cwd: string, castHome = join(home, '.cast')): Project => findProject(join(home, cwd), { home, castHome });

test.each<[string, Record<string, string>, string, Project['kind'], string]>([
  ['the root of a repository', { 'r/.git/HEAD': '', 'r/a/b/x': '' }, 'r/a/b', 'git', 'r'],
  ['the nearest repository', { 'r/.git/HEAD': '', 'r/sub/.git/HEAD': '', 'r/sub/x': '' }, 'r/sub', 'git', 'r/sub'],
  ['a repository, though a configuration is nearer', { 'r/.git/HEAD': '', 'r/a/cast.config.ts': '' }, 'r/a', 'git', 'r'],
  ['an empty .git is none', { 'r/.git/x': '', 'r/a/x': '' }, 'r/a', 'cwd', 'r/a'],
  ['the nearest cast.config.*', { 'p/cast.config.mjs': '', 'p/a/b/x': '' }, 'p/a/b', 'folder', 'p'],
  ['the nearest .cast', { 'p/.cast/settings.json': '', 'p/a/.cast/x': '', 'p/a/b/x': '' }, 'p/a/b', 'folder', 'p/a'],
  ['a file named .cast is no project', { 'p/.cast': '', 'p/a/x': '' }, 'p/a', 'cwd', 'p/a'],
  ['nothing: the folder itself', { 'p/a/x': '' }, 'p/a', 'cwd', 'p/a'],
  ['the home folder is not looked at', { 'cast.config.ts': '', 'p/x': '' }, 'p', 'cwd', 'p'],
  ["the home's .cast is no project's", { '.cast/settings.json': '', 'p/x': '' }, 'p', 'cwd', 'p'],
  ['the home folder itself', { '.cast/settings.json': '' }, '.', 'cwd', '.'],
])('%s', (_, files, cwd, kind, root) => {
  const home = folder(files);
  expect(find(home, cwd)).toEqual({ kind, root: join(home, root) });
});

test('CAST_HOME within a folder does not make that folder a project', () => {
  const home = folder({ 'p/.cast/settings.json': '{}', 'p/a/x': '' });
  expect(find(home, 'p/a', join(home, 'p/.cast'))).toEqual({ kind: 'cwd', root: join(home, 'p/a') });
  symlinkSync(join(home, 'p/.cast'), join(home, 'link'));
  expect(find(home, 'p/a', join(home, 'link')).kind).toBe('cwd');
});

test('a folder that does not exist is its own root', () => {
  const home = folder();
  expect(find(home, 'gone')).toEqual({ kind: 'cwd', root: join(home, 'gone') });
});

const git = (cwd: string, ...args: string[]): void => void execFileSync('git', ['-C', cwd, ...args], { stdio: 'ignore' });
const withCommit = (dir: string): void => {
  mkdirSync(dir, { recursive: true });
  git(dir, 'init', '-q');
  git(dir, '-c', 'user.name=a', '-c', 'user.email=a@example.org', 'commit', '-q', '--allow-empty', '-m', 'x');
};

test('a worktree has the root of its main repository', () => {
  const home = folder();
  withCommit(join(home, 'main'));
  git(join(home, 'main'), 'worktree', 'add', '-q', join(home, 'elsewhere'));
  git(join(home, 'main'), 'worktree', 'add', '-q', join(home, 'main/.cast/worktrees/inside'));
  fill(home, { 'elsewhere/a/x': '', 'main/.cast/worktrees/inside/a/x': '' });
  for (const tree of ['elsewhere', 'main/.cast/worktrees/inside']) {
    const project = find(home, `${tree}/a`);
    expect(project).toEqual({ kind: 'git', root: join(home, 'main') });
    expect(checkoutTop(project.root, join(home, `${tree}/a`))).toBe(join(home, tree));
  }
  expect(checkoutTop(join(home, 'main'), join(home, 'main'))).toBe(join(home, 'main'));
});

test('a worktree of a bare repository has that repository as its root', () => {
  const home = folder();
  withCommit(join(home, 'main'));
  execFileSync('git', ['clone', '-q', '--bare', join(home, 'main'), join(home, 'bare.git')], { stdio: 'ignore' });
  git(join(home, 'bare.git'), 'worktree', 'add', '-q', join(home, 'tree'));
  expect(find(home, 'tree')).toEqual({ kind: 'git', root: join(home, 'bare.git') });
});

test('a submodule is a project of its own', () => {
  const home = folder({ 'r/.git/HEAD': '', 'r/.git/modules/sub/HEAD': '', 'r/sub/.git': 'gitdir: ../.git/modules/sub\n' });
  expect(find(home, 'r/sub')).toEqual({ kind: 'git', root: join(home, 'r/sub') });
});

test.each<[string, Record<string, string>]>([
  ['a folder of its own', { 'evil/.git': 'gitdir: ./fake\n', 'evil/fake/commondir': '../../trusted/.git\n', 'evil/fake/gitdir': '../.git\n' }],
  ['an entry of another worktree', { 'evil/.git': 'gitdir: ../trusted/.git/worktrees/real\n' }],
  ['the repository itself', { 'evil/.git': 'gitdir: ../trusted/.git\n' }],
])('a .git file that points at %s does not make a folder part of a repository', (_, files) => {
  const home = folder({
    'trusted/.git/HEAD': '',
    'trusted/.git/worktrees/real/HEAD': '',
    'trusted/.git/worktrees/real/commondir': '../..\n',
    'trusted/.git/worktrees/real/gitdir': '/elsewhere/real/.git\n',
    ...files,
  });
  expect(find(home, 'evil')).toEqual({ kind: 'git', root: join(home, 'evil') });
});
