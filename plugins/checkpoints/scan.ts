/** What a shell command changed in a folder that is no repository: named, and not taken back. */
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LIMITS } from './limits.ts';
import type { Untracked } from './points.ts';
import { markOf, statOf } from './state.ts';

/** Marks by path; undefined for a folder of too many files. */
export type Scan = ReadonlyMap<string, string> | undefined;

const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules', '.venv', '__pycache__', '.cache']);

/** Links are not followed. `without` is passed over. */
export const scan = async (top: string, without: string): Promise<Scan> => {
  const found = new Map<string, string>();
  const waiting = [top];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const entries: readonly Dirent[] = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (path === without || SKIPPED.has(entry.name)) continue;
      if (entry.isDirectory()) waiting.push(path);
      else {
        const stat = await statOf(path);
        if (stat) found.set(path, markOf(stat));
      }
      if (found.size + waiting.length > LIMITS.scannedFiles) return undefined;
    }
  }
  return found;
};

export const differences = (top: string, was: Scan, is: Scan): readonly Untracked[] => {
  if (!was || !is) return [{ path: top, why: `it holds more than ${LIMITS.scannedFiles} files, so a shell command's changes are not listed` }];
  const all = [...new Set([...was.keys(), ...is.keys()])].filter((path) => was.get(path) !== is.get(path));
  const shown = all.slice(0, LIMITS.changedFiles).map((path) => ({ path, why: `${wordOf(was.get(path), is.get(path))} by a shell command` }));
  return all.length > shown.length ? [...shown, { path: top, why: `${all.length - shown.length} more files were changed by a shell command` }] : shown;
};
const wordOf = (was: string | undefined, is: string | undefined): string => (was === undefined ? 'created' : is === undefined ? 'deleted' : 'changed');
