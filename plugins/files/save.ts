import type { BigIntStats } from 'node:fs';
import { type FileHandle, link, lstat, mkdir, open, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ToolError } from '../../kernel/index.ts';
import type { Desk, Target } from './target.ts';

/**
 * Puts the whole content in place at once: a file beside it takes its name when it is complete, so nobody ever sees half of it
 * and a failure leaves the old one. `target.stat` is what the caller has seen; refuses when something else is there now.
 */
export const save = async (target: Target, bytes: Uint8Array, desk: Desk, signal: AbortSignal): Promise<BigIntStats> => {
  const folder = dirname(target.path);
  await makeFolder(folder);
  const draft = join(folder, `.cast-${desk.ids.next('draft')}.tmp`);
  // An existing file's content is nobody else's business before it has the old one's mode.
  const handle = await open(draft, 'wx', target.stat ? 0o600 : 0o666);
  try {
    const stat = await fill(handle, bytes, target.stat);
    signal.throwIfAborted();
    await mustBeUntouched(target, folder);
    await (target.stat ? rename(draft, target.path) : putNew(draft, target));
    return stat;
  } finally {
    await rm(draft, { force: true });
  }
};

/** With its parents. The recursive `mkdir` of Node never returns where the file system says of a new folder that its parent is missing, as /proc does. */
const makeFolder = async (folder: string): Promise<void> => {
  const make = (): Promise<void> =>
    mkdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  try {
    await make();
  } catch (error) {
    const parent = dirname(folder);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === folder) throw error;
    await makeFolder(parent);
    await make();
  }
};

const fill = async (handle: FileHandle, bytes: Uint8Array, like: BigIntStats | undefined): Promise<BigIntStats> => {
  try {
    await handle.writeFile(bytes);
    if (like) await takeOver(handle, like);
    await handle.datasync();
    return await handle.stat({ bigint: true });
  } finally {
    await handle.close();
  }
};

const takeOver = async (handle: FileHandle, like: BigIntStats): Promise<void> => {
  const own = await handle.stat({ bigint: true });
  // Only a privileged process may give a file away; for others the new file is theirs.
  if (own.uid !== like.uid || own.gid !== like.gid) await handle.chown(Number(like.uid), Number(like.gid)).catch(() => undefined);
  await handle.chmod(Number(like.mode & 0o7777n));
};

const mustBeUntouched = async (target: Target, folder: string): Promise<void> => {
  const now = await lstat(target.path, { bigint: true }).catch(() => undefined);
  if (stampOf(now) === stampOf(target.stat) && (await realpath(folder)) === folder) return;
  throw changedMeanwhile(target);
};
const stampOf = (stat: BigIntStats | undefined): string => (stat ? `${stat.ino} ${stat.size} ${stat.mtimeNs}` : 'nothing');
const changedMeanwhile = (target: Target): ToolError =>
  new ToolError('CONFLICT', `${target.shown} was changed by someone else at this moment; nothing was written.`, {
    retryable: true,
    fix: 'Read it again, then repeat the change.',
  });

// Unlike a rename, a hard link never replaces what appeared in the meantime. Not every file system has them.
const putNew = async (draft: string, target: Target): Promise<void> => {
  try {
    await link(draft, target.path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw changedMeanwhile(target);
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EXDEV', 'EMLINK'].includes(code ?? '')) throw error;
    await rename(draft, target.path);
  }
};
