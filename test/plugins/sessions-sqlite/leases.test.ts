import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { thisProcess } from '../../../plugins/sessions-sqlite/holder.ts';
import { entriesFrom, manualClock, newRecord, put, says } from '../../contracts/store.ts';
import { bundleChild, type Children } from './children.ts';
import { makePlace, type Place } from './place.ts';

let children: Children;
let place: Place;
beforeAll(async () => {
  children = await bundleChild();
});
afterAll(() => children.dispose());
beforeEach(() => {
  place = makePlace();
});
afterEach(() => place.remove());

const begun = async (clock = manualClock()) => {
  const store = place.open(clock);
  await store.create(newRecord('s1'));
  await put(store, 's1', says('user', 'hello'));
  return store;
};
/** Writes into the lease what a holder elsewhere would have. */
const heldBy = (holder: { pid?: number; started?: string | null; place?: string }, beatAt = manualClock().now()): void => {
  const { pid, started, place: where } = { ...thisProcess(), ...holder };
  place.client((db) => db.prepare('UPDATE leases SET epoch = epoch + 1, pid = ?, started = ?, place = ?, beat_at = ?').run(pid, started, where, beatAt));
};

describe('processes', { timeout: 60_000 }, () => {
  test('ten that start at once in an empty home all write their sessions', async () => {
    const ids = Array.from({ length: 10 }, (_, index) => `s${index}`);
    const ends = await Promise.all(ids.map((id) => children.start('write', place.home, id, 5).done));
    expect(ends).toEqual(ids.map(() => 'done\n'));
    const store = place.open();
    expect((await store.list({ limit: 20 })).map((record) => record.id).sort()).toEqual(ids);
    for (const id of ids) expect((await store.branch(id)).map((entry) => entry.seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(place.client((db) => db.pragma('integrity_check', { simple: true }))).toBe('ok');
  });

  test('two that want one session take turns, and their entries form one chain', async () => {
    const store = await begun();
    const ends = await Promise.all([1, 2].map(() => children.start('contend', place.home, 's1', 40).done));
    expect(ends).toEqual(['done\n', 'done\n']);
    const entries = await store.branch('s1');
    expect(entries.map((entry) => entry.seq)).toEqual(Array.from({ length: 161 }, (_, index) => index + 1));
    expect(new Set(entries.slice(1).map((entry) => entry.id.split('-')[0])).size).toBe(2);
    for (let index = 1; index < entries.length; index += 2) expect(entries[index]?.id.split('-')[0]).toBe(entries[index + 1]?.id.split('-')[0]);
  });

  test('a living holder is named; once it is killed, its lease is taken over at once and its entries are there', async () => {
    const store = await begun();
    const child = children.start('hold', place.home, 's1');
    expect(await child.line).toBe('held 2');
    await expect(store.claim('s1')).rejects.toMatchObject({ code: 'SESSION_BUSY', message: expect.stringContaining(`process ${child.process.pid}`) });
    await expect(store.remove('s1')).rejects.toMatchObject({ code: 'SESSION_BUSY' });
    child.process.kill('SIGKILL');
    await child.done;
    expect(await store.claim('s1')).toMatchObject({ epoch: 3, lastSeq: 3 });
    expect(await store.branch('s1')).toHaveLength(3);
  });
});

describe('holders', () => {
  test.each<[string, Parameters<typeof heldBy>[0], number, string]>([
    ['a pid that is not there', { pid: 2 ** 22 + 1 }, 0, 'free'],
    ['a pid that now belongs to another process', { started: '1' }, 0, 'free'],
    ['this process, through another store', {}, 0, 'busy'],
    ['this process, though its stamp is old', {}, 3_600_000, 'busy'],
    ['a process elsewhere with a fresh stamp', { place: 'another machine' }, 60_000, 'busy'],
    ['a process elsewhere with a stamp of a minute ago', { place: 'another machine' }, 60_001, 'free'],
    ['a process of which the start is not known', { started: null }, 0, 'busy'],
  ])('%s', async (_, holder, age, outcome) => {
    const clock = manualClock();
    const store = await begun(clock);
    heldBy(holder, clock.now() - age);
    const claim = async (): Promise<string> => {
      await store.claim('s1');
      return 'free';
    };
    expect(await claim().catch((error: { code: string }) => (error.code === 'SESSION_BUSY' ? 'busy' : error.code))).toBe(outcome);
  });

  test('who lost the lease to another process writes nothing more', async () => {
    const store = await begun();
    const lease = await store.claim('s1');
    heldBy({ pid: 1 });
    const late = store.append('s1', entriesFrom(2, 'e1', says('user', 'late')), { epoch: lease.epoch });
    await expect(late).rejects.toMatchObject({ code: 'STORE_LEASE_LOST', message: expect.stringContaining('process 1') });
    await lease.release();
    expect(await store.branch('s1')).toHaveLength(1);
    expect(place.client((db) => db.prepare('SELECT pid FROM leases').pluck().get())).toBe(1);
  });

  test('a held lease is stamped every ten seconds, for those who cannot see its holder', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const clock = manualClock();
      const store = await begun(clock);
      const lease = await store.claim('s1');
      const stamp = (): unknown => place.client((db) => db.prepare('SELECT beat_at FROM leases').pluck().get());
      const before = clock.now();
      clock.tick(10_000);
      vi.advanceTimersByTime(9_999);
      expect(stamp()).toBe(before);
      vi.advanceTimersByTime(1);
      expect(stamp()).toBe(clock.now());
      await lease.release();
    } finally {
      vi.useRealTimers();
    }
  });

  test('closing the store frees what it held', async () => {
    const first = await begun();
    await first.claim('s1');
    await first.close();
    expect(await place.open().claim('s1')).toMatchObject({ epoch: 3 });
  });

  test('a lease whose release failed is free for the next claim', async () => {
    const store = await begun();
    const lease = await store.claim('s1');
    place.client((db) => db.exec("CREATE TRIGGER no_release BEFORE UPDATE ON leases WHEN NEW.pid IS NULL BEGIN SELECT raise(ABORT, 'no'); END"));
    await lease.release();
    expect(place.client((db) => db.prepare('SELECT pid FROM leases').pluck().get())).toBe(process.pid);
    place.client((db) => db.exec('DROP TRIGGER no_release'));
    expect(await store.claim('s1')).toMatchObject({ epoch: 3 });
  });
});
