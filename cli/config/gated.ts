/** What of a project is used only once it is trusted: found by looking, never by running. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Gated } from '../../kernel/host/trust.ts';
import { configPlaces, foldersBetween, isSamePlace, packageConfig, realPath, relativePath } from './places.ts';
import { checkoutTop } from './project.ts';
import { isInstalled, referencesOf } from './references.ts';

/** A start must not hash a whole disk: what is beyond never counts as unchanged. */
const MAX_FILES = 1_000;
const MAX_BYTES = 32 * 1024 * 1024;
/** Files of installed packages: a library with more is held by the version in its package.json. */
const MAX_INSTALLED = 300;

const CODE_FILES = ['.mcp.json', '.claude/settings.json', '.claude/settings.local.json'];
/** Names in `.cast`: settings, hooks, servers, hosts, lock files of plugins. */
const CODE_NAMES = /^(?:settings|hooks|mcp|ssh|plugins).*\.(?:json|lock|ya?ml)$/;
const CODE_FOLDERS = ['.cast/plugins', '.cast/toolbox', '.cast/hooks'];
const TEXT_PLACES = [
  'AGENTS.md',
  'AGENTS.MD',
  'CLAUDE.md',
  'CLAUDE.MD',
  'CLAUDE.local.md',
  '.cursorrules',
  '.cursor/rules',
  '.agents/skills',
  ...['skills', 'rules', 'personas', 'commands', 'agents'].map((name) => `.cast/${name}`),
  ...['skills', 'commands', 'agents'].map((name) => `.claude/${name}`),
];
/** Files that say nothing: no reason to ask anybody. */
const EMPTY = new Set(['', '{}', '[]', '{"mcpServers":{}}', '{"hosts":{}}', '{"hooks":{}}']);

/** Folders from the top of the checkout down to `cwd`. Paths are relative to that top, so that worktrees compare equal. */
export const collectGated = async (root: string, cwd: string, castHome?: string): Promise<Gated> => {
  const top = checkoutTop(root, cwd);
  const collection = new Collection(top);
  for (const dir of foldersBetween(top, realPath(cwd))) {
    if (castHome !== undefined && isSamePlace(dir, castHome)) continue;
    const isHomeOfCast = castHome !== undefined && isSamePlace(join(dir, '.cast'), castHome);
    for (const file of await codeOf(dir, isHomeOfCast)) await collection.add(file);
    for (const place of TEXT_PLACES) {
      if (!(isHomeOfCast && place.startsWith('.cast/')) && existsSync(join(dir, place))) collection.text.push(relativePath(top, join(dir, place)));
    }
  }
  return { code: Object.fromEntries([...collection.code].sort(([one], [other]) => (one < other ? -1 : 1))), text: collection.text };
};

const codeOf = async (dir: string, isHomeOfCast: boolean): Promise<readonly string[]> => {
  const files = (await configPlaces(dir)).map((place) => place.file);
  files.push(...CODE_FILES.map((name) => join(dir, name)).filter((file) => existsSync(file)));
  if (isHomeOfCast || !existsSync(join(dir, '.cast'))) return files;
  const names = (await list(join(dir, '.cast'))).filter((name) => CODE_NAMES.test(name));
  files.push(...names.map((name) => join(dir, '.cast', name)));
  for (const folder of CODE_FOLDERS) files.push(...(await filesBelow(join(dir, folder))));
  return files;
};

const list = (dir: string): Promise<readonly string[]> => readdir(dir).catch(() => []);

/** One more than counts, so that the collection notices. Installed packages are held by the lock file and by the plugins that name them. */
const filesBelow = async (dir: string): Promise<readonly string[]> => {
  const files: string[] = [];
  const folders = existsSync(dir) ? [dir] : [];
  for (let folder = folders.pop(); folder !== undefined && files.length <= MAX_FILES; folder = folders.pop()) {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      if (entry.isDirectory()) {
        if (entry.name !== 'node_modules') folders.push(join(folder, entry.name));
      } else files.push(join(folder, entry.name));
    }
  }
  return files;
};

class Collection {
  readonly code = new Map<string, string>();
  readonly text: string[] = [];
  readonly #top: string;
  #bytes = 0;
  #installed = 0;

  constructor(top: string) {
    this.#top = top;
  }

  /** A file, and the local files and packages that it names. */
  async add(first: string): Promise<void> {
    const waiting = [first];
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      const path = relativePath(this.#top, file);
      if (this.code.has(path) || (isInstalled(file) && ++this.#installed > MAX_INSTALLED)) continue;
      const text = await this.#read(file, path);
      if (text !== undefined) waiting.push(...referencesOf(file, text, this.#top));
    }
  }

  /** Undefined when there is nothing in the file to follow. */
  async #read(file: string, path: string): Promise<string | undefined> {
    if (this.code.size >= MAX_FILES) {
      this.code.set(`(more than ${MAX_FILES} files)`, '');
      return undefined;
    }
    try {
      const { size } = await stat(file);
      this.#bytes += size;
      if (this.#bytes > MAX_BYTES) throw new Error('too much to read');
      const bytes = await contentOf(file);
      if (EMPTY.has(bytes.toString('latin1').replace(/\s+/g, ''))) return undefined;
      this.code.set(path, createHash('sha256').update(bytes).digest('hex'));
      return bytes.toString('utf8');
    } catch {
      this.code.set(path, '');
      return undefined;
    }
  }
}

/** Of a package.json that is a configuration only that part counts: other changes to it are no reason to ask. */
const contentOf = async (file: string): Promise<Buffer> => {
  if (basename(file) !== 'package.json') return readFile(file);
  const config = await packageConfig(file);
  return config === undefined ? readFile(file) : Buffer.from(JSON.stringify(config));
};
