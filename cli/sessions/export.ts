/** `cast sessions export`. */
import { open, rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Command, Option } from 'clipanion';
import { CastError, messageOf, type Entry, type SessionRecord, type Store } from '../../kernel/index.ts';
import { oneOf, usageError } from '../arguments.ts';
import { known, StoreCommand } from './base.ts';
import { htmlEnd, htmlEntry, htmlStart } from './html.ts';
import { headerLine } from './jsonl.ts';
import { markdownEntry, markdownStart } from './markdown.ts';

const FORMATS = ['markdown', 'html', 'jsonl'] as const;
/** Entries that are in memory at once. */
const PAGE = 500;

export class ExportCommand extends StoreCommand {
  static override paths = [['sessions', 'export']];
  static override usage = Command.Usage({
    category: 'Sessions',
    description: 'Write a session to a file, or to standard output',
    details: 'As Markdown or HTML: what was said on the current branch. As JSON lines: everything of every branch, for `cast sessions import`.',
  });
  id = Option.String({ name: 'ID' });
  format = Option.String('--format', 'markdown', { description: `${FORMATS.join(', ')}; default markdown` });
  output = Option.String('-o,--output', { description: 'File to write, which must not be there yet' });

  override async execute(): Promise<number> {
    const format = oneOf('--format', this.format, FORMATS);
    await this.withStore(async (store) => {
      const record = await known(store, this.id);
      const parts = format === 'jsonl' ? linesOf(store, record) : readable(store, record, format);
      if (this.output === undefined) for await (const part of parts) await this.context.stdio.out(part);
      else await this.#write(resolve(this.place().cwd, this.output), parts);
    });
    return 0;
  }

  /** The file is there whole, or not at all; what was said is for its owner's eyes. */
  async #write(file: string, parts: AsyncIterable<string>): Promise<void> {
    const unfinished = `${file}.part-${process.pid}`;
    try {
      const place = await open(file, 'wx', 0o600);
      await place.close();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw usageError(`${file} is there already`, 'Name another file.');
      throw usageError(`${file} cannot be written: ${messageOf(error)}`, 'Name another file.');
    }
    try {
      const handle = await open(unfinished, 'wx', 0o600);
      try {
        for await (const part of parts) await handle.write(part);
      } finally {
        await handle.close();
      }
      await rename(unfinished, file);
    } catch (error) {
      await Promise.all([unfinished, file].map((path) => rm(path, { force: true })));
      if (error instanceof CastError) throw error;
      throw usageError(`${file} cannot be written: ${messageOf(error)}`, 'Check the folder and the space on its disk.');
    }
  }
}

async function* linesOf(store: Store, record: SessionRecord): AsyncGenerator<string> {
  yield headerLine(record);
  const [newest] = await store.read(record.id, { limit: 1 });
  for (let from = 0; from < (newest?.seq ?? 0); from += PAGE) {
    const page = await store.read(record.id, { before: from + PAGE + 1, limit: PAGE });
    for (const entry of [...page].reverse()) if (entry.seq > from) yield `${JSON.stringify(entry)}\n`;
  }
}

async function* readable(store: Store, record: SessionRecord, format: 'markdown' | 'html'): AsyncGenerator<string> {
  const entries: readonly Entry[] = await store.branch(record.id, { kinds: ['message', 'compaction'] });
  yield format === 'html' ? htmlStart(record) : markdownStart(record);
  for (const entry of entries) yield format === 'html' ? htmlEntry(entry) : markdownEntry(entry);
  if (format === 'html') yield htmlEnd;
}
