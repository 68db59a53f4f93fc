import { isUtf8 } from 'node:buffer';
import { lstat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { ToolError } from '../../kernel/index.ts';
import { effortOf } from './effort.ts';
import { bytesOf, onDisk, shownName } from './name.ts';
import { slashed } from './place.ts';
import { readSmall } from './read-small.ts';

/** Left out of every search, ignored or not, unless the search begins inside: nobody writes in them by hand. */
export const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules', '__pycache__', '.venv', 'venv', '.next', '.nuxt', '.turbo', '.cache']);
/** A folder without one of these has the rules of the one above it. */
export const RULE_NAMES: ReadonlySet<string> = new Set(['.git', '.gitignore']);

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

export const rulesFor = async (folder: string, name: string | undefined, environment: Environment): Promise<Rules> => {
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
  lstat(onDisk(join(folder, '.git'))).then(
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

const ASCII = /^[\x20-\x7e]*$/;
const verdictOf = (rules: Ignore, folder: string, path: string, isFolder: boolean): boolean | undefined => {
  if (path === folder || !path.startsWith(folder)) return undefined;
  const below = slashed(path.slice(folder.endsWith('/') ? folder.length : folder.length + 1));
  const way = ASCII.test(below) ? below : bytewise(bytesOf(below));
  const asked = isFolder ? `${way}/` : way;
  const up = dirname(way);
  // Rules further in brought the folder back: what is in it is not ignored for its sake.
  const test = (own: Ignore, text: string): ReturnType<Ignore['test']> => (bounds.get(rules) ?? unbounded)((each) => own.test(each))(text);
  const own = up !== '.' && test(rules, `${up}/`).ignored ? broughtBack(rules, up) : rules;
  const { ignored, unignored } = test(own, asked);
  return ignored ? true : unignored ? false : undefined;
};

const brought = new WeakMap<Ignore, Map<string, Ignore>>();
/** The same rules, but for a folder and those above it, which are not ignored. */
const broughtBack = (rules: Ignore, folder: string): Ignore => {
  const known = brought.get(rules) ?? new Map<string, Ignore>();
  brought.set(rules, known);
  const parts = folder.split('/');
  const folders = parts.map(
    (_, index) =>
      `!/${parts
        .slice(0, index + 1)
        .join('/')
        .replace(/[\\[\]*? ]/g, '\\$&')}/`,
  );
  const made = known.get(folder) ?? ignore(EXACTLY).add(rules).add(folders);
  known.set(folder, made);
  return made;
};

type Test = ReturnType<Ignore['test']>;
type Bound = (test: (text: string) => Test) => (text: string) => Test;
/** A repository may bring rules for which a path takes for ever. */
const bounds = new WeakMap<Ignore, Bound>();
const unbounded: Bound = (test) => test;

const rulesOf = async (file: string): Promise<Ignore | undefined> => {
  const bytes = readable(await readSmall(file));
  if (!bytes?.toString('latin1').trim()) return undefined;
  const text = bytewise(bytes.subarray(bytes.indexOf(MARK) === 0 ? MARK.length : 0));
  const rules = ignore(EXACTLY).add(text);
  const { bounded } = effortOf(text.split('\n'));
  bounds.set(rules, (test) => bounded(test, () => tooHardRules(file)));
  return rules;
};
/** As ripgrep, up to the first line that is no UTF-8. */
const readable = (bytes: Buffer | undefined): Buffer | undefined => {
  if (!bytes || isUtf8(bytes)) return bytes;
  let end = 0;
  for (let feed = bytes.indexOf('\n'); feed >= 0 && isUtf8(bytes.subarray(end, feed)); feed = bytes.indexOf('\n', end)) end = feed + 1;
  return bytes.subarray(0, end);
};
const tooHardRules = (file: string): ToolError =>
  new ToolError('TIMEOUT', `The ignore rules in ${shownName(file)} take too long to match.`, {
    fix: 'Search a folder that they do not reach, or make them simpler.',
  });
const EXACTLY = { ignorecase: false, allowRelativePaths: true };
const MARK = Buffer.from('\ufeff');

/** Git compares bytes: `?` is one of them. Those that are no ASCII become characters that mean nothing to anybody. */
const bytewise = (bytes: Buffer): string => bytes.toString('latin1').replace(/[\x80-\xff]/g, (byte) => String.fromCharCode(0xe000 + byte.charCodeAt(0)));

// In a worktree `.git` is a file that names the real place, and the excludes lie with the main repository.
const excludeFile = async (folder: string): Promise<string> => {
  const git = join(folder, '.git');
  const named = /^gitdir: (.+)$/m.exec(await readText(git))?.[1];
  if (named === undefined) return join(git, 'info/exclude');
  const place = resolve(folder, named.trim());
  return join(resolve(place, (await readText(join(place, 'commondir'))).trim()), 'info/exclude');
};

const readText = async (file: string): Promise<string> => (await readSmall(file))?.toString() ?? '';

const globalExcludes = async (environment: Environment): Promise<Ignore | undefined> => {
  const file = (await personalFiles(environment)).at(-1);
  return file === undefined ? undefined : rulesOf(file);
};

/** What is read of the user's own: configuration of git, then the excludes file. */
export const personalFiles = async (environment: Environment): Promise<readonly string[]> => {
  const home = environment['HOME'] ?? homedir();
  const config = environment['XDG_CONFIG_HOME'] || join(home, '.config');
  const files = [join(home, '.gitconfig'), join(config, 'git/config')];
  for (const file of files) {
    const named = /^\s*excludesfile\s*=\s*"?\s*(\S+?)\s*"?\s*$/im.exec(await readText(file))?.[1];
    if (named !== undefined) return [...files, named.startsWith('~/') ? join(home, named.slice(2)) : named];
  }
  return [...files, join(config, 'git/ignore')];
};
type Environment = Readonly<Record<string, string | undefined>>;

/** The files of rules that a folder may have. */
export const ruleFiles = async (folder: string): Promise<readonly string[]> => [
  join(folder, '.gitignore'),
  ...((await hasGit(folder)) ? [await excludeFile(folder)] : []),
];
