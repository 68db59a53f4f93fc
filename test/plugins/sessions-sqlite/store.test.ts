import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Host, Store } from '../../../kernel/index.ts';
import plugin from '../../../plugins/sessions-sqlite/index.ts';
import { calls, entriesFrom, manualClock, newRecord, put, says, testStore } from '../../contracts/store.ts';
import { makePlace, type Place } from './place.ts';

testStore('the SQLite store', async (clock) => {
  const place = makePlace();
  return { store: place.open(clock), dispose: place.remove };
});

let place: Place;
beforeEach(() => {
  place = makePlace();
});
afterEach(() => place.remove());

const begin = async (store: Store, id = 's1'): Promise<void> => {
  await store.create(newRecord(id));
  await put(store, id, says('user', 'hello'), calls('looking'), says('tool', 'a.txt'), says('assistant', 'one file'));
};
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe('files', () => {
  test('setting up makes nothing; the first use does', async () => {
    const stores: Store[] = [];
    const disposals: (() => unknown)[] = [];
    const host = {
      home: place.home,
      clock: manualClock(),
      stores: { add: (store: Store) => stores.push(store) },
      onDispose: (run: () => unknown) => disposals.push(run),
    };
    await plugin.spec.setup?.(host as unknown as Host<never>);
    expect(existsSync(place.home)).toBe(false);
    const [store] = stores;
    expect(store?.place).toBe(place.file);
    expect(await store?.get('nobody')).toBeUndefined();
    expect(existsSync(place.file)).toBe(true);
    await disposals[0]?.();
  });

  test.each([0o000, 0o022, 0o077])('are private under the umask %o', async (umask) => {
    const before = process.umask(umask);
    try {
      await begin(place.open());
    } finally {
      process.umask(before);
    }
    expect([place.home, place.folder].map(modeOf)).toEqual(['700', '700']);
    expect([place.file, `${place.file}-wal`, `${place.file}-shm`].map(modeOf)).toEqual(['600', '600', '600']);
  });

  test('a home and a database that were open to others are closed', async () => {
    const first = place.open();
    await begin(first);
    await first.close();
    for (const folder of [place.home, place.folder]) chmodSync(folder, 0o755);
    chmodSync(place.file, 0o644);
    await place.open().list({ limit: 1 });
    expect([place.home, place.folder, place.file].map(modeOf)).toEqual(['700', '700', '600']);
  });

  test('a home that is a shared folder stays shared', async () => {
    mkdirSync(place.home);
    chmodSync(place.home, 0o1777);
    await place.open().list({ limit: 1 });
    expect([place.home, place.folder].map(modeOf)).toEqual(['777', '700']);
  });
});

