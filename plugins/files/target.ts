import { constants, type BigIntStats } from 'node:fs';
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises';
import { relative } from 'node:path';
import { type Ids, type Powers, type ToolCall, ToolError } from '../../kernel/index.ts';
import { elsewhere } from './folder.ts';
import type { LineCache } from './hashline/line-cache.ts';
import type { Seen } from './seen.ts';

/** What the three tools share within a session. */
export interface Desk {
  readonly fs: Powers['fs'];
  readonly ids: Ids;
  readonly seen: Seen;
  /** There in the mode `hashline` alone. */
  readonly lines: LineCache | undefined;
}

export interface Target {
  /** Canonical. */
  readonly path: string;
  /** As the model is told: relative to the working directory when it lies beneath it. */
  readonly shown: string;
  /** Undefined: nothing is there. */
  readonly stat: BigIntStats | undefined;
}

/** Finds what a path means now. Refuses when that is not what was checked before the call ran. */
export const locate = async (path: string, call: ToolCall, desk: Desk): Promise<Target> => {
  if (path.trim() === '') throw new ToolError('INVALID_ARGUMENT', 'The path is empty.');
  const [canonical, base] = await Promise.all([desk.fs.canonical(path, call.cwd), desk.fs.canonical('.', call.cwd)]);
  const checked = call.paths[0];
  if (checked !== undefined && checked !== canonical) throw elsewhere(path);
  return { path: canonical, shown: shownPath(base, canonical), stat: await statOf(canonical) };
};

export const shownPath = (base: string, path: string): string => {
  const way = relative(base, path);
  if (way === '') return '.';
  return way === '..' || way.startsWith('../') || way.startsWith('..\\') ? path : way;
};

const statOf = async (path: string): Promise<BigIntStats | undefined> => {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

/** Refuses whatever is no regular file: opening a pipe would wait for ever, a device may act. */
export const mustBeRegular = (stat: BigIntStats, shown: string): void => {
  if (stat.isFile()) return;
  if (stat.isDirectory()) throw new ToolError('INVALID_ARGUMENT', `${shown} is a folder.`, { fix: 'Name a file.' });
  throw new ToolError('INVALID_ARGUMENT', `${shown} is ${kindOf(stat)}, not a regular file.`);
};

const kindOf = (stat: BigIntStats): string => {
  if (stat.isFIFO()) return 'a pipe';
  if (stat.isSocket()) return 'a socket';
  return stat.isSymbolicLink() ? 'a symbolic link that leads in a circle' : 'a device';
};

/** Opens a regular file at a canonical path and nothing else, even if the path was swapped since it was looked at. */
export const openRegular = async (path: string, shown: string): Promise<{ handle: FileHandle; stat: BigIntStats }> => {
  // Windows has neither flag.
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);
  const handle = await open(path, flags);
  try {
    const stat = await handle.stat({ bigint: true });
    mustBeRegular(stat, shown);
    // A folder on the way may have been swapped for a link; that it is back by now would not help.
    const [real, now] = await Promise.all([realpath(path), lstat(path, { bigint: true })]);
    if (real !== path || now.ino !== stat.ino || now.dev !== stat.dev) throw elsewhere(shown);
    return { handle, stat };
  } catch (error) {
    await handle.close();
    throw error;
  }
};

const CHUNK = 1 << 16;

/** The bytes of a file from its beginning, at most `max`; `expected` is how many are likely. */
export const readUpTo = async (handle: FileHandle, max: number, signal: AbortSignal, expected = CHUNK): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let total = 0;
  while (total < max) {
    signal.throwIfAborted();
    // One byte more than expected shows the end of the file without growing.
    const chunk = Buffer.allocUnsafe(Math.min(max - total, Math.max(CHUNK, expected + 1 - total)));
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, total);
    if (bytesRead === 0) break;
    chunks.push(chunk.subarray(0, bytesRead));
    total += bytesRead;
  }
  return Buffer.concat(chunks, total);
};

/** Largest file, in bytes, that is changed or compared as a whole. */
export const MAX_WHOLE = 64 * 1024 * 1024;

/** The whole content of a regular file with the stat that belongs to it. */
export const readWhole = async (target: Target, signal: AbortSignal): Promise<{ bytes: Buffer; stat: BigIntStats }> => {
  const { handle, stat } = await openRegular(target.path, target.shown);
  try {
    if (stat.size > MAX_WHOLE) throw new ToolError('INVALID_ARGUMENT', `${target.shown} is larger than ${MAX_WHOLE} bytes, too large to be changed as text.`);
    return { bytes: await readUpTo(handle, MAX_WHOLE, signal, Number(stat.size)), stat };
  } finally {
    await handle.close();
  }
};
