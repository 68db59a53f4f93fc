import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolError } from '../../kernel/index.ts';
import { openFolder } from './folder.ts';
import { MAX_BYTES, MAX_LINES } from './page.ts';
import type { Target } from './target.ts';

/** The sorted names of a folder, `/` after folders, from `offset` (from 1) on. */
export const listing = async (target: Target, offset: number, limit: number): Promise<string> => {
  const entries = (await entriesOf(target.path)).sort((a, b) => (a.name < b.name ? -1 : 1));
  if (entries.length === 0) return `${target.shown} is an empty folder.`;
  if (limit === 0) return `${target.shown} has ${entries.length} ${entries.length === 1 ? 'entry' : 'entries'}; none were asked for.`;
  if (offset > entries.length) throw new ToolError('INVALID_ARGUMENT', `offset ${offset} is past the end: ${target.shown} has ${entries.length} entries.`);
  const page = entries.slice(offset - 1, offset - 1 + Math.min(limit, MAX_LINES));
  const names = await Promise.all(page.map(async (entry) => ((await isFolder(target.path, entry)) ? `${entry.name}/` : entry.name)));
  const shown = within(names, MAX_BYTES);
  const next = offset + shown.length;
  const hint = next <= entries.length ? [`(Entries ${offset}-${next - 1} of ${entries.length}. Go on with offset ${next}.)`] : [];
  return [...shown, ...hint].join('\n');
};

/** As many names as have room, line feeds included. */
const within = (names: readonly string[], most: number): readonly string[] => {
  let bytes = 0;
  const end = names.findIndex((name) => (bytes += Buffer.byteLength(name) + 1) > most);
  return end < 0 ? names : names.slice(0, end);
};

const entriesOf = async (path: string): Promise<Dirent[]> => {
  const folder = await openFolder(path);
  try {
    return await readdir(folder.at, { withFileTypes: true });
  } finally {
    await folder.close();
  }
};

const isFolder = async (folder: string, entry: Dirent): Promise<boolean> => {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  const target = await stat(join(folder, entry.name)).catch(() => undefined);
  return target?.isDirectory() ?? false;
};
