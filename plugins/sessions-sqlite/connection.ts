/** Opens the database, whatever state its files are in. */
import type { Clock } from '../../kernel/index.ts';
import { connectTo, setUp, type Connection } from './database.ts';
import { isDamage } from './failure.ts';
import { prepareFile, prepareFolders, setOrphanAside, type Place } from './files.ts';
import type { Recovery } from './recovery.ts';

export interface Setting {
  readonly place: Place;
  readonly clock: Clock;
  readonly warn: (text: string, code: string) => void;
}

export interface OpenConnection extends Connection {
  /** Sets the file aside, puts what can be read of it into a new one, and closes this connection. */
  repair(replace: Replace): void;
}
type Replace = (damaged: Connection, file: string, now: number) => Recovery | undefined;
/** Seldom wanted, so that it is loaded then. */
export const loadRepair = async (): Promise<Replace> => (await import('./recovery.ts')).replaceWithReadable;

export const openConnection = async (setting: Setting): Promise<OpenConnection> => {
  prepareFiles(setting);
  const first = ready(setting);
  if (!first.damage) return first.connection;
  first.connection.repair(await loadRepair());
  const second = ready(setting);
  if (!second.damage) return second.connection;
  second.connection.db.close();
  throw second.damage;
};

const prepareFiles = ({ place, clock, warn }: Setting): void => {
  for (const folder of prepareFolders(place)) warn(`${folder} can be read by other users, and its mode cannot be changed.`, 'STORE_UNAVAILABLE');
  const orphan = setOrphanAside(place.file, clock.now());
  if (orphan !== undefined) warn(`The session store was gone and only its log was left. It is kept as ${orphan}; a new store was begun.`, 'STORE_CORRUPT');
  prepareFile(place.file);
};

/** A connection that is set up, or that found damage. Whatever else fails is thrown. */
const ready = (setting: Setting): { readonly connection: OpenConnection; readonly damage?: unknown } => {
  const plain = connectTo(setting.place.file);
  const connection: OpenConnection = { ...plain, repair: (replace) => repair(plain, setting, replace) };
  try {
    setUp(plain.db, setting.clock.now());
    return { connection };
  } catch (damage) {
    if (isDamage(damage)) return { connection, damage };
    plain.db.close();
    throw damage;
  }
};

const repair = (damaged: Connection, { place, clock, warn }: Setting, replace: Replace): void => {
  try {
    const outcome = replace(damaged, place.file, clock.now());
    if (!outcome) return;
    const { aside, sessions, entries } = outcome;
    warn(`The session store was damaged. It is kept as ${aside}; what could be read was saved: sessions ${sessions}, entries ${entries}.`, 'STORE_CORRUPT');
  } finally {
    // Only now: SQLite leaves the log of a file alone that is no longer where it was opened.
    damaged.db.close();
  }
};
