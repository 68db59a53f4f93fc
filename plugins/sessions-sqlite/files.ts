/** The files of the store: where they are, who may read them, and how a damaged one is put out of the way. */
import { chmodSync, closeSync, existsSync, fchmodSync, linkSync, mkdirSync, openSync, renameSync, rmSync, statSync, type BigIntStats } from 'node:fs';
import { dirname, join } from 'node:path';

export interface Place {
  readonly home: string;
  readonly folder: string;
  readonly file: string;
}

export const placeOf = (home: string): Place => {
  const folder = join(home, 'sessions');
  return { home, folder, file: join(folder, 'sessions.db') };
};

/** What SQLite puts beside a database: its log, and the index of that log. */
const SIDES = ['-wal', '-shm'] as const;

/** Makes home and folder, and closes them to others. Returns those that could not be closed. */
export const prepareFolders = (place: Place): string[] => {
  mkdirSync(place.folder, { recursive: true, mode: 0o700 });
  return [place.home, place.folder].filter((folder) => !closeToOthers(folder));
};

/** Takes rights away, never adds any: what its owner made read-only stays so. */
const closeToOthers = (path: string): boolean => {
  const { mode } = statSync(path);
  // A sticky folder, such as /tmp, is meant to be shared: others would be locked out of it.
  if ((mode & 0o077) === 0 || (mode & 0o1000) !== 0) return true;
  try {
    chmodSync(path, mode & 0o700);
    return true;
  } catch {
    return false;
  }
};

/** Makes an empty file where there is none. SQLite gives a log the mode of its database, so this one decides for all three. */
export const prepareFile = (file: string): void => {
  try {
    // Never opened when it exists: closing any handle of a database drops the locks that this process has on it.
    const handle = openSync(file, 'wx', 0o600);
    fchmodSync(handle, 0o600);
    closeSync(handle);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  for (const path of [file, ...SIDES.map((side) => file + side)]) {
    if (existsSync(path)) closeToOthers(path);
  }
};

/** Tells one file from another that takes its place; undefined when there is none. */
export const identityOf = (file: string): string | undefined => {
  const found = statSync(file, { throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
};

export const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** A log whose database is gone would be played into the next database of that name, or be thrown away. Returns where it went. */
export const setOrphanAside = (file: string, now: number): string | undefined => {
  if (sizeOf(file) > 0 || sizeOf(`${file}-wal`) === 0) return undefined;
  const aside = freeName(file, now);
  moveSides(file, aside);
  return `${aside}-wal`;
};

/** Puts `next` in the place of `file`, which is kept under another name together with its log. Returns that name. */
export const replaceDamaged = (file: string, next: string, now: number): string => {
  const aside = freeName(file, now);
  // By a link, so that there is a database at every moment: a process that starts just now must not begin an empty one.
  try {
    linkSync(file, aside);
  } catch {
    renameSync(file, aside);
  }
  moveSides(file, aside);
  renameSync(next, file);
  return aside;
};

export const removeDatabase = (file: string): void => {
  for (const path of [file, ...SIDES.map((side) => file + side)]) rmSync(path, { force: true });
};

const moveSides = (from: string, to: string): void => {
  for (const side of SIDES) {
    if (existsSync(from + side)) renameSync(from + side, to + side);
  }
};

const freeName = (file: string, now: number): string => {
  const stamp = new Date(now).toISOString().replaceAll(':', '-');
  const name = `${file}.corrupt-${stamp}`;
  for (let count = 1; ; count += 1) {
    const free = count === 1 ? name : `${name}-${count}`;
    if (!existsSync(free) && !existsSync(`${free}-wal`)) return free;
  }
};

/** Where the database of a file is built anew; beside it, so that a rename puts it in place. */
export const buildingPlace = (file: string): string => join(dirname(file), `sessions.db.new-${process.pid}`);

/** Tells a folder from all others, also when it is moved within its file system; null when it is not there, or the system does not say. */
export const folderOf = (path: string): string | null => {
  const found = path === '' ? undefined : attemptStat(path);
  // Numbers of files are given anew once they are free: the time of birth tells two with the same number apart.
  return found?.isDirectory() && found.birthtimeNs > 0n ? `${found.ino}:${found.birthtimeNs}` : null;
};

const attemptStat = (path: string): BigIntStats | undefined => {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
};
