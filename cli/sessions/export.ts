/** `cast sessions export`. */
import { resolve } from 'node:path';
import { Command, Option } from 'clipanion';
import type { Entry, SessionRecord, Store } from '../../kernel/index.ts';
import { oneOf } from '../arguments.ts';
import { known, StoreCommand } from './base.ts';
import { htmlEnd, htmlEntry, htmlStart } from './html.ts';
import { headerLine } from './jsonl.ts';
import { markdownEntry, markdownStart } from './markdown.ts';
import { writeWhole } from './whole-file.ts';

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
      else await writeWhole(resolve(this.place().cwd, this.output), parts);
    });
    return 0;
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
