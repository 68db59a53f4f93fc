/** Changes to a small file that several processes share: under a lock, atomic, readable by its owner alone. */
import { mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CastError, type ErrorCode } from '../errors.ts';
import type { Clock } from '../plugin.ts';

const WAIT_MS = 5_000;
const POLL_MS = 10;
/** A change takes milliseconds: a lock this old was left behind by a process that died. */
const STALE_MS = 30_000;

export interface LockedFile {
  readonly file: string;
  readonly clock: Clock;
  /** Code of the error when the lock cannot be had. */
  readonly code: ErrorCode;
}

/** Runs `change` while no other process changes the file, and writes the text that it returns. */
export const changeLocked = async (target: LockedFile, change: () => string | Promise<string>): Promise<void> => {
  await mkdir(dirname(target.file), { recursive: true, mode: 0o700 });
  const lock = `${target.file}.lock`;
  await acquire(lock, target);
  try {
    await replaceFile(target.file, await change());
  } finally {
    await rm(lock, { force: true });
  }
};

/** Readers see the old text or the new one, never a part. */
const replaceFile = async (file: string, text: string): Promise<void> => {
  const draft = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(draft, text, { mode: 0o600 });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
};

const acquire = async (lock: string, target: LockedFile): Promise<void> => {
  for (let waited = 0; ; waited += POLL_MS) {
    if (await take(lock)) return;
    if (await isStale(lock, target.clock.now())) await rm(lock, { force: true });
    else if (waited >= WAIT_MS) {
      throw new CastError(target.code, `${target.file} is being changed by another process (${lock} exists)`, {
        fix: `Try again; when no other cast is running, remove ${lock}.`,
      });
    } else await target.clock.sleep(POLL_MS);
  }
};

const take = async (lock: string): Promise<boolean> => {
  try {
    const handle = await open(lock, 'wx', 0o600);
    await handle.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
};

const isStale = async (lock: string, now: number): Promise<boolean> => {
  try {
    return now - (await stat(lock)).mtimeMs > STALE_MS;
  } catch {
    // Released since.
    return false;
  }
};
