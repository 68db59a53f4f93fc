/** Which other files a file names, read from its text. Paths that are computed while it runs are not seen. */
import { existsSync, statSync } from 'node:fs';
import { basename, dirname, extname, isAbsolute, join, sep } from 'node:path';
import { entryOf, findPackage, readPackage, resolveFile } from './packages.ts';

const SCRIPTS = new Set(['.ts', '.mts', '.js', '.mjs', '.cjs']);
const RELATIVE = /^\.{1,2}(?:\/|$)/;
const PACKAGE = /^(?:@[\w.-]+\/)?[\w-][\w.-]*$/;

export const isInstalled = (file: string): boolean => file.includes(`${sep}node_modules${sep}`);

/** Local imports, plugins by path or package, and the project's files in commands of hooks and servers. May name a file twice. */
export const referencesOf = (file: string, text: string, top: string): readonly string[] => {
  const dir = dirname(file);
  const isScript = SCRIPTS.has(extname(file));
  // Of a package its own code counts; what it depends on is the business of the lock file.
  if (isInstalled(file)) return isScript ? quoted(text).flatMap((word) => (RELATIVE.test(word) ? local(dir, word) : [])) : [];
  const found = isScript ? quoted(text).flatMap((word) => named(dir, word)) : isData(file) ? words(text).flatMap((word) => namedInData(dir, word)) : [];
  // A program of the system is not the project's to change.
  return found.filter((path) => path.startsWith(`${top}${sep}`) || SCRIPTS.has(extname(path)) || basename(path) === 'package.json');
};

const isData = (file: string): boolean => /\.(?:json|ya?ml)$|\.castrc$/.test(file);

/** Between two quotes of a kind, at every quote: an apostrophe in a comment must not hide what follows it. */
const quoted = (text: string): readonly string[] => [...text.matchAll(/(['"`])(?=([^'"`\n]{1,300})\1)/g)].map(([, , word]) => word ?? '');
const words = (text: string): readonly string[] => text.match(/[^\s'"`,;(){}[\]]{2,300}/g) ?? [];

const named = (dir: string, word: string): readonly string[] => {
  if (RELATIVE.test(word)) return local(dir, word);
  return PACKAGE.test(word) ? installed(dir, word) : exact(dir, word);
};

/** Commands of hooks and servers run in the project, not in the folder of the file that names them. */
const namedInData = (dir: string, word: string): readonly string[] => {
  const isOwnFolder = /^\.(?:cast|claude)$/.test(basename(dir));
  return [...named(dir, word), ...(PACKAGE.test(word) ? exact(dir, word) : []), ...(isOwnFolder ? exact(dirname(dir), word) : [])];
};

const exact = (dir: string, word: string): readonly string[] => {
  const path = isAbsolute(word) ? word : join(dir, word);
  return statSync(path, { throwIfNoEntry: false })?.isFile() ? [path] : [];
};

const local = (dir: string, word: string): readonly string[] => {
  const path = join(dir, word);
  const folder = existsSync(join(path, 'package.json')) ? readPackage(path) : undefined;
  return folder ? filesOf(folder) : [resolveFile(path)].filter((file) => file !== undefined);
};

const installed = (dir: string, name: string): readonly string[] => {
  const found = findPackage(name, dir);
  return found ? filesOf(found) : [];
};

const filesOf = (folder: Parameters<typeof entryOf>[0]): readonly string[] => {
  const entry = entryOf(folder);
  return [join(folder.dir, 'package.json'), ...(entry === undefined ? [] : [entry])];
};
