/** Changes to a small file that several processes share: under a lock, atomic, readable by its owner alone. */
import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CastError, type ErrorCode, messageOf } from '../errors.ts';
import type { Clock } from '../plugin.ts';

const WAIT_MS = 5_000;
const POLL_MS = 10;
/** A change takes milliseconds: a lock this old was left behind by a process that died. */
const STALE_MS = 30_000;
/** A process that was halted for so long that its lock was taken from it begins anew. */
const MAX_TRIES = 3;

export interface LockedFile {
  readonly file: string;
  readonly clock: Clock;
  /** Code of the error when the lock cannot be had. */
  readonly code: ErrorCode;
}

/**
 * Runs `change` while no other process changes the file, and writes the text that it returns. Where the lock was lost meanwhile it runs
 * again. A link to a file elsewhere stays a link.
 */
export const changeLocked = async (given: LockedFile, change: () => string | Promise<string>): Promise<void> => {
  const target = { ...given, file: await realpath(given.file).catch(() => given.file) };
  const lock = `${target.file}.lock`;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    if (await changeOnce(target, lock, change)) return;
  }
  throw heldByOthers(target, lock);
};

const changeOnce = async (target: LockedFile, lock: string, change: () => string | Promise<string>): Promise<boolean> => {
  const mine = randomUUID();
  await acquire(lock, mine, target);
  try {
    const text = await change();
    if (!(await isMine(lock, mine))) return false;
    await replaceFile(target, text);
    return true;
  } finally {
    if (await isMine(lock, mine)) await rm(lock, { force: true });
  }
};

/** Readers see the old text or the new one, never a part. */
const replaceFile = async (target: LockedFile, text: string): Promise<void> => {
  const draft = `${target.file}.${process.pid}.tmp`;
  try {
    // What a process that died left under this name, or a link that somebody put there, is not written through.
    await rm(draft, { force: true });
    await writeFile(draft, text, { mode: 0o600, flag: 'wx' });
    await rename(draft, target.file);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw cannotBeWritten(target, error);
  }
};

const acquire = async (lock: string, mine: string, target: LockedFile): Promise<void> => {
  await mkdir(dirname(target.file), { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw cannotBeWritten(target, error);
  });
  for (let waited = 0; ; waited += POLL_MS) {
    if (await take(lock, mine, target)) return;
    if (waited >= WAIT_MS) throw heldByOthers(target, lock);
    if (await isStale(lock, target.clock.now())) await breakLock(lock, mine, target);
    await target.clock.sleep(POLL_MS);
  }
};

/** One process at a time looks again and removes it: of two that had both seen it old, the second would remove the lock of the first. */
const breakLock = async (lock: string, mine: string, target: LockedFile): Promise<void> => {
  const guard = `${lock}.stale`;
  if (!(await take(guard, mine, target))) {
    if (await isStale(guard, target.clock.now())) await rm(guard, { force: true });
    return;
  }
  try {
    if (await isStale(lock, target.clock.now())) await rm(lock, { force: true });
  } finally {
    await rm(guard, { force: true });
  }
};

const take = async (lock: string, mine: string, target: LockedFile): Promise<boolean> => {
  try {
    const handle = await open(lock, 'wx', 0o600);
    try {
      await handle.writeFile(mine);
    } catch (error) {
      // Nobody would know it as their own, so nobody would remove it.
      await rm(lock, { force: true });
      throw error;
    } finally {
      await handle.close();
    }
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw cannotBeWritten(target, error);
  }
};
const isMine = async (lock: string, mine: string): Promise<boolean> => (await readFile(lock, 'utf8').catch(() => '')) === mine;

const isStale = async (lock: string, now: number): Promise<boolean> => {
  try {
    return now - (await stat(lock)).mtimeMs > STALE_MS;
  } catch {
    // Released since.
    return false;
  }
};

const heldByOthers = ({ file, code }: LockedFile, lock: string): CastError =>
  new CastError(code, `${file} is being changed by another process (${lock} exists)`, {
    fix: `Try again; when no other cast is running, remove ${lock}.`,
  });

const cannotBeWritten = ({ file, code }: LockedFile, error: unknown): CastError =>
  new CastError(code, `${file} cannot be written: ${messageOf(error)}`, { cause: error, fix: `Make ${dirname(file)} writable for yourself.` });
