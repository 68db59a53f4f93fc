/** Contents of files by their hash, compressed, each written once. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { LIMITS } from './limits.ts';

/** Complete or not there, whenever the process dies: a file beside it takes its name when it is on the disk. */
export const putFile = async (path: string, bytes: Uint8Array | string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomUUID()}.tmp`;
  try {
    const handle = await open(draft, 'wx', 0o600);
    try {
      await handle.writeFile(bytes);
      await handle.datasync();
    } finally {
      await handle.close();
    }
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
};

export const bytesBelow = async (folder: string): Promise<number> => {
  let total = 0;
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name);
    total += entry.isDirectory() ? await bytesBelow(path) : ((await stat(path).catch(() => undefined))?.size ?? 0);
  }
  return total;
};

export class Images {
  readonly #folder: string;
  #total: Promise<number> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** False when there is no room for it. */
  async put(hash: string, bytes: Uint8Array): Promise<boolean> {
    const path = this.#pathOf(hash);
    if (await stat(path).catch(() => undefined)) return true;
    const packed = await promisify(gzip)(bytes, { level: 1 });
    const total = await (this.#total ??= bytesBelow(this.#folder));
    if (total + packed.length > LIMITS.sessionBytes) return false;
    await putFile(path, packed);
    this.#total = Promise.resolve(total + packed.length);
    return true;
  }

  /** Undefined when it was not kept, or is damaged. */
  async get(hash: string): Promise<Buffer | undefined> {
    const packed = await readFile(this.#pathOf(hash)).catch(() => undefined);
    const bytes = packed && (await promisify(gunzip)(packed, { maxOutputLength: LIMITS.listBytes }).catch(() => undefined));
    return bytes && createHash('sha256').update(bytes).digest('hex') === hash ? bytes : undefined;
  }

  #pathOf(hash: string): string {
    return join(this.#folder, hash.slice(0, 2), `${hash.slice(2)}.gz`);
  }
}
