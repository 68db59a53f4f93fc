/** Where older versions kept sessions: files in a folder for each working directory. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '../../kernel/index.ts';

/** Written once they have been taken in. */
const LEGACY_MARK = 'older-sessions.json';

/** Folders with what has not been taken in; most homes never have any. One look at one folder, for every start passes here. */
const legacyFolders = (home: string): readonly string[] => {
  const folder = join(home, 'sessions');
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.some(({ name }) => name === LEGACY_MARK) ? [] : entries.flatMap((entry) => (entry.isDirectory() ? [join(folder, entry.name)] : []));
  } catch {
    return [];
  }
};

/** `home` is `$CAST_HOME`; `say` is told what came of it. */
export const takeOlder = async (home: string, store: () => Promise<Store>, say: (text: string) => void): Promise<void> => {
  const folders = legacyFolders(home);
  if (folders.length === 0) return;
  const { takeLegacy } = await import('./legacy.ts');
  await takeLegacy(await store(), home, { folders, mark: join(home, 'sessions', LEGACY_MARK) }, say);
};
