/** What a shell command changed in a git repository, found by lists before and after it. */
import { dirname, join } from 'node:path';
import type { Git, Indexed } from './git.ts';
import type { Images } from './images.ts';
import type { IndexLists } from './index-lists.ts';
import { LIMITS } from './limits.ts';
import type { Change, Tree, Untracked } from './points.ts';
import { ABSENT, type FileState, hashOf, isSame, lookAt, statOf } from './state.ts';

export interface TreeChanges {
  readonly changes: readonly Change[];
  readonly untracked: readonly Untracked[];
  readonly folders: readonly string[];
}

/** What is not as the index says is kept now; the rest is in the repository. */
export const snapshot = async (git: Git, top: string, images: Images, lists: IndexLists, since: number): Promise<Tree> => {
  const [{ hash }, paths] = await Promise.all([lists.now(git, images), git.dirty()]);
  return { top, index: hash, dirty: await keepAll(top, paths, images), since };
};
const keepAll = async (top: string, paths: readonly string[], images: Images): Promise<Readonly<Record<string, FileState>>> => {
  const states: [string, FileState][] = [];
  let bytes = 0;
  for (const path of paths) {
    bytes += Number((await statOf(join(top, path)))?.size ?? 0);
    // An unknown one is never put back or removed, so nothing is lost by not knowing it.
    states.push([path, states.length < LIMITS.dirtyFiles && bytes <= LIMITS.dirtyBytes ? await keep(join(top, path), images) : UNKNOWN]);
  }
  return Object.fromEntries(states);
};
const UNKNOWN: FileState = { kind: 'other', what: 'one of too many changed files', mark: 'unknown' };

export const keep = async (path: string, images: Images): Promise<FileState> => {
  const { state, bytes } = await lookAt(path);
  if (state.kind === 'file' && bytes) await images.put(state.hash, bytes);
  return state;
};

/** What differs from the snapshot now. */
export const changesSince = async (git: Git, tree: Tree, images: Images, lists: IndexLists): Promise<TreeChanges> => {
  const was = await lists.earlier(tree.index, images);
  const [now, dirty] = await Promise.all([lists.now(git, images), git.dirty()]);
  const is = now.hash === tree.index ? was : now.entries;
  const suspects = suspectsOf(was, is, tree, dirty);
  const looked = new Map<string, FileState>();
  for (const path of suspects.slice(0, LIMITS.changedFiles)) looked.set(path, await keep(join(tree.top, path), images));
  const before = await statesBefore([...looked.keys()], was, looked, tree, git, images);
  const untracked: Untracked[] = suspects.slice(LIMITS.changedFiles).map((path) => ({ path: join(tree.top, path), why: 'the command changed too many files' }));
  const changes: Change[] = [];
  for (const [path, after] of looked) {
    const state = before.get(path);
    const whole = join(tree.top, path);
    if (!state) untracked.push({ path: whole, why: 'its earlier content is not in the repository as it was on disk' });
    else if (!isSame(state, after)) changes.push({ path: whole, before: state, after });
  }
  return { ...(await withoutStrangers(changes, untracked, tree)), folders: await foldersMade(changes, tree) };
};

const suspectsOf = (was: ReadonlyMap<string, Indexed>, is: ReadonlyMap<string, Indexed>, tree: Tree, dirty: readonly string[]): readonly string[] => {
  const found = new Set([...Object.keys(tree.dirty), ...dirty]);
  if (is !== was) {
    for (const [path, entry] of was) if (!isSameEntry(entry, is.get(path))) found.add(path);
    for (const path of is.keys()) if (!was.has(path)) found.add(path);
  }
  // Repositories inside of this one have an index of their own.
  return [...found].filter((path) => was.get(path)?.mode !== GITLINK && !path.endsWith('/'));
};
const isSameEntry = (one: Indexed, other: Indexed | undefined): boolean => one.id === other?.id && one.mode === other.mode;
const GITLINK = '160000';

/** Undefined for what was as the index says, but not byte for byte: git converts line ends, and filters do as they like. */
const statesBefore = async (
  paths: readonly string[],
  was: ReadonlyMap<string, Indexed>,
  now: ReadonlyMap<string, FileState>,
  tree: Tree,
  git: Git,
  images: Images,
): Promise<ReadonlyMap<string, FileState | undefined>> => {
  const known = (path: string): FileState | undefined => (Object.hasOwn(tree.dirty, path) ? tree.dirty[path] : was.has(path) ? undefined : ABSENT);
  const found = new Map(paths.map((path) => [path, known(path)]));
  const clean = paths.filter((path) => !found.get(path));
  const blobs = await git.blobs([...new Set(clean.flatMap((path) => was.get(path)?.id ?? []))]);
  for (const path of clean) {
    const { id = '', mode = '', size } = was.get(path) ?? {};
    const bytes = blobs.get(id);
    if (bytes && bytes.length === size) found.set(path, await stateOf(bytes, mode, now.get(path), images));
  }
  return found;
};

/** Git knows of a mode only whether a file may be run; the rest is as it is. */
const stateOf = async (bytes: Buffer, mode: string, now: FileState | undefined, images: Images): Promise<FileState> => {
  if (mode === '120000') return { kind: 'link', to: bytes.toString('utf8') };
  const hash = hashOf(bytes);
  await images.put(hash, bytes);
  return { kind: 'file', hash, mode: modeLike(now, mode === '100755'), size: bytes.length };
};

const modeLike = (now: FileState | undefined, runs: boolean): number => {
  if (now?.kind === 'file' && ((now.mode & 0o100) !== 0) === runs) return now.mode;
  return runs ? 0o755 : 0o644;
};

/** A new file that is older than the command was moved here, or was ignored before: it is somebody's, and is not removed. */
const withoutStrangers = async (
  changes: readonly Change[],
  untracked: readonly Untracked[],
  { since }: Tree,
): Promise<{ changes: readonly Change[]; untracked: readonly Untracked[] }> => {
  const gone = new Set(changes.flatMap(({ before, after }) => (after?.kind !== 'file' && before.kind === 'file' ? [before.hash] : [])));
  const own: Change[] = [];
  const strange: Untracked[] = [];
  for (const change of changes) {
    const { path, before, after } = change;
    const isMoved = after?.kind === 'file' && gone.has(after.hash);
    if (before.kind !== 'absent' || isMoved || (await isBornSince(path, since))) own.push(change);
    else strange.push({ path, why: 'it is older than the command that brought it here' });
  }
  return { changes: own, untracked: [...untracked, ...strange] };
};

/** Milliseconds by which a file system's clock may be behind. */
const SLACK_MS = 20;
/** False also where the file system does not say. */
const isBornSince = async (path: string, since: number): Promise<boolean> => {
  const stat = await statOf(path);
  return stat !== undefined && stat.birthtimeMs > 0n && Number(stat.birthtimeMs) >= since - SLACK_MS;
};

const foldersMade = async (changes: readonly Change[], { top, since }: Tree): Promise<readonly string[]> => {
  const found = new Set<string>();
  for (const { path, before } of changes) {
    if (before.kind !== 'absent') continue;
    for (let folder = dirname(path); folder.startsWith(`${top}/`) && !found.has(folder) && (await isBornSince(folder, since)); folder = dirname(folder))
      found.add(folder);
  }
  return [...found].toSorted((one, other) => one.length - other.length);
};
