import { readdir } from 'node:fs/promises';
import { basename, dirname, extname, join, relative } from 'node:path';
import { type ToolCall, ToolError } from '../../kernel/index.ts';
import { distance } from './alike.ts';
import { shownPath, type Target } from './target.ts';

const MAX_ENTRIES = 5000;
const MAX_PATHS = 5;
const SKIPPED = new Set(['.git', 'node_modules']);

/** The refusal for a missing file, with real paths that the model may have meant. */
export const fileNotFound = async (target: Target, call: ToolCall): Promise<ToolError> => {
  const paths = await similarPaths(target.path, call);
  if (paths.length === 0) return new ToolError('NOT_FOUND', `File not found: ${target.shown}`);
  return new ToolError('NOT_FOUND', `File not found: ${target.shown}\nSimilar paths:\n${paths.map((path) => `  ${path}`).join('\n')}`, {
    fix: 'Use one of these paths; there is no need to search.',
  });
};

const similarPaths = async (path: string, call: ToolCall): Promise<readonly string[]> => {
  const name = basename(path).toLowerCase();
  // Outside the working directory only the folder that was named is looked at.
  const isBelow = !relative(call.cwd, path).startsWith('..');
  const found: { readonly path: string; readonly score: number }[] = [];
  for await (const entry of isBelow ? below(call.cwd, call.signal) : shallow(dirname(path))) {
    const score = scoreOf(name, basename(entry).toLowerCase());
    if (score > 0) found.push({ path: entry, score });
  }
  const order = (a: { path: string; score: number }, b: { path: string; score: number }): number =>
    b.score - a.score || a.path.length - b.path.length || (a.path < b.path ? -1 : 1);
  return found
    .sort(order)
    .slice(0, MAX_PATHS)
    .map((entry) => shownPath(call.cwd, entry.path));
};

const scoreOf = (wanted: string, name: string): number => {
  if (name === wanted) return 4;
  const stem = basename(wanted, extname(wanted));
  if (stem.length > 1 && basename(name, extname(name)) === stem) return 3;
  if (stem.length > 2 && name.includes(stem)) return 2;
  return distance(wanted.slice(0, 100), name.slice(0, 100)) <= Math.max(2, Math.floor(wanted.length / 4)) ? 1 : 0;
};

/** Files below a folder, nearest first; links are not followed, and it ends after 5,000 entries. */
async function* below(top: string, signal: AbortSignal): AsyncGenerator<string> {
  const folders = [top];
  let count = 0;
  for (let folder = folders.shift(); folder !== undefined && count < MAX_ENTRIES; folder = folders.shift()) {
    signal.throwIfAborted();
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      count += 1;
      if (entry.isDirectory() && !SKIPPED.has(entry.name)) folders.push(join(folder, entry.name));
      if (entry.isFile()) yield join(folder, entry.name);
    }
  }
}

async function* shallow(folder: string): AsyncGenerator<string> {
  for (const entry of (await readdir(folder, { withFileTypes: true }).catch(() => [])).slice(0, MAX_ENTRIES)) {
    if (entry.isFile()) yield join(folder, entry.name);
  }
}
