/** What the commands on sessions share. */
import { Option } from 'clipanion';
import { CastError, type SessionRecord, type Store } from '../../kernel/index.ts';
import { CastCommand } from '../arguments.ts';
import { endKernel, startKernel } from '../processes.ts';
import { oneLine } from '../style.ts';
import { takeOlder } from './legacy-folders.ts';

export abstract class StoreCommand extends CastCommand {
  protected async withStore<T>(use: (store: Store, root: string) => Promise<T>): Promise<T> {
    const { stdio, environment } = this.context;
    const { home, root } = this.place();
    const kernel = startKernel(home, stdio, environment);
    try {
      await takeOlder(
        home,
        () => kernel.store(),
        (text) => stdio.err(`cast: ${text}\n`),
      );
      return await use(await kernel.store(), root);
    } finally {
      await endKernel(kernel, 'read');
    }
  }
}

export abstract class SessionsCommand extends StoreCommand {
  json = Option.Boolean('--json', false, { description: 'As JSON' });
}

export const known = async (store: Store, id: string): Promise<SessionRecord> => {
  const found = await store.get(id);
  if (!found) throw new CastError('SESSION_UNKNOWN', `there is no session ${oneLine(id).slice(0, 80)}`, { fix: 'List them with `cast sessions list --all`.' });
  return found;
};
