/** The file of the code cache: what V8 compiled, by name of the built file, behind a digest of it all. */
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { deserialize, serialize } from 'node:v8';

export type Entries = ReadonlyMap<string, Uint8Array>;

const DIGEST_BYTES = 20;
const MAX_BYTES = 64 * 1024 * 1024;
/** Of other versions of Node, other flags and other installations. */
const KEPT_FILES = 6;

/** What somebody else could have written would run as the user's own code. False where files have no owner. */
const isPrivate = (folder: string): boolean => {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & 0o022) === 0;
};

/** Makes the folder when `home` is there already: to look at the help is no reason to make one. */
export const prepareFolder = (home: string, folder: string): boolean => {
  if (!statSync(home, { throwIfNoEntry: false })?.isDirectory()) return false;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return isPrivate(folder);
};

/** Empty when there is no such file, or a damaged one. */
export const readPack = (file: string): Entries => {
  try {
    if (!isPrivate(dirname(file)) || statSync(file).size > MAX_BYTES) return new Map();
    const bytes = readFileSync(file);
    const body = bytes.subarray(DIGEST_BYTES);
    // V8 believes what it is given: a damaged byte would end the process.
    return digest(body).equals(bytes.subarray(0, DIGEST_BYTES)) ? (deserialize(body) as Entries) : new Map();
  } catch {
    return new Map();
  }
};

/** Readers see the file before or the file after, never a part. */
export const writePack = (file: string, entries: Entries): void => {
  const body = serialize(entries);
  const draft = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(draft, Buffer.concat([digest(body), body]), { mode: 0o600 });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  removeOld(dirname(file), basename(file));
};

const digest = (bytes: Uint8Array): Buffer => createHash('sha1').update(bytes).digest();

const removeOld = (folder: string, kept: string): void => {
  const others = readdirSync(folder).flatMap((name) => {
    const found = name === kept ? undefined : statSync(join(folder, name), { throwIfNoEntry: false });
    return found ? [{ name, at: found.mtimeMs }] : [];
  });
  const old = others.sort((one, other) => other.at - one.at).slice(KEPT_FILES - 1);
  for (const { name } of old) rmSync(join(folder, name), { force: true, recursive: true });
};
