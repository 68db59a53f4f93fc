/** Keeps the whole output of long commands in files that only this user can read. */
import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../kernel/index.ts';

/** Bytes of one file: enough to search, too little to fill a disk. */
export const SPILL_BYTES = 67_108_864;
/** Files of ended commands that a session keeps; the oldest goes first. */
const SPILL_FILES = 16;

/** One file. A full disk costs the file, never the command. */
export class Spill {
  readonly path: string;
  /** Why nothing more is written; undefined while all is well. */
  failure: string | undefined;
  /** Nothing more will be written. */
  isClosed = false;
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
    if (this.failure !== undefined) return;
    try {
      // Also for nothing: the file of a command that has printed nothing so far is there.
      this.#file ??= await open(this.path, 'wx', 0o600);
      await this.#file.writeFile(fitting);
      this.#written += fitting.length;
    } catch (error) {
      this.failure = messageOf(error);
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.#file?.close().catch((error: unknown) => {
      this.failure ??= messageOf(error);
    });
    this.#file = undefined;
  }
}

export class SpillFolder {
  #folder: Promise<string> | undefined;
  #count = 0;
  #spills: Spill[] = [];

  async create(): Promise<Spill> {
    try {
      // Below the folder for temporary files, and private: mkdtemp makes it 0700.
      this.#folder ??= mkdtemp(join(tmpdir(), 'cast-output-'));
      const number = (this.#count += 1);
      const spill = new Spill(join(await this.#folder, `command-${number}.log`));
      const old = this.#spills.filter(({ isClosed }) => isClosed).slice(0, -SPILL_FILES + 1);
      this.#spills = [...this.#spills.filter((each) => !old.includes(each)), spill];
      for (const { path } of old) await rm(path, { force: true });
      return spill;
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
