/** Where configuration may lie in a folder. Looking must be cheap: it is done in each folder at each start. */
import { existsSync, realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';

/** The first that is there counts. */
const CONFIG_NAMES = [
  ...['ts', 'mts', 'js', 'mjs', 'cjs', 'json'].map((extension) => `cast.config.${extension}`),
  '.castrc',
  ...['json', 'yaml', 'yml'].map((extension) => `.castrc.${extension}`),
];
const PACKAGE = 'package.json';

export interface ConfigPlace {
  readonly file: string;
  /** Only the key `cast` of a package.json counts. */
  readonly isPackage: boolean;
}

/** Whether this folder has a configuration that makes it a project. */
export const hasConfigFile = (dir: string): boolean => CONFIG_NAMES.some((name) => name.startsWith('cast.config.') && existsSync(join(dir, name)));

/** Configuration files of a folder, the one that counts first. */
export const configPlaces = async (dir: string): Promise<readonly ConfigPlace[]> => {
  const places = CONFIG_NAMES.map((name) => join(dir, name)).flatMap((file) => (existsSync(file) ? [{ file, isPackage: false }] : []));
  const manifest = join(dir, PACKAGE);
  return (await packageConfig(manifest)) === undefined ? places : [...places, { file: manifest, isPackage: true }];
};

/** The key `cast` of a package.json; undefined when there is none, or no such file. */
export const packageConfig = async (file: string): Promise<unknown> => {
  if (!existsSync(file)) return undefined;
  try {
    const text = await readFile(file, 'utf8');
    // Parsing a big manifest for nothing would cost more than all the rest.
    return text.includes('"cast"') ? (JSON.parse(text) as { cast?: unknown } | null)?.cast : undefined;
  } catch {
    // A broken package.json is for npm to report.
    return undefined;
  }
};

/** `dir` itself and what lies between it and `top`, from the top down. `top` alone when `dir` is not below it. */
export const foldersBetween = (top: string, dir: string): readonly string[] => {
  const folders = [dir];
  while (folders[0] !== top) {
    const parent = dirname(folders[0] ?? top);
    if (parent === folders[0]) return [dir];
    folders.unshift(parent);
  }
  return folders;
};

/** Absolute, links resolved; as it was given where it does not exist. */
export const realPath = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
};

/** Of what does not exist the names decide: the cheaper question, and asked in every folder. */
export const isSamePlace = (one: string, other: string): boolean =>
  one === other || (existsSync(one) && existsSync(other) && realPath(one) === realPath(other));

/** With forward slashes, as it is kept in the trust store and shown. */
export const relativePath = (top: string, file: string): string => relative(top, file).split(sep).join('/');
