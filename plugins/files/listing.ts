import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolError } from '../../kernel/index.ts';
import { cutBytes, MAX_BYTES, MAX_LINES } from './page.ts';
import type { Target } from './target.ts';

/** The sorted names of a folder, `/` after folders, from `offset` (from 1) on. */
export const listing = async (target: Target, offset: number, limit: number): Promise<string> => {
  const entries = (await readdir(target.path, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1));
  if (entries.length === 0) return `${target.shown} is an empty folder.`;
  if (offset > entries.length) throw new ToolError('INVALID_ARGUMENT', `offset ${offset} is past the end: ${target.shown} has ${entries.length} entries.`);
  const page = entries.slice(offset - 1, offset - 1 + Math.min(limit, MAX_LINES));
  const names = await Promise.all(page.map(async (entry) => ((await isFolder(target.path, entry)) ? `${entry.name}/` : entry.name)));
  const next = offset + page.length;
  const hint = next <= entries.length ? [`(Entries ${offset}-${next - 1} of ${entries.length}. Go on with offset ${next}.)`] : [];
  return [cutBytes(names.join('\n'), MAX_BYTES), ...hint].join('\n');
};

const isFolder = async (folder: string, entry: Dirent): Promise<boolean> => {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  const target = await stat(join(folder, entry.name)).catch(() => undefined);
  return target?.isDirectory() ?? false;
};
