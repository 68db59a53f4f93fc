import { type Entry, entriesOf } from './entries.ts';
import { bytesOf } from './name.ts';
import { Pace } from './pace.ts';
import type { Desk } from './place.ts';
import type { Query, Remarks } from './query.ts';
import { isIgnored, type Level, levelOf, RULE_NAMES, SKIPPED } from './rules.ts';

/** One way through the folders, in the order of `byPath`, with what went wrong on it. */
export class Tour {
  readonly pace: Pace;
  readonly #query: Query;
  readonly #unreadable: string[] = [];

  constructor(desk: Desk, query: Query) {
    this.#query = query;
    this.pace = new Pace(query.signal, desk);
  }

  remarks(notes: readonly string[] = []): Remarks {
    return { unreadable: this.#unreadable, notes };
  }

  /** Some at a time. */
  files(): AsyncGenerator<readonly string[]> {
    return this.#query.isFile ? this.#only() : this.#below(this.#query.path, this.#query.rules.level);
  }

  /** What was removed meanwhile is not there. */
  note(path: string, error: unknown): void {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    // A name that is no UTF-8 in the form in which ripgrep complains of it.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#unreadable.push(bytesOf(path).toString());
  }

  async *#only(): AsyncGenerator<readonly string[]> {
    yield [this.#query.path];
  }

  async *#below(folder: string, level: Level): AsyncGenerator<readonly string[]> {
    if (this.pace.isOver) await this.pace.turn();
    const entries = this.#entries(folder);
    const hasOwn = folder !== this.#query.path && entries.some(({ name }) => RULE_NAMES.has(name));
    const own = hasOwn ? await levelOf(folder, level, this.#query.rules.isGit) : level;
    const top = folder.endsWith('/') ? folder : `${folder}/`;
    let files: string[] = [];
    for (const entry of entries) {
      const path = top + entry.name;
      if (!this.#isOfInterest(entry, path, own)) continue;
      if (!entry.isFolder) {
        files.push(path);
        continue;
      }
      yield files;
      files = [];
      yield* this.#below(path, own);
    }
    yield files;
  }

  // Links are not followed: they would lead in circles, out of the folder, or to the same file twice.
  #isOfInterest(entry: Entry, path: string, level: Level): boolean {
    const { isFolder } = entry;
    if (!isFolder && !(entry.isFile && this.#query.wanted.test(path))) return false;
    return !SKIPPED.has(entry.name) && !isIgnored(this.#query.rules, level, path, isFolder);
  }

  #entries(folder: string): readonly Entry[] {
    try {
      return [...entriesOf(folder)].sort((a, b) => (a.name < b.name ? -1 : 1));
    } catch (error) {
      this.note(folder, error);
      return [];
    }
  }
}
