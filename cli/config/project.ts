/** Which project a folder belongs to. Files are read, never `git` run: a repository's own configuration may run commands. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { hasConfigFile, isSamePlace, realPath } from './places.ts';

export interface Project {
  /** By which the project is trusted and its sessions are found. Of a worktree: its main repository's. */
  readonly root: string;
  readonly kind: 'git' | 'folder' | 'cwd';
}

/** `home` is the user's home folder, `castHome` `$CAST_HOME`. */
export const findProject = (cwd: string, places: { readonly home: string; readonly castHome: string }): Project => {
  const start = realPath(cwd);
  const checkout = climb(start, isCheckout);
  if (checkout !== undefined) return { root: mainRepository(checkout) ?? checkout, kind: 'git' };
  const home = realPath(places.home);
  const folder = climb(start, (dir) => isProjectFolder(dir, places.castHome), home);
  return folder === undefined ? { root: start, kind: 'cwd' } : { root: folder, kind: 'folder' };
};

/**
 * The top of the files that belong to `cwd`: of a worktree its own folder, so that what lies in it is compared, path by path,
 * with what was trusted in the main repository. Otherwise the root.
 */
export const checkoutTop = (root: string, cwd: string): string => {
  const start = realPath(cwd);
  return climb(start, (dir) => dir === root || isCheckout(dir)) ?? start;
};

/** The nearest folder that fits, from `start` up; `stop` and the root of the file system are not looked at. */
const climb = (start: string, fits: (dir: string) => boolean, stop?: string): string | undefined => {
  for (let dir = start; dir !== stop; dir = dirname(dir)) {
    if (dir === dirname(dir)) return undefined;
    if (fits(dir)) return dir;
  }
  return undefined;
};

const isProjectFolder = (dir: string, castHome: string): boolean => {
  if (isSamePlace(dir, castHome)) return false;
  const own = join(dir, '.cast');
  return hasConfigFile(dir) || (isFolder(own) && !isSamePlace(own, castHome));
};

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

const isCheckout = (dir: string): boolean => {
  const git = join(dir, '.git');
  const found = statSync(git, { throwIfNoEntry: false });
  if (!found) return false;
  return found.isDirectory() ? existsSync(join(git, 'HEAD')) : gitFolder(dir) !== undefined;
};

/** Where the `.git` file of a worktree or submodule points. */
const gitFolder = (dir: string): string | undefined => {
  const target = /^gitdir: (.+)/.exec(readLine(join(dir, '.git')) ?? '')?.[1];
  if (target === undefined) return undefined;
  const folder = realPath(resolve(dir, target));
  return isFolder(folder) ? folder : undefined;
};

/**
 * Root of the repository that a worktree belongs to. The claim must be returned by the repository itself, which lists its worktrees:
 * any unpacked archive can hold a `.git` file that points at a trusted repository.
 */
const mainRepository = (checkout: string): string | undefined => {
  if (isFolder(join(checkout, '.git'))) return undefined;
  const entry = gitFolder(checkout);
  const common = entry === undefined ? undefined : readLine(join(entry, 'commondir'));
  if (entry === undefined || common === undefined) return undefined;
  const repository = realPath(resolve(entry, common));
  const back = readLine(join(entry, 'gitdir'));
  const isListed = dirname(entry) === join(repository, 'worktrees') && back !== undefined && isSamePlace(resolve(entry, back), join(checkout, '.git'));
  if (!isListed) return undefined;
  // A bare repository has no files of its own; its worktrees share the folder of the repository as their root.
  return basename(repository) === '.git' ? dirname(repository) : repository;
};

const readLine = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8').split(/\r?\n/, 1)[0]?.trim();
  } catch {
    return undefined;
  }
};
