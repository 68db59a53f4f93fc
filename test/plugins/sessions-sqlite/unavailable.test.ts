import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { entriesFrom, manualClock, newRecord, put, says } from '../../contracts/store.ts';
import { createSqliteStore } from '../../../plugins/sessions-sqlite/store.ts';
import { bundleChild, type Children } from './children.ts';
import { makePlace, type Place } from './place.ts';

let place: Place;
beforeEach(() => {
  place = makePlace();
});
afterEach(() => place.remove());

describe('a home that cannot be used', { timeout: 30_000 }, () => {
  let children: Children;
  beforeAll(async () => {
    children = await bundleChild();
  });
  afterAll(() => children.dispose());

  test('a file stands in its place', async () => {
    writeFileSync(place.home, '');
    await expect(place.open().list({ limit: 1 })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: `The session store ${place.file} cannot be used: its folder cannot be made.`,
      fix: expect.stringContaining(place.home),
    });
  });

  test.each(['somebody else', 'the user'])('it may only be read, and belongs to %s', async (owner) => {
    mkdirSync(place.home);
    if (owner === 'the user' && process.getuid?.() === 0) chownSync(place.home, 65_534, 65_534);
    chmodSync(place.home, 0o555);
    chmodSync(dirname(place.home), 0o755);
    const end = await children.start('stranger', place.home, `${place.home}-of-root`).done;
    expect(end).toBe(`STORE_UNAVAILABLE: The session store ${place.file} cannot be used: it cannot be written. Check that ${place.folder} can be written.\n`);
    expect(readdirSync(place.home)).toEqual([]);
  });

  test('the disk is full in the middle of a session: what was written before stays', async () => {
    const store = place.open();
    await store.create(newRecord('kept'));
    await put(store, 'kept', says('user', 'hello'));
    await store.close();
    expect(await children.startWithin(512, 'fill', place.home, 's1').done).toMatch(/^STORE_UNAVAILABLE: The session store .* cannot be used: /);
    const later = place.open();
    expect(await later.branch('kept')).toHaveLength(1);
    const entries = await later.read('s1', { limit: 100_000 });
    expect(entries.length).toBeGreaterThan(10);
    expect(entries.length % 2).toBe(0);
    expect(place.client((db) => db.pragma('integrity_check', { simple: true }))).toBe('ok');
    expect(place.warnings).toEqual([]);
  });

  test('a database that is locked for long refuses the whole batch, and works again when it is free', async () => {
    const store = place.open();
    await store.create(newRecord('s1'));
    await put(store, 's1', says('user', 'hello'));
    const lease = await store.claim('s1');
    const batch = entriesFrom(2, 'e1', says('user', 'small'), says('user', 'x'.repeat(200_000)));
    const blocker = new BetterSqlite3(place.file, { timeout: 0 });
    blocker.exec('BEGIN IMMEDIATE');
    const late = store.append('s1', batch, { epoch: lease.epoch });
    await expect(late).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', message: expect.stringContaining('another process kept it locked') });
    blocker.exec('ROLLBACK');
    blocker.close();
    expect(await store.branch('s1')).toHaveLength(1);
    await store.append('s1', batch, { epoch: lease.epoch });
    expect(await store.branch('s1')).toHaveLength(3);
  });
});

test('a folder that is removed while a session is open: the session is refused, the next one is kept', async () => {
  const store = place.open();
  await store.create(newRecord('s1'));
  await put(store, 's1', says('user', 'hello'));
  const lease = await store.claim('s1');
  rmSync(place.folder, { recursive: true });
  await expect(store.append('s1', entriesFrom(2, 'e1', says('user', 'more')), { epoch: lease.epoch })).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    message: expect.stringContaining('s1 is no longer in'),
  });
  await lease.release();
  await store.create(newRecord('s2'));
  await put(store, 's2', says('user', 'hello'));
  expect(existsSync(place.file)).toBe(true);
  expect((await store.list({ limit: 10 })).map((record) => record.id)).toEqual(['s2']);
});

describe('a native module that cannot be loaded', { timeout: 30_000 }, () => {
  test.each<[string, string]>([
    ['was never compiled', "throw new Error('Could not locate the bindings file. Tried: …')"],
    ['is for another version of Node', "throw Object.assign(new Error('was compiled against a different Node.js version'), { code: 'ERR_DLOPEN_FAILED' })"],
  ])('%s', async (_, fault) => {
    const modules = mkdtempSync(join(tmpdir(), 'cast-modules-'));
    mkdirSync(join(modules, 'better-sqlite3'));
    writeFileSync(join(modules, 'better-sqlite3', 'index.js'), `module.exports = class { constructor() { ${fault} } }`);
    const children = await bundleChild(modules);
    try {
      expect(await children.start('write', place.home, 's1').done).toMatch(
        /^STORE_UNAVAILABLE: .* its native module better-sqlite3 cannot be loaded\. Run `npm rebuild better-sqlite3`/,
      );
    } finally {
      children.dispose();
      rmSync(modules, { recursive: true });
    }
  });

  test('is not looked for before the first use', () => {
    expect(createSqliteStore({ home: place.home, clock: manualClock(), onWarning: () => undefined }).place).toBe(place.file);
    expect(existsSync(place.home)).toBe(false);
  });
});
