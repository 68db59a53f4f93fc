/** Where a plugin's code is: a file, a folder or an installed package, found from the folder of the configuration that names it. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';

export interface PackageFolder {
  readonly dir: string;
  readonly manifest: Readonly<Record<string, unknown>>;
}

export interface PluginPlace {
  readonly file: string;
  /** Absent for a file that is no package. */
  readonly folder?: PackageFolder;
  /** Absent for what was named by its path. */
  readonly package?: string;
}

const EXTENSIONS = ['.ts', '.mts', '.js', '.mjs', '.cjs', '.json'];
/** Conditions of `exports`, as node and bundlers know them. */
const CONDITIONS = ['import', 'node', 'module', 'default', 'require'];

export const isPath = (from: string): boolean => /^\.{1,2}\//.test(from) || isAbsolute(from);

/** A path relative to `base`, or the name of an installed package. Undefined when it is not there, or has nothing to load. */
export const locate = (from: string, base: string): PluginPlace | undefined => {
  const path = isPath(from) ? resolve(base, from) : undefined;
  const folder = path === undefined ? findPackage(from, base) : readPackage(path);
  const file = folder ? entryOf(folder) : path && resolveFile(path);
  if (file === undefined) return undefined;
  return { file, ...(folder ? { folder } : {}), ...(path === undefined ? { package: from } : {}) };
};

/** A file as an import names it: exact, without its extension, written `.js` for a `.ts`, or the index of a folder. */
export const resolveFile = (path: string): string | undefined => {
  const asTypeScript = /\.([cm]?)js$/.test(path) ? [path.replace(/\.([cm]?)js$/, '.$1ts')] : [];
  const added = ['', '/index'].flatMap((middle) => EXTENSIONS.map((extension) => `${path}${middle}${extension}`));
  return [path, ...asTypeScript, ...added].find(isFile);
};

/** The nearest `node_modules/NAME`, from `dir` up. */
export const findPackage = (name: string, dir: string): PackageFolder | undefined => {
  for (let folder = dir; ; folder = dirname(folder)) {
    const place = join(folder, 'node_modules', name);
    const found = existsSync(place) ? readPackage(place) : undefined;
    if (found || folder === dirname(folder)) return found;
  }
};

/** Undefined when the folder holds no readable package.json. */
export const readPackage = (dir: string): PackageFolder | undefined => {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));
    return typeof manifest === 'object' && manifest !== null ? { dir, manifest: manifest as PackageFolder['manifest'] } : undefined;
  } catch {
    return undefined;
  }
};

/** The file that `import 'NAME'` means. */
export const entryOf = ({ dir, manifest }: PackageFolder): string | undefined => {
  const target = targetOf(manifest['exports']) ?? (typeof manifest['main'] === 'string' ? manifest['main'] : 'index');
  return resolveFile(join(dir, target));
};

const targetOf = (exports: unknown): string | undefined => {
  if (typeof exports === 'string') return exports;
  if (Array.isArray(exports)) return exports.map(targetOf).find((target) => target !== undefined);
  if (typeof exports !== 'object' || exports === null) return undefined;
  const choices = exports as Readonly<Record<string, unknown>>;
  if ('.' in choices) return targetOf(choices['.']);
  return CONDITIONS.map((condition) => targetOf(choices[condition])).find((target) => target !== undefined);
};

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
