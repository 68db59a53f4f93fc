import { closeSync, copyFileSync, openSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../../kernel/index.ts';
import { entriesFrom, newRecord, put, says } from '../../contracts/store.ts';
import { bundleChild, type Children } from './children.ts';
import { makePlace, type Place } from './place.ts';

const PAGE = 4_096;
let place: Place;
beforeEach(() => {
  place = makePlace();
});
afterEach(() => place.remove());

const text = (session: string, index: number): string => `${session} says ${index} ${'x'.repeat(400)}`;
const fill = async (store: Store, sessions = 6, entries = 20): Promise<void> => {
  for (let session = 1; session <= sessions; session += 1) {
    const id = `s${session}`;
    await store.create(newRecord(id, { cwd: `/project/${id}` }));
    await put(store, id, ...Array.from({ length: entries }, (_, index) => says('user', text(id, index))));
  }
};
const filled = async (): Promise<void> => {
  const store = place.open();
  await fill(store);
  await store.close();
};
const overwrite = (page: number, bytes = Buffer.alloc(PAGE, 0xa5)): void => {
  const handle = openSync(place.file, 'r+');
  writeSync(handle, bytes, 0, bytes.length, (page - 1) * PAGE);
  closeSync(handle);
};
const setAside = (): string[] => readdirSync(place.folder).filter((name) => /^sessions\.db\.corrupt-[^/]*Z$/.test(name));
/** New sessions work, whatever came before. */
const expectUsable = async (store: Store): Promise<void> => {
  await store.create(newRecord('fresh'));
  await put(store, 'fresh', says('user', 'works'));
  expect(await store.branch('fresh')).toHaveLength(1);
  expect((await store.list({ limit: 100 })).map((record) => record.id)).toContain('fresh');
  expect(place.client((db) => db.pragma('integrity_check', { simple: true }))).toBe('ok');
  expect(readdirSync(place.folder).filter((name) => name.includes('.new-'))).toEqual([]);
};

describe('a damaged file', { timeout: 60_000 }, () => {
  test.each<[string, () => void]>([
    ['cut to 100 bytes', () => truncateSync(place.file, 100)],
    ['that is something else', () => writeFileSync(place.file, 'not a database at all\n'.repeat(300))],
    ['with its first page overwritten', () => overwrite(1)],
  ])('%s is kept, and a new one is begun', async (_, damage) => {
    await filled();
    damage();
    const before = readFileSync(place.file);
    const store = place.open();
    expect(await store.get('s1')).toBeUndefined();
    const [kept = ''] = setAside();
    expect(readFileSync(join(place.folder, kept)).equals(before)).toBe(true);
    expect(place.warnings).toEqual([expect.stringContaining(`STORE_CORRUPT: The session store was damaged. It is kept as ${join(place.folder, kept)}`)]);
    expect((statSync(join(place.folder, kept)).mode & 0o777).toString(8)).toBe('600');
    await expectUsable(store);
  });

  test('with any one page overwritten, it is kept and nearly all is saved', async () => {
    const made = place.open();
    await fill(made, 4, 15);
    await made.close();
    const whole = `${place.file}.whole`;
    copyFileSync(place.file, whole);
    const pages = statSync(whole).size / PAGE;
    expect(pages).toBeGreaterThan(20);
    // Without the page that leads to all others of its table nothing of the table is found, and nothing at all without the list of tables.
    const fatal = place.client((db) => [
      db.prepare("SELECT rootpage FROM sqlite_master WHERE name = 'entries'").pluck().get(),
      ...db.prepare("SELECT pageno FROM dbstat WHERE name = 'sqlite_schema'").pluck().all(),
    ]);
    for (let page = 2; page <= pages; page += 1) {
      for (const name of readdirSync(place.folder)) if (!name.endsWith('.whole')) rmSync(join(place.folder, name));
      place.warnings.length = 0;
      copyFileSync(whole, place.file);
      overwrite(page);
      const store = place.open();
      const records = await store.list({ limit: 100 });
      expect(place.warnings, `page ${page}`).toEqual([expect.stringContaining('STORE_CORRUPT')]);
      expect(setAside()).toHaveLength(1);
      let saved = 0;
      for (const { id } of records) {
        const branch = await store.branch(id);
        saved += branch.length;
        for (const entry of branch) expect(JSON.stringify(entry.data)).toContain(text(id, entry.seq - 1));
      }
      if (!fatal.includes(page)) expect(saved, `page ${page} of ${pages}`).toBeGreaterThanOrEqual(4 * 15 - 8);
      await store.close();
    }
  });

  test('keeps what left the context out of it, and a session whose own row is lost is found by its id', async () => {
    const first = place.open();
    await fill(first);
    const lease = await first.claim('s2');
    await first.append('s2', [], { epoch: lease.epoch, leave: ['e1', 'e2'], head: 'e10' });
    await first.close();
    const page = place.client((db) => Number(db.prepare("SELECT rootpage FROM sqlite_master WHERE name = 'sessions'").pluck().get()));
    overwrite(page);
    const store = place.open();
    expect(await store.get('s1')).toMatchObject({ title: expect.stringMatching(/^s1 says 0/), messages: 20, head: 'e20', cwd: '' });
    expect(await store.branch('s1')).toHaveLength(20);
    const hidden = place.client((db) => db.prepare("SELECT seq FROM messages WHERE session_id = 's2' AND in_context = 0").pluck().all());
    expect(hidden).toEqual([1, 2]);
    await expectUsable(store);
  });
});

describe('damage that shows while the store is used', { timeout: 60_000 }, () => {
  /** Large enough that opening does not read all of it. */
  const filledLarge = async (): Promise<Store> => {
    const store = place.open();
    await fill(store, 30, 120);
    await store.close();
    expect(statSync(place.file).size).toBeGreaterThan(3 * 1024 * 1024);
    return place.open();
  };
  const rootOf = (table: string): number => place.client((db) => Number(db.prepare('SELECT rootpage FROM sqlite_master WHERE name = ?').pluck().get(table)));

  test('is mended under the hands of whoever holds a session, and the append goes through', async () => {
    const store = await filledLarge();
    const page = rootOf('messages');
    overwrite(page);
    const lease = await store.claim('s3');
    expect(place.warnings).toEqual([]);
    await store.append('s3', entriesFrom(121, 'e120', says('user', 'goes on')), { epoch: lease.epoch });
    expect(place.warnings).toEqual([expect.stringContaining('sessions 30, entries 3600')]);
    expect(await store.branch('s3')).toHaveLength(121);
    await lease.release();
    await expectUsable(store);
  });

  test('is mended when it shows in a list', async () => {
    const store = await filledLarge();
    overwrite(rootOf('sessions_by_root'));
    expect(await store.get('s3')).toBeDefined();
    expect(place.warnings).toEqual([]);
    expect(await store.list({ limit: 100, root: '/project' })).toHaveLength(30);
    expect(place.warnings).toEqual([expect.stringContaining('sessions 30, entries 3600')]);
    await expectUsable(store);
  });

  test('costs the rest of a session that cannot be saved, not the store', async () => {
    const store = await filledLarge();
    overwrite(rootOf('entries'));
    const lease = await store.claim('s3');
    const append = async (): Promise<unknown> => store.append('s3', entriesFrom(121, 'e120', says('user', 'goes on')), { epoch: lease.epoch });
    await expect(append()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', message: expect.stringContaining('s3 is no longer in') });
    await lease.release();
    await expectUsable(store);
  });

  test('a row that is no JSON is left out, and the rest of its branch is read', async () => {
    const store = place.open();
    await fill(store, 1, 5);
    place.client((db) => db.exec('DROP TRIGGER entries_never_change; UPDATE entries SET data_json = \'{"role":\' WHERE seq = 3'));
    expect((await store.branch('s1')).map((entry) => entry.seq)).toEqual([1, 2, 4, 5]);
    expect((await store.read('s1', { limit: 3 })).map((entry) => entry.seq)).toEqual([5, 4]);
    expect(place.warnings[0]).toBe('STORE_CORRUPT: 1 entries of session s1 cannot be read and were left out.');
    expect(await store.list({ limit: 1 })).toMatchObject([{ id: 's1', messages: 5 }]);
    await expectUsable(store);
  });

  test('a row of messages that is no JSON harms nothing', async () => {
    const store = place.open();
    await fill(store, 1, 5);
    place.client((db) => db.exec("DROP TRIGGER messages_never_change; UPDATE messages SET content_json = '{' WHERE seq = 3"));
    expect(await store.branch('s1')).toHaveLength(5);
    const lease = await store.claim('s1');
    await store.append('s1', [], { epoch: lease.epoch, leave: ['e3'] });
    expect(place.warnings).toEqual([]);
  });
});

describe('files that do not belong together', { timeout: 60_000 }, () => {
  test('a log without its database is kept, and a new store is begun', async () => {
    await fill(place.open());
    const log = readFileSync(`${place.file}-wal`);
    await place.remove();
    const store = place.open();
    await store.list({ limit: 1 });
    await store.close();
    rmSync(place.file);
    writeFileSync(`${place.file}-wal`, log);
    const later = place.open();
    expect(await later.list({ limit: 1 })).toEqual([]);
    const kept = readdirSync(place.folder).filter((name) => name.endsWith('Z-wal'));
    expect(readFileSync(join(place.folder, kept[0] ?? '')).equals(log)).toBe(true);
    expect(place.warnings).toEqual([expect.stringContaining(`It is kept as ${join(place.folder, kept[0] ?? '')}`)]);
    await expectUsable(later);
  });

  test('a log left by a killed process is played in', async () => {
    const children = await bundleChild();
    try {
      const store = place.open();
      await fill(store, 1, 1);
      const child = children.start('hold', place.home, 's1');
      await child.line;
      await store.close();
      child.process.kill('SIGKILL');
      await child.done;
      expect(statSync(`${place.file}-wal`).size).toBeGreaterThan(0);
      expect(await place.open().branch('s1')).toHaveLength(3);
      expect(place.warnings).toEqual([]);
    } finally {
      children.dispose();
    }
  });
});

describe('several processes on a damaged file', { timeout: 60_000 }, () => {
  let children: Children;
  beforeAll(async () => {
    children = await bundleChild();
  });
  afterAll(() => children.dispose());

  test('set it aside once, and each writes its session into the new one', async () => {
    await filled();
    overwrite(20);
    const ids = Array.from({ length: 6 }, (_, index) => `p${index}`);
    expect(await Promise.all(ids.map((id) => children.start('write', place.home, id, 5).done))).toEqual(ids.map(() => 'done\n'));
    expect(setAside()).toHaveLength(1);
    const store = place.open();
    for (const id of ids) expect(await store.branch(id)).toHaveLength(10);
    await expectUsable(store);
  });

  test('a process goes on in the file by which another has replaced its own, though its lease could not be read', async () => {
    const store = place.open();
    await fill(store, 6, 20);
    const lease = await store.claim('s1');
    place.client((db) => db.pragma('wal_checkpoint(TRUNCATE)'));
    const leases = place.client((db) => Number(db.prepare("SELECT rootpage FROM sqlite_master WHERE name = 'leases'").pluck().get()));
    overwrite(leases);
    overwrite(20);
    expect(await children.start('write', place.home, 'other', 1).done).toBe('done\n');
    expect(setAside()).toHaveLength(1);
    await store.append('s1', entriesFrom(21, 'e20', says('user', 'goes on')), { epoch: lease.epoch });
    expect((await store.list({ limit: 20 })).map((record) => record.id)).toContain('other');
    const saved = await store.branch('s1');
    expect(saved.at(-1)?.id).toBe('e21');
    expect(saved.length).toBeGreaterThanOrEqual(21 - 8);
    expect(place.client((db) => db.prepare("SELECT id FROM entries WHERE session_id = 's1' ORDER BY seq").pluck().all())).toEqual(
      saved.map((entry) => entry.id),
    );
  });
});
