/** `cast sessions import`. */
import { resolve } from 'node:path';
import { Command, Option } from 'clipanion';
import { messageOf } from '../../kernel/index.ts';
import { usageError } from '../arguments.ts';
import { readNamedFile } from '../named-file.ts';
import { count, oneLine } from '../style.ts';
import { StoreCommand } from './base.ts';
import { isExported, readTranscripts, type ReadTranscripts } from './jsonl.ts';
import { takeIn } from './take-in.ts';

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
    const text = bytes.toString();
    const older = isExported(text) ? undefined : await this.#older(file);
    const { transcripts, problems } = older ?? readTranscripts(text);
    for (const problem of problems.slice(0, NAMED_PROBLEMS)) this.context.stdio.err(`cast: ${problem} and is left out\n`);
    if (problems.length > NAMED_PROBLEMS) this.context.stdio.err(`cast: ${count(problems.length - NAMED_PROBLEMS, 'more line')} left out\n`);
    await this.withStore(async (store) => {
      for (const transcript of transcripts) await this.print(await takeIn(store, transcript));
    });
    return problems.length > 0 ? 1 : 0;
  }

  /** Undefined for what is none: then the reader of exports says what is wrong with it. */
  async #older(file: string): Promise<ReadTranscripts | undefined> {
    const { legacyIn } = await import('./legacy.ts');
    const transcript = await legacyIn(file, this.place().home).catch(() => undefined);
    return transcript && { transcripts: [transcript], problems: [] };
  }
}
