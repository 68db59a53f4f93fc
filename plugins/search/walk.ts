import type { Dirent } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Engine, type FileMatches, type Query, type TextQuery, TIMEOUT_MS, tooSlow } from './query.ts';
import { toRegExp } from './pattern.ts';
import type { Desk } from './place.ts';
import { isIgnored, type Level, levelOf, SKIPPED } from './rules.ts';
import { inTime, isBinary, scanText, textOf } from './scan.ts';

const MAX_FILES = 20_000;
/** Bytes; larger files are not searched. */
const MAX_SIZE = 5 * 1024 * 1024;
/** Characters that are scanned at one go. */
const BATCH = 262_144;

/** Searches without any other program: the same files in the same order, only slower. */
export const walk = (desk: Desk): Engine => ({
  async files(query, visit) {
    const tour = new Tour(desk, query);
    for await (const path of tour.files()) if (!visit(path)) break;
    return tour.remarks();
  },
  async matches(query, visit) {
    const tour = new Tour(desk, query);
    const regex = toRegExp(query.pattern, query);
    let batch: Source[] = [];
    let size = 0;
    const flush = (): boolean => {
      const found = inTime(() => scanAll(batch, regex, query));
      batch = [];
      size = 0;
      return found.every(visit);
    };
    for await (const path of tour.files()) {
      const text = query.wants(path) ? await tour.read(path) : undefined;
      if (text === undefined) continue;
      batch.push({ path, text });
      size += text.length;
      if ((size > BATCH || batch.length > 200) && !flush()) return tour.remarks();
    }
    flush();
    return tour.remarks();
  },
});

interface Source {
  readonly path: string;
  readonly text: string;
}
const scanAll = (sources: readonly Source[], regex: RegExp, query: TextQuery): readonly FileMatches[] =>
  sources.flatMap(({ path, text }) => {
    const rows = scanText(text, regex, query);
    return rows.length > 0 ? [{ path, rows }] : [];
  });

/** One way through the folders, with what went wrong on it. */
class Tour {
  readonly #query: Query;
  readonly #now: () => number;
  readonly #end: number;
  readonly #unreadable: string[] = [];
  #count = 0;
  #large = 0;

  constructor(desk: Desk, query: Query) {
    this.#query = query;
    this.#now = () => desk.clock.now();
    this.#end = this.#now() + TIMEOUT_MS;
  }

  remarks(): { unreadable: readonly string[]; notes: readonly string[] } {
    const notes: string[] = [];
    if (this.#large > 0) notes.push(`${this.#large} ${this.#large === 1 ? 'file' : 'files'} over 5 MiB left out.`);
    if (this.#count >= MAX_FILES) notes.push(`Stopped after ${MAX_FILES} files; search a smaller folder to see the rest.`);
    return { unreadable: this.#unreadable, notes };
  }

  files(): AsyncGenerator<string> {
    return this.#query.isFile ? this.#only(this.#query.path) : this.#below(this.#query.path, this.#query.rules.level);
  }

  /** The text of a file; undefined when there is none to search. */
  async read(path: string): Promise<string | undefined> {
    try {
      const handle = await open(path, 'r');
      try {
        const { size } = await handle.stat();
        if (size > MAX_SIZE) {
          this.#large += 1;
          return undefined;
        }
        const bytes = await handle.readFile();
        return isBinary(bytes) ? undefined : textOf(bytes);
      } finally {
        await handle.close();
      }
    } catch (error) {
      this.#note(path, error);
      return undefined;
    }
  }

  async *#only(path: string): AsyncGenerator<string> {
    yield path;
  }

  // Links are not followed: they would lead in circles, out of the folder, or to the same file twice.
  async *#below(folder: string, level: Level): AsyncGenerator<string> {
    for (const entry of await this.#entries(folder)) {
      this.#query.signal.throwIfAborted();
      if (this.#now() > this.#end) throw tooSlow();
      if (this.#count >= MAX_FILES) return;
      const path = join(folder, entry.name);
      const isFolder = entry.isDirectory();
      if ((!isFolder && !entry.isFile()) || SKIPPED.includes(entry.name) || isIgnored(this.#query.rules, level, path, isFolder)) continue;
      if (isFolder) {
        yield* this.#below(path, await levelOf(path, level, this.#query.rules.isGit));
        continue;
      }
      this.#count += 1;
      yield path;
    }
  }

  async #entries(folder: string): Promise<readonly Dirent[]> {
    try {
      return (await readdir(folder, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1));
    } catch (error) {
      this.#note(folder, error);
      return [];
    }
  }

  #note(path: string, error: unknown): void {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#unreadable.push(path);
  }
}
