import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ToolError } from '../../kernel/index.ts';

/** A folder that is held, so that it stays the one that was checked even when its path is made to lead elsewhere. */
export interface Folder {
  /** Path to its entries. Where the system has no such path, it is the ordinary one. */
  readonly at: string;
  /** Refuses when it is not, or no longer, at the path that was checked. */
  mustBeThere(): Promise<void>;
  close(): Promise<void>;
}

/** `path` must be canonical. */
export const openFolder = (path: string): Promise<Folder> => hold(path, path);

/** With its parents, as far as they are missing. The recursive `mkdir` of Node never returns where the file system says of a new folder that its parent is missing, as /proc does. */
export const makeFolder = async (path: string): Promise<Folder> => {
  try {
    return await openFolder(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error;
  }
  const parent = await makeFolder(dirname(path));
  try {
    const way = join(parent.at, basename(path));
    await mkdir(way).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    return await hold(way, path);
  } finally {
    await parent.close();
  }
};

const hold = async (way: string, path: string): Promise<Folder> => {
  const handle = await open(way, constants.O_RDONLY | constants.O_DIRECTORY).catch((error: NodeJS.ErrnoException) => {
    // One may be allowed to write into a folder that one may not list.
    if (error.code === 'EACCES') return undefined;
    throw error;
  });
  const folder = await held(handle, path);
  try {
    await folder.mustBeThere();
    return folder;
  } catch (error) {
    await folder.close();
    throw error;
  }
};

const held = async (handle: FileHandle | undefined, path: string): Promise<Folder> => {
  // Linux leads to an open folder by its number, wherever it is moved.
  const byNumber = handle && `/proc/self/fd/${handle.fd}`;
  const isReachable = byNumber !== undefined && (await realpath(byNumber).catch(() => undefined)) !== undefined;
  const at = isReachable ? byNumber : path;
  return {
    at,
    mustBeThere: async () => {
      if ((await realpath(at).catch(() => undefined)) !== path) throw elsewhere(path);
    },
    close: async () => handle?.close(),
  };
};

/** The refusal where a path leads to another place than the one that was checked. */
export const elsewhere = (shown: string): ToolError =>
  new ToolError('CONFLICT', `${shown} leads to another place than when the call was checked.`, { retryable: true, fix: 'Make the call again.' });
