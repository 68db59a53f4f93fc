/** Small files of the cache. Written at one go: the process may end at any moment and must leave no half of one. */
import { accessSync, constants, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Throws when there can be no file. */
export const requireFolder = (file: string): void => {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  accessSync(dirname(file), constants.W_OK);
};

/** Readable by its owner alone. */
export const replaceFile = (file: string, text: string): void => {
  const draft = `${file}.${process.pid}.tmp`;
  requireFolder(file);
  try {
    writeFileSync(draft, text, { mode: 0o600 });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
};
