/** Keeps the whole output of long commands in files that only this user can read. */
import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../kernel/index.ts';

/** Bytes of one file: enough to search, too little to fill a disk. */
export const SPILL_BYTES = 67_108_864;
/** Files that a session keeps; the oldest goes first. */
const SPILL_FILES = 16;

/** One file. A full disk costs the file, never the command. */
export class Spill {
  readonly path: string;
  /** Why nothing more is written; undefined while all is well. */
  failure: string | undefined;
  #written = 0;
  #file: FileHandle | undefined;

  constructor(path: string, failure?: string) {
    this.path = path;
    this.failure = failure;
  }

  /** Whether the file holds less than what was given to it. */
  get isFull(): boolean {
    return this.#written >= SPILL_BYTES;
  }

  async write(bytes: Uint8Array): Promise<void> {
    const fitting = bytes.subarray(0, SPILL_BYTES - this.#written);
    if (fitting.length === 0 || this.failure !== undefined) return;
    try {
      this.#file ??= await open(this.path, 'wx', 0o600);
      await this.#file.writeFile(fitting);
      this.#written += fitting.length;
    } catch (error) {
      this.failure = messageOf(error);
    }
  }

  async close(): Promise<void> {
    await this.#file?.close().catch((error: unknown) => {
      this.failure ??= messageOf(error);
    });
    this.#file = undefined;
  }
}

export class SpillFolder {
  #folder: Promise<string> | undefined;
  #count = 0;
  readonly #paths: string[] = [];

  async create(): Promise<Spill> {
    try {
      // Below the folder for temporary files, and private: mkdtemp makes it 0700.
      this.#folder ??= mkdtemp(join(tmpdir(), 'cast-output-'));
      this.#count += 1;
      const path = join(await this.#folder, `command-${this.#count}.log`);
      this.#paths.push(path);
      while (this.#paths.length > SPILL_FILES) await rm(this.#paths.shift() ?? '', { force: true });
      return new Spill(path);
    } catch (error) {
      this.#folder = undefined;
      return new Spill('', messageOf(error));
    }
  }

  async remove(): Promise<void> {
    if (this.#folder) await rm(await this.#folder, { recursive: true, force: true });
    this.#folder = undefined;
  }
}
