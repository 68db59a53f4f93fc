/** `cast sessions import`. */
import { resolve } from 'node:path';
import { Command, Option } from 'clipanion';
import { messageOf, type Entry, type Store } from '../../kernel/index.ts';
import { usageError } from '../arguments.ts';
import { readNamedFile } from '../named-file.ts';
import { count, oneLine } from '../style.ts';
import { StoreCommand, titleOf } from './base.ts';
import { readTranscripts, type Transcript } from './jsonl.ts';

/** A file is read whole: a session of 100,000 messages has about 100 MB, and a text of more than 512 cannot be made. */
const MAX_BYTES = 400 * 1024 * 1024;
/** Lines that cannot be used and are named one by one. */
const NAMED_PROBLEMS = 20;

export class ImportCommand extends StoreCommand {
  static override paths = [['sessions', 'import']];
  static override usage = Command.Usage({
    category: 'Sessions',
    description: 'Take in sessions that were exported as JSON lines',
    details: 'They keep their ids; one that is here already is left as it is.',
  });
  file = Option.String({ name: 'FILE' });

  override async execute(): Promise<number> {
    const file = resolve(this.place().cwd, this.file);
    const bytes = await readNamedFile(file, MAX_BYTES).catch((error: unknown) => {
      throw usageError(`${oneLine(file)} cannot be read: ${messageOf(error)}`, 'Name a file that `cast sessions export --format jsonl` wrote.');
    });
    const { transcripts, problems } = readTranscripts(bytes.toString());
    for (const problem of problems.slice(0, NAMED_PROBLEMS)) this.context.stdio.err(`cast: ${problem} and is left out\n`);
    if (problems.length > NAMED_PROBLEMS) this.context.stdio.err(`cast: ${count(problems.length - NAMED_PROBLEMS, 'more line')} left out\n`);
    await this.withStore(async (store) => {
      for (const transcript of transcripts) await this.print(await taken(store, transcript));
    });
    return problems.length > 0 ? 1 : 0;
  }
}

const taken = async (store: Store, { record, entries }: Transcript): Promise<string> => {
  const { head, messages: _, updatedAt: __, pinned, ...rest } = record;
  if (await store.get(record.id)) return `${record.id} is here already and was left as it is.`;
  if (entries.length === 0) return `${record.id} has nothing in it and was left out.`;
  await store.create(rest);
  const lease = await store.claim(record.id);
  try {
    // In one piece: half a session would pass for the whole one at the next import.
    const end = head === null || entries.some(({ id }) => id === head) ? head : (entries.at(-1)?.id ?? null);
    await store.append(record.id, entries, { epoch: lease.epoch, head: end, leave: leftOut(entries, end) });
    await store.update(record.id, { pinned, title: record.title });
  } finally {
    await lease.release();
  }
  return `${record.id} is taken in: entries ${entries.length}, ${titleOf(record)}`;
};

/** Messages of other branches, and those that a summary took the place of. */
const leftOut = (entries: readonly Entry[], head: string | null): string[] => {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const kept = new Set<string>();
  let keepFrom: string | undefined;
  let isCut = false;
  for (let at = head === null ? undefined : byId.get(head); at; at = at.parent === null ? undefined : byId.get(at.parent)) {
    if (!isCut && at.kind === 'message') kept.add(at.id);
    if (at.kind === 'compaction' && keepFrom === undefined) {
      keepFrom = at.data.keepFrom;
      if (at.data.prompt !== undefined) kept.add(at.data.prompt);
    }
    if (at.id === keepFrom) isCut = true;
  }
  return entries.filter(({ id, kind }) => (kind === 'message' || kind === 'rejected') && !kept.has(id)).map(({ id }) => id);
};
