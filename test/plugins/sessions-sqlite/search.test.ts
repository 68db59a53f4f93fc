/** What only a database has to show about searching: older versions, damage, many processes, a project that moves. */
import { closeSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../../kernel/index.ts';
import { migrate, MIGRATIONS } from '../../../plugins/sessions-sqlite/migrations.ts';
import { newRecord, put, says } from '../../contracts/store.ts';
import { bundleChild, type Children } from './children.ts';
import { makePlace, type Place } from './place.ts';

let place: Place;
let children: Children;
beforeAll(async () => {
  children = await bundleChild();
}, 60_000);
afterAll(() => children.dispose());
beforeEach(() => {
  place = makePlace();
});
afterEach(() => place.remove());

const found = async (store: Store, text: string): Promise<string[]> =>
  ((await store.search?.({ text, limit: 50 }))?.hits ?? []).map((hit) => hit.session.id).sort();

/** A database as the first version wrote it, with `count` sessions of one message each. */
const makeFirstVersion = (count: number): void => {
  mkdirSync(place.folder, { recursive: true });
  place.client((db) => {
    db.pragma('journal_mode = WAL');
    migrate(db, 7, MIGRATIONS.slice(0, 1));
    const session = db.prepare("INSERT INTO sessions VALUES (?, '/p', '/p', '', 'm', 'l', NULL, 'conversation', 0, 'e1', 1, 1, 5, 5)");
    const entry = db.prepare("INSERT INTO entries VALUES ('e1', ?, NULL, 1, 'message', 5, ?)");
    const message = db.prepare("INSERT INTO messages VALUES (?, 1, 'e1', 'user', 1, 5, ?)");
    db.transaction(() => {
      for (let index = 0; index < count; index += 1) {
        const text = `needle number ${index}`;
        session.run(`s${index}`);
        entry.run(`s${index}`, JSON.stringify({ role: 'user', origin: 'user', blocks: [{ type: 'text', text }] }));
        message.run(`s${index}`, JSON.stringify({ content: text, role: 'user', origin: 'user', blocks: [] }));
      }
    })();
  });
};

describe('a database of the first version', () => {
  test('keeps every row, and what was said in it is found', async () => {
    makeFirstVersion(3);
    const rows = (): unknown => place.client((db) => ['entries', 'messages'].map((table) => db.prepare(`SELECT * FROM ${table} ORDER BY session_id`).all()));
    const before = rows();
    const store = place.open();
    expect(await found(store, 'needle')).toEqual(['s0', 's1', 's2']);
    expect(await found(store, 'number 1')).toEqual(['s1']);
    await put(store, 's2', says('user', 'haystack'));
    expect(await found(store, 'haystack needle')).toEqual(['s2']);
    await store.remove('s2');
    expect(await found(store, 'needle')).toEqual(['s0', 's1']);
    await store.close();
    expect(before).toMatchObject([{ length: 3 }, { length: 3 }]);
    expect(place.client((db) => db.prepare('SELECT count(*) FROM search_backlog').pluck().get())).toBe(0);
  });

  test('opens without its messages being indexed; a search does a part of it, says how many are left, and the newest come first', async () => {
    makeFirstVersion(7_000);
    const store = place.open();
    await store.get('s1');
    expect(place.client((db) => db.prepare('SELECT below FROM search_backlog').pluck().get())).toBe(7_001);
    expect(await store.search?.({ text: 'number 6999', limit: 5 })).toMatchObject({ hits: [{ session: { id: 's6999' } }], waiting: 2_001 });
    expect(await store.search?.({ text: 'number 3', limit: 5 })).toMatchObject({ waiting: 0 });
    expect(await found(store, '"number 3"')).toContain('s3');
  });
});

describe('an index that is damaged', () => {
  test.each([
    ['search_words_data', 'needle'],
    ['search_parts_data', 'aystac'],
  ])('is made anew from the messages, and no other file takes the place of the database (%s)', async (table, text) => {
    const store = place.open();
    await store.create(newRecord('s1'));
    await put(store, 's1', says('user', 'needle in a haystack'));
    place.client((db) => {
      db.unsafeMode(true);
      db.prepare(`UPDATE ${table} SET block = x'ffffffffffffffffffffff' WHERE id > 10`).run();
    });
    expect(await found(store, text)).toEqual(['s1']);
    await put(store, 's1', says('user', 'thread'));
    expect(await found(store, 'thread needle')).toEqual(['s1']);
    expect(place.warnings).toEqual([]);
  });
});

test('B046: what was saved from a damaged file is found again', async () => {
  const store = place.open();
  await store.create(newRecord('s1'));
  await put(store, 's1', says('user', 'needle'));
  await store.close();
  const page = place.client((db) => {
    db.pragma('wal_checkpoint(TRUNCATE)');
    return Number(db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'sessions_by_time'").pluck().get());
  });
  const handle = openSync(place.file, 'r+');
  writeSync(handle, Buffer.alloc(4096, 0xa5), 0, 4096, (page - 1) * 4096);
  closeSync(handle);
  const again = place.open();
  expect(await found(again, 'needle')).toEqual(['s1']);
  expect(place.warnings.join()).toContain('STORE_CORRUPT');
  await put(again, 's1', says('user', 'thread'));
  expect(await found(again, 'thread needle')).toEqual(['s1']);
});

test('ten processes append at once in one home: nothing is lost, and all of it is found', async () => {
  const rounds = 10;
  const running = Array.from({ length: 10 }, (_, index) => children.start('write', place.home, `w${index}`, rounds));
  expect(await Promise.all(running.map(({ done }) => done))).toEqual(running.map(() => 'done\n'));
  const store = place.open();
  expect((await store.list({ limit: 20 })).length).toBe(10);
  for (const [index, { process: child }] of running.entries()) {
    expect(await store.branch(`w${index}`)).toHaveLength(rounds * 2);
    expect(await found(store, `${child.pid} xxx`)).toContain(`w${index}`);
  }
  const counts = place.client((db) => ['messages', 'search_messages'].map((table) => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get()));
  expect(counts).toEqual([200, 200]);
  expect(place.client((db) => db.pragma('integrity_check', { simple: true }))).toBe('ok');
});

test('a candidate further back than the newest 2,000 is found when more is asked for, and through a rare word at once', async () => {
  const store = place.open();
  await store.create(newRecord('old', { title: 'x' }));
  await put(store, 'old', says('user', 'common rare'));
  await store.create(newRecord('new', { title: 'x' }));
  await put(store, 'new', ...Array.from({ length: 2_100 }, () => says('user', 'common')));
  const ids = async (text: string, more?: number) =>
    (await store.search?.({ text, limit: 10, ...(more !== undefined && { more }) }))?.hits.map((hit) => hit.session.id);
  expect(await ids('common')).toEqual(['new']);
  expect((await store.search?.({ text: 'common', limit: 10 }))?.hasMore).toBe(true);
  expect((await ids('common', 1))?.sort()).toEqual(['new', 'old']);
  expect(await ids('common rare')).toEqual(['old']);
});

test('B047: sessions follow the folder of their project; a new folder of its old name has none of them', async () => {
  const [first, second] = [join(place.home, 'first'), join(place.home, 'second')];
  mkdirSync(first, { recursive: true });
  const store = place.open();
  await store.create(newRecord('s1', { root: first, cwd: join(first, 'src') }));
  await put(store, 's1', says('user', 'needle'));
  renameSync(first, second);
  mkdirSync(first);
  const search = async (root: string) => (await store.search?.({ text: 'needle', root, limit: 5 }))?.hits.map((hit) => hit.session.id);
  expect(await search(second)).toEqual(['s1']);
  expect(await store.get('s1')).toMatchObject({ root: second, cwd: join(second, 'src') });
  expect(await search(first)).toEqual([]);
  expect(await store.list({ root: first, limit: 5 })).toEqual([]);
  expect(await store.list({ root: second, limit: 5 })).toMatchObject([{ id: 's1' }]);
});
