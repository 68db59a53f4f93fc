/** One writer a transcript: a file beside it that names the process. */
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { CastError, type Clock } from '../../kernel/index.ts';
import { LOCK_PAUSE_MS, LOCK_TRIES } from './limits.ts';

/** Throws SESSION_BUSY naming session and process. */
export const takeLock = async (file: string, session: string, clock: Clock): Promise<() => void> => {
  for (let tries = 1; ; tries++) {
    if (create(file)) return () => rmSync(file, { force: true });
    const holder = holderOf(file);
    // Whoever held it is gone; a file without a number is one that is just being written.
    if (holder !== undefined && !isAlive(holder)) rmSync(file, { force: true });
    else if (tries >= LOCK_TRIES)
      throw new CastError(
        'SESSION_BUSY',
        `the transcript of session ${session} is being written by another process${holder === undefined ? '' : ` (${holder})`}`,
      );
    else await clock.sleep(LOCK_PAUSE_MS);
  }
};

const create = (file: string): boolean => {
  try {
    const handle = openSync(file, 'wx', 0o600);
    writeSync(handle, `${process.pid}\n`);
    closeSync(handle);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
};
const holderOf = (file: string): number | undefined => {
  try {
    const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
};
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};
