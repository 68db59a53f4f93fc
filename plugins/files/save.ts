import { constants, type BigIntStats } from 'node:fs';
import { access, type FileHandle, link, lstat, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ToolError } from '../../kernel/index.ts';
import { type Folder, makeFolder } from './folder.ts';
import type { Desk, Target } from './target.ts';

/**
 * Puts the whole content in place at once: a file beside it takes its name when it is complete, so nobody ever sees half of it
 * and a failure leaves the old one. `target.stat` is what the caller has seen; refuses when something else is there now.
 */
export const save = async (target: Target, bytes: Uint8Array, desk: Desk, signal: AbortSignal): Promise<BigIntStats> => {
  if (target.stat) await mustBeWritable(target, target.stat);
  const folder = await makeFolder(dirname(target.path));
  try {
    const place = join(folder.at, basename(target.path));
    const draft = join(folder.at, `.cast-${desk.ids.next('draft')}.tmp`);
    // An existing file's content is nobody else's business before it has the old one's mode.
    const handle = await open(draft, 'wx', target.stat ? 0o600 : 0o666);
    try {
      const stat = await fill(handle, folder, bytes, target.stat);
      signal.throwIfAborted();
      await inTurn(target.path, async () => {
        await folder.mustBeThere();
        await mustBeUntouched(place, target);
        await (target.stat ? rename(draft, place) : putNew(draft, place, target));
      });
      desk.lines?.drop(target.path);
      return stat;
    } finally {
      await rm(draft, { force: true });
    }
  } finally {
    await folder.close();
  }
};

/** Sessions of one process change one file at once: of two that look before either renames, the first would be lost. */
const turns = new Map<string, Promise<unknown>>();
const inTurn = async (path: string, put: () => Promise<void>): Promise<void> => {
  const mine = (turns.get(path) ?? Promise.resolve()).then(put);
  const settled = mine.catch(() => undefined);
  turns.set(path, settled);
  try {
    await mine;
  } finally {
    if (turns.get(path) === settled) turns.delete(path);
  }
};

const fill = async (handle: FileHandle, folder: Folder, bytes: Uint8Array, like: BigIntStats | undefined): Promise<BigIntStats> => {
  try {
    await folder.mustBeThere();
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
  // Only a privileged process may give a file away; for others the new file is theirs, in the old one's group if they belong to it.
  if (own.uid !== like.uid || own.gid !== like.gid) {
    const give = (uid: bigint): Promise<void> => handle.chown(Number(uid), Number(like.gid));
    await give(like.uid).catch(() => give(own.uid).catch(() => undefined));
  }
  const now = await handle.stat({ bigint: true });
  // A program that runs as its owner or group must not begin to run as another.
  const isSame = now.uid === like.uid && now.gid === like.gid;
  await handle.chmod(Number(like.mode & (isSame ? 0o7777n : 0o777n)));
};

// A rename asks the folder alone. Whoever takes the right to write from a file means to keep it as it is.
const mustBeWritable = async ({ path, shown }: Target, { mode }: BigIntStats): Promise<void> => {
  const isWritable =
    (mode & 0o222n) !== 0n &&
    (await access(path, constants.W_OK).then(
      () => true,
      (error: NodeJS.ErrnoException) => !['EACCES', 'EPERM', 'EROFS'].includes(error.code ?? ''),
    ));
  if (isWritable) return;
  throw new ToolError('PERMISSION_DENIED', `${shown} is read-only. Nothing was written.`, {
    fix: 'Leave it as it is, unless the user wants it made writable.',
  });
};

const mustBeUntouched = async (place: string, target: Target): Promise<void> => {
  const now = await lstat(place, { bigint: true }).catch(() => undefined);
  if (stampOf(now) !== stampOf(target.stat)) throw changedMeanwhile(target);
};
// The time of the last change of any kind, too: that of the content can be set back.
const stampOf = (stat: BigIntStats | undefined): string => (stat ? `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}` : 'nothing');
const changedMeanwhile = (target: Target): ToolError =>
  new ToolError('CONFLICT', `${target.shown} was changed by someone else at this moment; nothing was written.`, {
    retryable: true,
    fix: 'Read it again, then repeat the change.',
  });

// Unlike a rename, neither a hard link nor an exclusive creation replaces what appeared in the meantime. Not every file system has links.
const putNew = async (draft: string, place: string, target: Target): Promise<void> => {
  try {
    await link(draft, place).catch(async (error: NodeJS.ErrnoException) => {
      if (!NO_LINKS.has(error.code)) throw error;
      await (await open(place, 'wx')).close();
      await rename(draft, place);
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw changedMeanwhile(target);
    throw error;
  }
};
const NO_LINKS: ReadonlySet<string | undefined> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EXDEV', 'EMLINK']);
