/** `cast sessions`: what is kept, and what was said. */
import { Command, Option } from 'clipanion';
import { CastError, type SessionRecord, type Store } from '../kernel/index.ts';
import { CastCommand, wholeNumber } from './arguments.ts';
import { endKernel, startKernel } from './processes.ts';
import { checkStreamFormat, showStream } from './sessions-stream.ts';
import { alignRows, createPaint, cut, oneLine } from './style.ts';
import { dateOf, transcriptOf } from './transcript.ts';

const LISTED = '50';

abstract class SessionsBase extends CastCommand {
  json = Option.Boolean('--json', false, { description: 'As JSON' });

  protected async withStore<T>(use: (store: Store, root: string) => Promise<T>): Promise<T> {
    const { stdio, environment } = this.context;
    const { home, root } = this.place();
    const kernel = startKernel(home, stdio, environment);
    try {
      return await use(await kernel.store(), root);
    } finally {
      await endKernel(kernel, 'read');
    }
  }
}

class ListCommand extends SessionsBase {
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

  #row({ id, updatedAt, messages, model, title, root }: SessionRecord): readonly string[] {
    return [id, dateOf(updatedAt), `${messages}`.padStart(4), model, ...(this.all ? [root] : []), oneLine(title) || '(no title)'];
  }
}

class ShowCommand extends SessionsBase {
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
    const { record, entries } = await this.withStore(async (store) => {
      const found = await store.get(this.id);
      if (!found) throw new CastError('SESSION_UNKNOWN', `there is no session ${this.id}`, { fix: 'List them with `cast sessions list --all`.' });
      return { record: found, entries: await store.branch(this.id) };
    });
    const paint = createPaint(stdio.isTerminal.out, environment);
    await this.print(this.json ? JSON.stringify({ ...record, entries }, null, 2) : transcriptOf(record, entries, paint));
    return 0;
  }
}

export const sessionCommands = [ListCommand, ShowCommand];
