/** What calls changed, by turn: below `$CAST_HOME/checkpoints/<session>`. */
import { mkdir, readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { bytesBelow, Images, putFile } from './images.ts';
import { LIMITS } from './limits.ts';
import type { FileState } from './state.ts';

export interface Change {
  /** Absolute, canonical. */
  readonly path: string;
  readonly before: FileState;
  /** Absent as long as nobody knows: the call runs, goes on in the background, or its process died. */
  readonly after?: FileState;
}
export interface Untracked {
  readonly path: string;
  readonly why: string;
}
/** What a repository was before a call of which the end is not known. */
export interface Tree {
  readonly top: string;
  /** Hash of the image that holds the list of its index. */
  readonly index: string;
  /** Files that were not as the index says, relative to the top. */
  readonly dirty: Readonly<Record<string, FileState>>;
  /** Epoch milliseconds before the list was made. */
  readonly since: number;
}
export interface Step {
  readonly version: 1;
  readonly tool: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly changes: readonly Change[];
  readonly untracked: readonly Untracked[];
  /** Folders that the call made, outermost first. */
  readonly folders: readonly string[];
  readonly tree?: Tree;
}

const isStep = (value: unknown): value is Step => {
  const { version, changes, untracked, folders } = (value ?? {}) as Partial<Step>;
  return version === 1 && Array.isArray(changes) && Array.isArray(untracked) && Array.isArray(folders);
};

export class Points {
  readonly images: Images;
  readonly #top: string;
  readonly #folder: string;
  readonly #now: () => number;
  #preparing: Promise<void> | undefined;
  /** Numbers that were given away, by point: a file may not be there yet. */
  readonly #given = new Map<string, number>();

  constructor(home: string, session: string, now: () => number) {
    this.#now = now;
    this.#top = join(home, 'checkpoints');
    // A session's id comes from a store, so it is no path before it is made one.
    this.#folder = join(this.#top, encodeURIComponent(session).replaceAll('.', '%2E'));
    this.images = new Images(join(this.#folder, 'images'));
  }

  /** Where the next step of a point is written, and how: whole, each time. */
  async newStep(point: string): Promise<(step: Step) => Promise<void>> {
    await this.#prepare();
    const folder = this.#pointFolder(point);
    const numbers = (await readdir(folder).catch(() => [])).map((name) => Number.parseInt(name, 10)).filter(Number.isFinite);
    const number = Math.max(this.#given.get(point) ?? 0, ...numbers) + 1;
    this.#given.set(point, number);
    const path = join(folder, `${String(number).padStart(6, '0')}.json`);
    return (step) => putFile(path, JSON.stringify(step));
  }

  /** In the order of the calls. Undefined where nothing is kept of the point any more. */
  async steps(point: string): Promise<readonly Step[] | undefined> {
    const folder = this.#pointFolder(point);
    const names = await readdir(folder).catch(() => undefined);
    if (!names) return undefined;
    const steps: Step[] = [];
    for (const name of names.filter((each) => each.endsWith('.json')).toSorted()) {
      const step: unknown = JSON.parse(await readFile(join(folder, name), 'utf8'));
      if (isStep(step)) steps.push(step);
    }
    return steps;
  }

  #pointFolder(point: string): string {
    return join(this.#folder, 'points', encodeURIComponent(point).replaceAll('.', '%2E'));
  }

  async #prepare(): Promise<void> {
    this.#preparing ??= this.#make();
    await this.#preparing;
  }

  async #make(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    // The age of a folder is when it was last used.
    const now = new Date(this.#now());
    await utimes(this.#folder, now, now);
    await prune(this.#top, this.#folder, this.#now());
  }
}

const prune = async (top: string, own: string, now: number): Promise<void> => {
  const folders: { path: string; usedAt: number; bytes: number }[] = [];
  for (const name of await readdir(top)) {
    const path = join(top, name);
    const found = await stat(path).catch(() => undefined);
    if (found && path !== own) folders.push({ path, usedAt: found.mtimeMs, bytes: await bytesBelow(path) });
  }
  let room = LIMITS.totalBytes - LIMITS.sessionBytes;
  for (const { path, usedAt, bytes } of folders.toSorted((one, other) => other.usedAt - one.usedAt)) {
    room -= bytes;
    if (room < 0 || usedAt < now - LIMITS.keptMs) await rm(path, { recursive: true, force: true });
  }
};
