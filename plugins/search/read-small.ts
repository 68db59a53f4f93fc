import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { ToolError } from '../../kernel/index.ts';
import { LIMITS } from './limits.ts';
import { onDisk, shownName } from './name.ts';

/** A file of rules or settings. Undefined when it is missing, or no regular file: a pipe would never end. */
export const readSmall = async (path: string): Promise<Buffer | undefined> => {
  const file = await open(onDisk(path), constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined);
  if (!file) return undefined;
  try {
    const found = await file.stat();
    if (!found.isFile()) return undefined;
    if (found.size > LIMITS.rules)
      throw new ToolError('INVALID_ARGUMENT', `${shownName(path)} is too large for a file of rules: over ${LIMITS.rules / 1024 / 1024} MiB.`);
    return await file.readFile();
  } finally {
    await file.close();
  }
};
