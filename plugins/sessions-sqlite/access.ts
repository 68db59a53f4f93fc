/** The way to the database: opened on first use, opened anew when its file was replaced, and mended when it is damaged. */
import { CastError, type Later } from '../../kernel/index.ts';
import type { OpenConnection, Setting } from './connection.ts';
import { isDamage, storeError } from './failure.ts';
import { identityOf } from './files.ts';

export interface Access {
  /** May run `work` a second time, on what could be saved, when the first time met damage. Throws CastErrors only. */
  use<T>(work: (connection: OpenConnection) => Later<T>): Promise<T>;
  /** The open connection, if there is one. */
  readonly opened: OpenConnection | undefined;
  /** Runs `last` if the database is open, then closes it for good. */
  close(last: (connection: OpenConnection) => void): Promise<void>;
}

export const createAccess = (setting: Setting, onOpen: (connection: OpenConnection) => void): Access => {
  const { place } = setting;
  let opening: Promise<OpenConnection> | undefined;
  let opened: OpenConnection | undefined;
  let isClosed = false;

  const open = async (): Promise<OpenConnection> => {
    try {
      const { openConnection } = await import('./connection.ts');
      opened = await openConnection(setting);
      onOpen(opened);
      return opened;
    } catch (error) {
      opening = undefined;
      throw error;
    }
  };
  const forget = (connection: OpenConnection, close: () => void): void => {
    if (opened !== connection) return;
    opened = undefined;
    opening = undefined;
    close();
  };
  const current = (): Promise<OpenConnection> => {
    if (isClosed) throw new CastError('STORE_UNAVAILABLE', 'The session store has been closed.');
    const connection = opened;
    // SQLite would go on writing to a file that has no name any more.
    if (connection && identityOf(place.file) !== connection.identity) forget(connection, () => connection.db.close());
    opening ??= open();
    return opening;
  };
  const attempt = async <T>(work: (connection: OpenConnection) => Later<T>): Promise<T> => {
    const connection = await current();
    try {
      return await work(connection);
    } catch (error) {
      if (!isDamage(error)) throw error;
      const replace = await (await import('./connection.ts')).loadRepair();
      forget(connection, () => connection.repair(replace));
      throw error;
    }
  };

  return {
    get opened() {
      return opened;
    },
    async use(work) {
      try {
        return await attempt(work).catch((error: unknown) => {
          if (isDamage(error)) return attempt(work);
          throw error;
        });
      } catch (error) {
        throw storeError(error, place);
      }
    },
    async close(last) {
      isClosed = true;
      await opening?.catch(() => undefined);
      const connection = opened;
      if (!connection) return;
      forget(connection, () => {
        try {
          last(connection);
        } catch {
          // What it had to say can no longer be written, and closing matters more.
        }
        connection.db.close();
      });
    },
  };
};
