/** `cast sessions show`. */
import { Command, Option } from 'clipanion';
import { createPaint } from '../style.ts';
import { known, SessionsCommand } from './base.ts';
import { checkStreamFormat, showStream } from './stream.ts';
import { transcriptOf } from './transcript.ts';

export class ShowCommand extends SessionsCommand {
  static override paths = [['sessions', 'show']];
  static override usage = Command.Usage({ category: 'Sessions', description: 'What was said in a session' });
  format = Option.String('--format', { description: 'stream-json: as a stream of records' });
  id = Option.String({ name: 'ID' });

  override async execute(): Promise<number> {
    const { stdio, environment } = this.context;
    if (this.format !== undefined) {
      checkStreamFormat(this.format);
      await this.withStore((store) => showStream(store, this.id, (line) => this.print(line)));
      return 0;
    }
    const { record, entries } = await this.withStore(async (store) => ({ record: await known(store, this.id), entries: await store.branch(this.id) }));
    const paint = createPaint(stdio.isTerminal.out, environment);
    await this.print(this.json ? JSON.stringify({ ...record, entries }, null, 2) : transcriptOf(record, entries, paint));
    return 0;
  }
}
