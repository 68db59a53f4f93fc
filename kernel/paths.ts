import { lstat, readlink, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, parse, relative, sep } from 'node:path';

/** As many links as Linux follows before it gives up. */
const MAX_LINKS = 40;

/**
 * The path that a call really means: absolute, links resolved. `~` is the home folder, everything else is relative to `cwd`.
 * Where the path ends in nothing that exists, its deepest existing parent is resolved and the rest is normalised; a link
 * that leads nowhere counts as the place it names. Never throws: what cannot be looked at counts as missing.
 */
export const canonicalPath = async (path: string, cwd: string, home: string = homedir()): Promise<string> => {
  const whole = absolute(path, cwd, home);
  return (await resolved(whole)) ?? walk(whole);
};

/** Whether `path` is `root` or beneath it, by component. Both must be canonical. */
export const isInside = (root: string, path: string): boolean => {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
};

// Not `path.resolve`: it drops `link/..` by its text, which is another place than the file system's when `link` is a link.
const absolute = (path: string, cwd: string, home: string): string => {
  if (path === '~') return home;
  if (path.startsWith('~/') || path.startsWith(`~${sep}`)) return home + sep + path.slice(2);
  return isAbsolute(path) ? path : cwd + sep + path;
};

const resolved = (path: string): Promise<string | undefined> => realpath(path).catch(() => undefined);

const split = (path: string): string[] => path.split(sep === '\\' ? /[\\/]+/ : /\/+/).filter((part) => part !== '' && part !== '.');

const walk = async (whole: string): Promise<string> => {
  const { root } = parse(whole);
  let parts = split(whole.slice(root.length));
  let at = root;
  /** How many parts at the end of `at` do not exist. */
  let missing = 0;
  let links = 0;
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    if (part === '..') {
      at = dirname(at);
      missing = Math.max(0, missing - 1);
      continue;
    }
    const next = join(at, part);
    const target = missing === 0 && links < MAX_LINKS ? await look(next) : { exists: false };
    if (target.link === undefined) {
      at = next;
      missing += target.exists ? 0 : 1;
      continue;
    }
    links += 1;
    parts = [...split(isAbsolute(target.link) ? target.link.slice(parse(target.link).root.length) : target.link), ...parts];
    if (isAbsolute(target.link)) at = parse(target.link).root;
  }
  return withTrueCase(at, missing);
};

const look = async (path: string): Promise<{ exists: boolean; link?: string }> => {
  try {
    const stat = await lstat(path);
    return stat.isSymbolicLink() ? { exists: true, link: await readlink(path) } : { exists: true };
  } catch {
    return { exists: false };
  }
};

// On a disk that ignores case, only the system knows how the existing part is spelled.
const withTrueCase = async (path: string, missing: number): Promise<string> => {
  let base = path;
  for (let count = 0; count < missing; count++) base = dirname(base);
  const tail = path.slice(base.length);
  return join((await resolved(base)) ?? base, tail);
};
