/** Paths that need a yes: what cast or git would run, secrets, and everything outside the workspace. */
import { isAbsolute, join, resolve } from 'node:path';
import type { Effect } from '../../kernel/index.ts';

/** All canonical. */
export interface Places {
  readonly root: string;
  readonly home: string;
  /** `$CAST_HOME`. */
  readonly castHome: string;
  /** Folders outside the root that may be written: temporary files, added directories. */
  readonly writable: readonly string[];
}

export const isInside = (path: string, folder: string): boolean => path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);

// Compared without case: file systems may ignore it.
const PROTECTED: readonly RegExp[] = [
  /\/\.git\/(.+\/)?(hooks(\/|$)|config)/i,
  /\/cast\.config\.[^/]+$/i,
  /\/\.castrc[^/]*$/i,
  /\/\.cast\/((settings|hooks|mcp|plugins)[^/]*|toolbox)(\/|$)/i,
];
export const isProtected = (path: string, { root, castHome }: Places): boolean =>
  // A workspace below `$CAST_HOME` (a worktree, a scratch folder) is a workspace.
  (isInside(path, castHome) && !isInside(path, root)) || PROTECTED.some((pattern) => pattern.test(path));

export const isSecret = (path: string, { home, castHome }: Places): boolean =>
  ['.ssh', '.aws', '.gnupg'].some((name) => isInside(path, join(home, name))) ||
  /^\/(secrets|settings)[^/]*$/.test(isInside(path, castHome) ? path.slice(castHome.length) : '');

export type Access = 'read' | 'write';
/** What a call does to the paths that it names. */
export const accessOf = (effect: Effect): Access => (effect === 'read' || effect === 'talk' ? 'read' : 'write');

/** Why a person should be asked about this path; undefined when there is no reason. */
export const guardOf = (path: string, access: Access, cwd: string, places: Places): string | undefined => {
  if (isSecret(path, places)) return 'a secret';
  if (access === 'read') return undefined;
  if (isProtected(path, places)) return 'a protected path';
  const isHome = [places.root, cwd, ...places.writable].some((folder) => isInside(path, folder));
  return isHome || isStream(path) ? undefined : 'outside the workspace';
};
const isStream = (path: string): boolean => /^\/dev\/(null|zero|full|stdin|stdout|stderr|tty|fd\/\d+|shm\/.+)$/.test(path);

/** As the shell would read it; undefined when that is known only at run time. Links are not followed. */
export const pathOf = (word: string, cwd: string, { home }: Places): string | undefined => {
  const text = word.replace(/^(~|\$HOME|\$\{HOME\})(?=\/|$)/, () => home);
  if (text === '' || /[$`]/.test(text)) return undefined;
  return isAbsolute(text) ? resolve(text) : resolve(cwd, text);
};
