/** `cast sessions list`. */
import { Command, Option } from 'clipanion';
import type { SessionRecord } from '../../kernel/index.ts';
import { wholeNumber } from '../arguments.ts';
import { alignRows, cut, oneLine } from '../style.ts';
import { SessionsCommand } from './base.ts';
import { dateOf, titleOf } from './transcript.ts';

const LISTED = '50';

export class ListCommand extends SessionsCommand {
  static override paths = [['sessions', 'list']];
  static override usage = Command.Usage({ category: 'Sessions', description: 'Sessions of this project, the newest first' });
  all = Option.Boolean('--all', false, { description: 'Of every project' });
  limit = Option.String('--limit', LISTED, { description: `How many; default ${LISTED}` });

  override async execute(): Promise<number> {
    const limit = wholeNumber('--limit', this.limit);
    const records = await this.withStore(async (store, root) => store.list({ kind: 'conversation', limit, ...(this.all ? {} : { root }) }));
    if (this.json) await this.print(JSON.stringify(records, null, 2));
    else if (records.length === 0) await this.print(this.all ? 'There are no sessions.' : 'There are no sessions of this project; --all lists every project.');
    else await this.print(alignRows(records.map((record) => this.#row(record))).map((row) => cut(row, this.context.stdio.columns ?? Number.POSITIVE_INFINITY)));
    return 0;
  }

  #row(record: SessionRecord): readonly string[] {
    const { id, updatedAt, messages, model, root, pinned } = record;
    return [
      oneLine(id),
      dateOf(updatedAt),
      `${messages}`.padStart(4),
      oneLine(model),
      ...(this.all ? [oneLine(root)] : []),
      `${pinned ? '★ ' : ''}${titleOf(record)}`,
    ];
  }
}