describe('rows', () => {
  test('one row of each message, readable with any client', async () => {
    await begin(place.open());
    const rows = place.client((db) => db.prepare('SELECT session_id, seq, role, content_json, in_context, created_at FROM messages ORDER BY seq').all()) as {
      content_json: string;
    }[];
    expect(rows.map((row) => ({ ...row, content_json: JSON.parse(row.content_json) }))).toMatchObject([
      { session_id: 's1', seq: 1, role: 'user', in_context: 1, created_at: 5_001, content_json: { content: 'hello', role: 'user', origin: 'user' } },
      { seq: 2, role: 'assistant', content_json: { content: 'looking', blocks: [{ type: 'call', tool: 'bash' }] } },
      { seq: 3, role: 'tool', content_json: { content: 'a.txt', blocks: [{ type: 'result', status: 'ok' }] } },
      { seq: 4, role: 'assistant', content_json: { content: 'one file', blocks: [] } },
    ]);
  });

  test('images stand in the entry alone', async () => {
    const store = place.open();
    await store.create(newRecord('s1'));
    const picture = { mediaType: 'image/png', data: 'AAAA' };
    await put(
      store,
      's1',
      says('user', 'look', {
        blocks: [
          { type: 'text', text: 'look' },
          { type: 'image', image: picture },
        ],
      }),
    );
    const row = place.client((db) => db.prepare('SELECT content_json FROM messages').pluck().get()) as string;
    expect(JSON.parse(row).blocks).toEqual([{ type: 'image', image: { mediaType: 'image/png' } }]);
    expect(JSON.stringify(await store.branch('s1'))).toContain('AAAA');
  });

  test('a rejected reply has a row, and what leaves and enters the context is told by the append', async () => {
    const store = place.open();
    await begin(store);
    const lease = await store.claim('s1');
    const context = (): unknown => place.client((db) => db.prepare('SELECT seq FROM messages WHERE in_context = 1 ORDER BY seq').pluck().all());
    const message = { role: 'assistant', origin: 'model', blocks: [] } as const;
    await store.append('s1', entriesFrom(5, 'e4', { kind: 'rejected', data: { message, reasons: ['empty'] } }), { epoch: lease.epoch });
    expect(context()).toEqual([1, 2, 3, 4, 5]);
    await store.append('s1', entriesFrom(6, 'e5', says('assistant', 'better')), { epoch: lease.epoch, leave: ['e1', 'e5', 'e6'] });
    expect(context()).toEqual([2, 3, 4]);
    await store.append('s1', [], { epoch: lease.epoch, enter: ['e1'], leave: ['e4'] });
    expect(context()).toEqual([1, 2, 3]);
  });

  test('a session in which nothing was said leaves no row', async () => {
    const store = place.open();
    await store.create(newRecord('s1'));
    const lease = await store.claim('s1');
    await store.append('s1', [], { epoch: lease.epoch, head: null });
    await lease.release();
    await store.close();
    expect(place.client((db) => db.prepare('SELECT count(*) FROM sessions').pluck().get())).toBe(0);
  });

  test('what was written is there when the store is opened again', async () => {
    const first = place.open();
    await begin(first);
    const [record, entries] = [await first.get('s1'), await first.branch('s1')];
    await first.close();
    const second = place.open();
    expect(await second.get('s1')).toEqual(record);
    expect(await second.branch('s1')).toEqual(entries);
    expect(place.warnings).toEqual([]);
  });

  test.each([
    "UPDATE entries SET data_json = '{}'",
    'UPDATE entries SET parent_id = NULL WHERE seq = 2',
    'DELETE FROM entries WHERE seq = 4',
    "UPDATE messages SET content_json = '{}'",
    "UPDATE messages SET role = 'user' WHERE seq = 2",
    'DELETE FROM messages',
    'UPDATE OR REPLACE messages SET seq = 9 WHERE seq = 1',
  ])('the database refuses: %s', async (sql) => {
    const store = place.open();
    await begin(store);
    expect(() => place.client((db) => db.exec(sql))).toThrow(/never changed|only with their session/);
    expect(await store.branch('s1')).toHaveLength(4);
  });

  test('removing a session removes every row of it, and of no other', async () => {
    const store = place.open();
    await begin(store, 's1');
    await begin(store, 's2');
    await store.remove('s1');
    const rows = place.client((db) =>
      ['sessions', 'entries', 'messages', 'leases'].map((table) =>
        db
          .prepare(`SELECT DISTINCT ${table === 'sessions' ? 'id' : 'session_id'} FROM ${table}`)
          .pluck()
          .all(),
      ),
    );
    expect(rows).toEqual([['s2'], ['s2'], ['s2'], ['s2']]);
  });

  test('ten thousand entries are read as a branch within three seconds, on a busy machine', { timeout: 30_000 }, async () => {
    const store = place.open();
    await store.create(newRecord('s1'));
    const lease = await store.claim('s1');
    const news = Array.from({ length: 10_000 }, (_, index) => says('user', `message ${index} ${'x'.repeat(300)}`));
    await store.append('s1', entriesFrom(1, null, ...news), { epoch: lease.epoch });
    const begun = performance.now();
    expect(await store.branch('s1')).toHaveLength(10_000);
    expect(performance.now() - begun).toBeLessThan(3_000);
  });
});
