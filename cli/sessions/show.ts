/** `cast sessions show`. */
import { Command, Option } from 'clipanion';
import { createPaint } from '../style.ts';
import { known, SessionsCommand } from './base.ts';
import { transcriptOf } from './transcript.ts';

export class ShowCommand extends SessionsCommand {
  static override paths = [['sessions', 'show']];
  static override usage = Command.Usage({ category: 'Sessions', description: 'What was said in a session' });
  id = Option.String({ name: 'ID' });

  override async execute(): Promise<number> {
    const { stdio, environment } = this.context;
    const { record, entries } = await this.withStore(async (store) => ({ record: await known(store, this.id), entries: await store.branch(this.id) }));
    const paint = createPaint(stdio.isTerminal.out, environment);
    await this.print(this.json ? JSON.stringify({ ...record, entries }, null, 2) : transcriptOf(record, entries, paint));
    return 0;
  }
}
