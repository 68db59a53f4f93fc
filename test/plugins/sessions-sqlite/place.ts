/** A home of its own for each test, and stores in it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import type { Clock, Store } from '../../../kernel/index.ts';
import { createSqliteStore } from '../../../plugins/sessions-sqlite/store.ts';
import { manualClock } from '../../contracts/store.ts';

export interface Place {
  readonly home: string;
  readonly folder: string;
  readonly file: string;
  readonly warnings: string[];
  open(clock?: Clock): Store;
  /** Any other SQLite client. */
  client<T>(ask: (db: BetterSqlite3.Database) => T): T;
  remove(): Promise<void>;
}

export const makePlace = (): Place => {
  const outer = mkdtempSync(join(tmpdir(), 'cast-store-'));
  const home = join(outer, 'home');
  const folder = join(home, 'sessions');
  const file = join(folder, 'sessions.db');
  const warnings: string[] = [];
  const stores: Store[] = [];
  return {
    home,
    folder,
    file,
    warnings,
    open(clock = manualClock()) {
      const store = createSqliteStore({ home, clock, onWarning: (text, code) => warnings.push(`${code}: ${text}`) });
      stores.push(store);
      return store;
    },
    client(ask) {
      const db = new BetterSqlite3(file);
      try {
        return ask(db);
      } finally {
        db.close();
      }
    },
    async remove() {
      for (const store of stores) await store.close();
      rmSync(outer, { recursive: true, force: true });
    },
  };
};
