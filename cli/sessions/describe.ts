/** `cast sessions rename`, `pin` and `unpin`. */
import { Command, Option } from 'clipanion';
import type { SessionPatch } from '../../kernel/index.ts';
import { usageError } from '../arguments.ts';
import { oneLine } from '../style.ts';
import { known, StoreCommand } from './base.ts';

const TITLE_CHARS = 200;

abstract class PatchCommand extends StoreCommand {
  id = Option.String({ name: 'ID' });

  protected async patch(patch: SessionPatch, said: string): Promise<number> {
    await this.withStore(async (store) => {
      await known(store, this.id);
      await store.update(this.id, patch);
    });
    await this.print(said);
    return 0;
  }
}

export class RenameCommand extends PatchCommand {
  static override paths = [['sessions', 'rename']];
  static override usage = Command.Usage({ category: 'Sessions', description: 'Give a session another title; an empty one takes it away' });
  title = Option.Rest({ name: 'TITLE', required: 1 });

  override execute(): Promise<number> {
    const title = oneLine(this.title.join(' '));
    if ([...title].length > TITLE_CHARS) throw usageError(`a title has at most ${TITLE_CHARS} characters`, 'Give a shorter one.');
    return this.patch({ title }, title === '' ? `${oneLine(this.id)} has no title any more.` : `${oneLine(this.id)} is now called ${title}`);
  }
}

export class PinCommand extends PatchCommand {
  static override paths = [['sessions', 'pin']];
  static override usage = Command.Usage({ category: 'Sessions', description: 'Mark a session as one to keep at hand' });

  override execute(): Promise<number> {
    return this.patch({ pinned: true }, `${oneLine(this.id)} is pinned.`);
  }
}

export class UnpinCommand extends PatchCommand {
  static override paths = [['sessions', 'unpin']];
  static override usage = Command.Usage({ category: 'Sessions', description: 'Take that mark away' });

  override execute(): Promise<number> {
    return this.patch({ pinned: false }, `${oneLine(this.id)} is no longer pinned.`);
  }
}
