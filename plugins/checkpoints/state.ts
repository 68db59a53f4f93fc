/** What is at a path: enough to put it back, and to see whether it is still that. */
import type { BigIntStats } from 'node:fs';
import { constants } from 'node:fs';
import { lstat, open, readlink } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { LIMITS } from './limits.ts';

export type FileState =
  | { readonly kind: 'absent' }
  | { readonly kind: 'file'; readonly hash: string; readonly mode: number; readonly size: number }
  | { readonly kind: 'link'; readonly to: string }
  /** A folder, a device, or a file that is too large to be kept; `mark` tells whether it is still the same. */
  | { readonly kind: 'other'; readonly what: string; readonly mark: string };

export interface Look {
  readonly state: FileState;
  /** Of a file. */
  readonly bytes?: Buffer;
}

export const ABSENT: FileState = { kind: 'absent' };
export const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

export const statOf = async (path: string): Promise<BigIntStats | undefined> => {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
};
const isMissing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

/** A change of the content cannot hide from it: the change time is the system's own. */
export const markOf = (stat: BigIntStats): string => `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;

/** What is at a path now. A file is read whole, when it is small enough to be kept. */
export const lookAt = async (path: string): Promise<Look> => {
  const stat = await statOf(path);
  if (!stat) return { state: ABSENT };
  if (stat.isSymbolicLink()) return { state: { kind: 'link', to: await readlink(path) } };
  if (!stat.isFile()) return { state: { kind: 'other', what: stat.isDirectory() ? 'a folder' : 'no regular file', mark: `${stat.ino}` } };
  if (stat.size > LIMITS.fileBytes) return { state: tooLarge(stat) };
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EACCES') return undefined;
    throw error;
  });
  if (!handle) return { state: { kind: 'other', what: 'not readable', mark: markOf(stat) } };
  try {
    const bytes = await handle.readFile();
    return { state: { kind: 'file', hash: hashOf(bytes), mode: Number(stat.mode & 0o7777n), size: bytes.length }, bytes };
  } finally {
    await handle.close();
  }
};
const tooLarge = (stat: BigIntStats): FileState => ({ kind: 'other', what: `larger than ${LIMITS.fileBytes} bytes`, mark: markOf(stat) });

export const isSame = (one: FileState, other: FileState): boolean => {
  if (one.kind === 'file' && other.kind === 'file') return one.hash === other.hash && one.mode === other.mode;
  if (one.kind === 'link' && other.kind === 'link') return one.to === other.to;
  if (one.kind === 'other' && other.kind === 'other') return one.mark === other.mark;
  return one.kind === other.kind;
};
