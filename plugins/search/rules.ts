import { lstat, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { slashed } from './place.ts';

/** Left out of every search, ignored or not, unless the search begins inside: nobody writes in them by hand. */
export const SKIPPED: readonly string[] = ['.git', 'node_modules', '__pycache__', '.venv', 'venv', '.next', '.nuxt', '.turbo', '.cache'];

/** The ignore rules of one folder, and those above it. */
export interface Level {
  readonly folder: string;
  readonly rules: Ignore | undefined;
  /** Of `.git/info/exclude`. */
  readonly exclude: Ignore | undefined;
  /** The root of a repository: rules from above it do not reach in. */
  readonly isRoot: boolean;
  readonly above: Level | undefined;
}

/** Rules as git applies them, also where there is no repository. */
export interface Rules {
  /** The level of the folder in which a search begins. */
  readonly level: Level;
  /** Where patterns of the user's own excludes file are anchored. */
  readonly root: string;
  /** Repositories bound the rules. Outside of one, and in a place that is ignored, all ignore files count. */
  readonly isGit: boolean;
  readonly global: Ignore | undefined;
  /** The place itself is ignored, so that rules from above it are not applied: it was asked for by name. */
  readonly isIgnored: boolean;
}

export const rulesFor = async (folder: string, name: string | undefined, environment: Readonly<Record<string, string | undefined>>): Promise<Rules> => {
  const repository = await repositoryOf(folder);
  const level = await levelsTo(folder, repository);
  const full: Rules = { level, root: repository ?? folder, isGit: repository !== undefined, global: await globalExcludes(environment), isIgnored: false };
  if (!isPlaceIgnored(full, name)) return full;
  return { ...full, level: { ...level, isRoot: false, above: undefined, exclude: undefined }, isGit: false, global: undefined, isIgnored: true };
};

/** Whether the folder, one above it, or the file in it that was named is ignored. */
const isPlaceIgnored = (rules: Rules, name: string | undefined): boolean => {
  if (name !== undefined && isIgnored(rules, rules.level, join(rules.level.folder, name), false)) return true;
  for (let level = rules.level; level.above; level = level.above) if (isIgnored(rules, level.above, level.folder, true)) return true;
  return false;
};

const repositoryOf = async (folder: string): Promise<string | undefined> => {
  if (await hasGit(folder)) return folder;
  const parent = dirname(folder);
  return parent === folder ? undefined : repositoryOf(parent);
};

/** From the root of the repository down; outside of one, from the top of the file system. */
const levelsTo = async (folder: string, repository: string | undefined): Promise<Level> => {
  const parent = dirname(folder);
  const isTop = folder === repository || parent === folder;
  return levelOf(folder, isTop ? undefined : await levelsTo(parent, repository), repository !== undefined);
};

export const levelOf = async (folder: string, above: Level | undefined, isGit: boolean): Promise<Level> => {
  const [rules, hasOwn] = await Promise.all([rulesOf(join(folder, '.gitignore')), hasGit(folder)]);
  return { folder, rules, exclude: hasOwn ? await rulesOf(await excludeFile(folder)) : undefined, isRoot: isGit && hasOwn, above };
};

const hasGit = (folder: string): Promise<boolean> =>
  lstat(join(folder, '.git')).then(
    () => true,
    () => false,
  );

type Source = readonly [Ignore | undefined, string];

/** Whether rules leave out a path whose folder has this level. The folders between are known not to be ignored. */
export const isIgnored = ({ root, global }: Pick<Rules, 'root' | 'global'>, level: Level, path: string, isFolder: boolean): boolean => {
  const levels = reaching(level);
  const sources: readonly Source[] = [
    ...levels.map((each): Source => [each.rules, each.folder]),
    ...levels.map((each): Source => [each.exclude, each.folder]),
    [global, root],
  ];
  for (const [rules, folder] of sources) {
    const verdict = rules && verdictOf(rules, folder, path, isFolder);
    if (verdict !== undefined) return verdict;
  }
  return false;
};

/** The levels whose rules reach a place, the nearest first. */
const reaching = (level: Level): readonly Level[] => [level, ...(level.above && !level.isRoot ? reaching(level.above) : [])];

const verdictOf = (rules: Ignore, folder: string, path: string, isFolder: boolean): boolean | undefined => {
  const way = slashed(relative(folder, path));
  if (way === '' || way.startsWith('../')) return undefined;
  const { ignored, unignored } = rules.test(isFolder ? `${way}/` : way);
  if (unignored) return false;
  if (!ignored) return undefined;
  // Rules further in brought the folder back: what is in it is not ignored for its sake.
  const up = dirname(way);
  return up !== '.' && rules.test(`${up}/`).ignored ? undefined : true;
};

const rulesOf = async (file: string): Promise<Ignore | undefined> => {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  return text === undefined || text.trim() === '' ? undefined : ignore({ ignorecase: false, allowRelativePaths: true }).add(text.replace(/^\ufeff/, ''));
};

// In a worktree `.git` is a file that names the real place, and the excludes lie with the main repository.
const excludeFile = async (folder: string): Promise<string> => {
  const git = join(folder, '.git');
  const pointer = await readFile(git, 'utf8').catch(() => undefined);
  const named = /^gitdir: (.+)$/m.exec(pointer ?? '')?.[1];
  if (named === undefined) return join(git, 'info/exclude');
  const place = resolve(folder, named.trim());
  const common = await readFile(join(place, 'commondir'), 'utf8').catch(() => '.');
  return join(resolve(place, common.trim()), 'info/exclude');
};

const globalExcludes = async (environment: Readonly<Record<string, string | undefined>>): Promise<Ignore | undefined> => {
  const home = environment['HOME'] ?? homedir();
  const config = environment['XDG_CONFIG_HOME'] || join(home, '.config');
  for (const file of [join(home, '.gitconfig'), join(config, 'git/config')]) {
    const text = await readFile(file, 'utf8').catch(() => '');
    const named = /^\s*excludesfile\s*=\s*"?\s*(\S+?)\s*"?\s*$/im.exec(text)?.[1];
    if (named !== undefined) return rulesOf(named.startsWith('~/') ? join(home, named.slice(2)) : named);
  }
  return rulesOf(join(config, 'git/ignore'));
};
