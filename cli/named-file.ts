/** Files that are named on the command line. */
import { open } from 'node:fs/promises';
import { constants } from 'node:fs';

/** The bytes of a regular file of at most `maxBytes`. A pipe is not waited for and a device not read. Throws an Error that says what is wrong. */
export const readNamedFile = async (path: string, maxBytes: number): Promise<Buffer> => {
  // Windows does not have the flag.
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw new Error(stat.isDirectory() ? 'it is a folder' : 'it is no regular file');
    if (stat.size > maxBytes) throw new Error(`it has ${stat.size} bytes, and at most ${maxBytes} are read`);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
};
