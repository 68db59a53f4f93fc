import { open, rename, rm } from 'node:fs/promises';
import { CastError, messageOf } from '../../kernel/index.ts';
import { usageError } from '../arguments.ts';

/** The file is there whole, or not at all; what was said is for its owner's eyes. */
export const writeWhole = async (file: string, parts: AsyncIterable<string>): Promise<void> => {
  const unfinished = `${file}.part-${process.pid}`;
  try {
    const place = await open(file, 'wx', 0o600);
    await place.close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw usageError(`${file} is there already`, 'Name another file.');
    throw usageError(`${file} cannot be written: ${messageOf(error)}`, 'Name another file.');
  }
  try {
    const handle = await open(unfinished, 'wx', 0o600);
    try {
      for await (const part of parts) await handle.write(part);
    } finally {
      await handle.close();
    }
    await rename(unfinished, file);
  } catch (error) {
    await Promise.all([unfinished, file].map((path) => rm(path, { force: true })));
    if (error instanceof CastError) throw error;
    throw usageError(`${file} cannot be written: ${messageOf(error)}`, 'Check the folder and the space on its disk.');
  }
};
