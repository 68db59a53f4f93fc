/** `cast sessions delete`. */
import { Command, Option } from 'clipanion';
import { usageError } from '../arguments.ts';
import { openDialogue } from '../first-run/dialogue.ts';
import { count, oneLine } from '../style.ts';
import { known, StoreCommand } from './base.ts';
import { titleOf } from './transcript.ts';

export class DeleteCommand extends StoreCommand {
  static override paths = [['sessions', 'delete']];
  static override usage = Command.Usage({
    category: 'Sessions',
    description: 'Remove sessions for good, with those of their subagents',
    details: 'One that is being written is not removed. `cast sessions export --format jsonl` keeps a copy.',
  });
  yes = Option.Boolean('--yes', false, { description: 'Without asking' });
  ids = Option.Rest({ name: 'ID', required: 1 });

  override async execute(): Promise<number> {
    const { stdio } = this.context;
    const ids = [...new Set(this.ids)];
    if (!this.yes && !(stdio.isTerminal.in && stdio.isTerminal.out)) throw usageError('removing sessions has to be confirmed', 'Add --yes.');
    return this.withStore(async (store) => {
      // All of them are looked up first: a wrong id removes nothing.
      const records = [];
      for (const id of ids) records.push(await known(store, id));
      if (!this.yes && !(await this.#agree(records.map((record) => `  ${oneLine(record.id)}  ${titleOf(record)}`)))) {
        await this.print('Nothing was removed.');
        return 0;
      }
      for (const { id } of records) {
        await store.remove(id);
        await this.print(`${oneLine(id)} is removed.`);
      }
      return 0;
    });
  }

  async #agree(lines: readonly string[]): Promise<boolean> {
    const dialogue = openDialogue(this.context.stdio, process.stdin);
    try {
      dialogue.say(lines.join('\n'));
      const answer = await dialogue.ask(`Remove ${count(lines.length, 'session')} for good? [y/N] `);
      return /^y(es)?$/i.test(answer ?? '');
    } finally {
      dialogue.close();
    }
  }
}
