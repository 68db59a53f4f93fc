/** Takes in, once, what older versions kept as files. The files stay as they are. */
import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { isCastError, messageOf, type Store } from '../../kernel/index.ts';
import { findProject } from '../config/project.ts';
import { readNamedFile } from '../named-file.ts';
import { count, oneLine } from '../style.ts';
import type { Transcript } from './jsonl.ts';
import { readLegacy } from './legacy-format.ts';
import { takeIn } from './take-in.ts';

/** Bytes of one file: it is read whole. */
const MAX_BYTES = 400 * 1024 * 1024;
/** Files that are named of those that cannot be read. */
const NAMED = 5;

export interface LegacyFiles {
  readonly folders: readonly string[];
  /** Written when they have been taken in. */
  readonly mark: string;
}

/** `say` is told what came of it. Throws what the store throws; then it is tried again at the next start. */
export const takeLegacy = async (store: Store, castHome: string, { folders, mark }: LegacyFiles, say: (text: string) => void): Promise<void> => {
  const damaged: string[] = [];
  let taken = 0;
  for (const file of await filesIn(folders)) {
    try {
      const transcript = await legacyIn(file, castHome);
      if (transcript && (await isTaken(store, transcript))) taken += 1;
    } catch (error) {
      // The store's own faults are no fault of the file.
      if (isCastError(error)) throw error;
      damaged.push(`${file} (${messageOf(error)})`);
    }
  }
  await writeFile(mark, `${JSON.stringify({ version: 1, taken })}\n`, { mode: 0o600 });
  if (taken > 0) say(`${count(taken, 'session')} of an older version ${taken === 1 ? 'was' : 'were'} taken in; the files stay where they are.`);
  if (damaged.length > 0) say(`${count(damaged.length, 'file')} of older sessions cannot be read: ${namedOf(damaged)}.`);
};

const filesIn = async (folders: readonly string[]): Promise<readonly string[]> => {
  const names = await Promise.all(folders.map(async (folder) => (await readdir(folder).catch(() => [] as string[])).map((name) => join(folder, name))));
  return names.flat().filter((file) => /\.jsonl?$/.test(file));
};
const namedOf = (damaged: readonly string[]): string =>
  `${damaged.slice(0, NAMED).map(oneLine).join(', ')}${damaged.length > NAMED ? `, and ${damaged.length - NAMED} more` : ''}`;

/** False for one that is there already, or that another process is taking in now. */
const isTaken = async (store: Store, transcript: Transcript): Promise<boolean> => {
  const { id } = transcript.record;
  if (transcript.entries.length === 0 || (await store.get(id))) return false;
  try {
    await takeIn(store, transcript);
    return true;
  } catch (error) {
    if (await store.get(id)) return false;
    throw error;
  }
};

/** Undefined for what has no id. Throws for what is no session at all. */
export const legacyIn = async (file: string, castHome: string): Promise<ReturnType<typeof readLegacy>> => {
  const text = (await readNamedFile(file, MAX_BYTES)).toString().replace(/^\ufeff/, '');
  const rootOf = (cwd: string): string => (existsSync(cwd) ? findProject(cwd, { home: homedir(), castHome }).root : cwd);
  return readLegacy(text, folderNamed(basename(join(file, '..'))), rootOf);
};

/** Working directory that a folder is named after: `%2Fhome%2Fme%2Fapp`, or `-home-me-app`, in which a dash may be a part of a name. */
const folderNamed = (name: string): string | undefined => {
  if (name.includes('%')) return decoded(name);
  if (!name.startsWith('-')) return undefined;
  const [, ...parts] = name.split('-');
  return existing('', parts) ?? `/${parts.join('/')}`;
};
const decoded = (name: string): string | undefined => {
  try {
    const path = decodeURIComponent(name);
    return path.startsWith('/') ? path : undefined;
  } catch {
    return undefined;
  }
};
/** The longest names first, of folders that are there. */
const existing = (above: string, parts: readonly string[]): string | undefined => {
  if (parts.length === 0) return above;
  for (let length = Math.min(parts.length, MOST_DASHES); length > 0; length -= 1) {
    const folder = `${above}/${parts.slice(0, length).join('-')}`;
    const found = existsSync(folder) ? existing(folder, parts.slice(length)) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
};
/** In one name. */
const MOST_DASHES = 12;
