/** Puts one file back: whole, at its place, and only over what has been looked at. */
import { randomUUID } from 'node:crypto';
import { mkdir, open, realpath, rename, rm, rmdir, symlink, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { messageOf } from '../../kernel/index.ts';
import { type FileState, isSame, type Look, lookAt } from './state.ts';

/** The reason when it could not be done; nothing was changed then. */
export const restore = async (path: string, now: FileState, to: Look): Promise<string | undefined> => {
  const draft = join(dirname(path), `.cast-${randomUUID()}.tmp`);
  try {
    if (to.state.kind !== 'absent') await mkdir(dirname(path), { recursive: true });
    const folder = await realpath(dirname(path)).catch(() => undefined);
    if (folder !== dirname(path)) return 'its folder leads to another place now';
    if (to.state.kind === 'link') await symlink(to.state.to, draft);
    else if (to.state.kind === 'file') await fill(draft, to.state.mode, to.bytes ?? Buffer.alloc(0));
    if (!isSame((await lookAt(path)).state, now)) return 'it was changed at this moment';
    await (to.state.kind === 'absent' ? unlink(path) : rename(draft, path));
    return undefined;
  } catch (error) {
    return messageOf(error);
  } finally {
    await rm(draft, { force: true }).catch(() => undefined);
  }
};

const fill = async (path: string, mode: number, bytes: Buffer): Promise<void> => {
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.chmod(mode);
    await handle.datasync();
  } finally {
    await handle.close();
  }
};

/** Folders that were made along with files; one that holds anything stays. */
export const removeEmpty = async (folders: readonly string[]): Promise<void> => {
  for (const folder of [...new Set(folders)].toSorted((one, other) => other.length - one.length)) {
    const isOwn = (await realpath(dirname(folder)).catch(() => undefined)) === dirname(folder);
    if (isOwn && basename(folder) !== '') await rmdir(folder).catch(() => undefined);
  }
};
