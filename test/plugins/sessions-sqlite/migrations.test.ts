import { mkdirSync, readFileSync } from 'node:fs';
import BetterSqlite3 from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { migrate, MIGRATIONS, type Migration } from '../../../plugins/sessions-sqlite/migrations.ts';
import { makePlace, type Place } from './place.ts';

let place: Place;
beforeEach(() => {
  place = makePlace();
});
afterEach(() => place.remove());

const versions = (db: BetterSqlite3.Database): unknown => db.prepare('SELECT version, name, applied_at FROM schema_migrations ORDER BY version').all();
const STEPS: readonly Migration[] = [
  { name: 'one', sql: 'CREATE TABLE a (x)' },
  { name: 'two', sql: 'ALTER TABLE a ADD COLUMN y; INSERT INTO a VALUES (1, 2)' },
];

describe('migrations', () => {
  test('are applied in order, once, and recorded', () => {
    const db = new BetterSqlite3(':memory:');
    migrate(db, 7, STEPS.slice(0, 1));
    migrate(db, 8, STEPS);
    migrate(db, 9, STEPS);
    expect(versions(db)).toEqual([
      { version: 1, name: 'one', applied_at: 7 },
      { version: 2, name: 'two', applied_at: 8 },
    ]);
    expect(db.prepare('SELECT * FROM a').all()).toEqual([{ x: 1, y: 2 }]);
  });

  test('one that fails leaves nothing of itself, and those before it stay', () => {
    const db = new BetterSqlite3(':memory:');
    const broken = [...STEPS, { name: 'three', sql: 'CREATE TABLE b (x); CREATE TABLE a (x)' }];
    expect(() => migrate(db, 7, broken)).toThrow('already exists');
    expect(versions(db)).toMatchObject([{ version: 1 }, { version: 2 }]);
    expect(db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'b'").get()).toBeUndefined();
  });

  test('a new database is at the newest version', async () => {
    await place.open().list({ limit: 1 });
    expect(place.client(versions)).toMatchObject(MIGRATIONS.map((migration, index) => ({ version: index + 1, name: migration.name })));
    expect(place.client((db) => db.pragma('journal_mode', { simple: true }))).toBe('wal');
  });

  test.each(['wal', 'delete'])('a database of a newer cast (journal mode %s) is refused and not touched', async (mode) => {
    mkdirSync(place.folder, { recursive: true });
    place.client((db) => {
      db.pragma(`journal_mode = ${mode}`);
      migrate(
        db,
        7,
        Array.from({ length: MIGRATIONS.length + 1 }, () => ({ name: 'of a newer cast', sql: 'SELECT 1' })),
      );
    });
    const before = readFileSync(place.file);
    const store = place.open();
    for (let count = 0; count < 2; count += 1) {
      await expect(store.list({ limit: 1 })).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        message: expect.stringContaining(`of version ${MIGRATIONS.length + 1}, and this cast knows versions up to ${MIGRATIONS.length}`),
        fix: expect.stringContaining('newer cast'),
      });
    }
    expect(readFileSync(place.file).equals(before)).toBe(true);
  });
});
