import { chmodSync, lstatSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LineCache } from '../../../../plugins/files/hashline/line-cache.ts';
import { openLines } from '../../../../plugins/files/hashline/open-lines.ts';
import { type Desk, openDesk } from '../desk.ts';
import { anchorsOf, rows } from './line-desk.ts';

/** Time goes on by an hour with each look, so that every file has settled. */
let hours = 0;
const later = (): number => Date.now() + ++hours * 3_600_000;

let desk: Desk;
beforeEach(() => {
  desk = openDesk({ mode: 'hashline', now: later });
});
afterEach(() => desk.remove());

const bigStat = (path: string) => lstatSync(path, { bigint: true });

describe('what is kept', () => {
  let loads: number;
  let cache: LineCache;
  beforeEach(() => {
    loads = 0;
    cache = new LineCache({ now: later });
  });
  const open = async (name: string) => {
    const path = join(desk.cwd, name);
    const stat = bigStat(path);
    const opened = await openLines(cache, path, stat, async () => {
      loads += 1;
      return { bytes: await readFile(path), stat };
    });
    return opened?.table.text;
  };

  test('a file that did not change is read once, and has the same bytes again', async () => {
    const path = desk.put('a.txt', '\ufeffone\r\nü');
    const stat = bigStat(path);
    const load = async () => ({ bytes: await readFile(path), stat });
    const first = await openLines(cache, path, stat, load);
    const second = await openLines(cache, path, stat, () => Promise.reject(new Error('read again')));
    expect(second?.table).toBe(first?.table);
    expect(second?.bytes).toEqual(await readFile(path));
  });
  test.each([
    ['other content', (path: string) => writeFileSync(path, 'two\nand more\n'), 'two\nand more\n'],
    [
      'other content of the same size, its time set back',
      (path: string) => {
        writeFileSync(path, 'two\n');
        utimesSync(path, 1000, 1000);
      },
      'two\n',
    ],
    [
      'another file of the same size and time',
      (path: string) => {
        writeFileSync(`${path}.new`, 'two\n');
        utimesSync(`${path}.new`, 1000, 1000);
        renameSync(`${path}.new`, path);
      },
      'two\n',
    ],
  ])('%s is read anew', async (_name, change, expected) => {
    const path = desk.put('a.txt', 'one\n');
    utimesSync(path, 1000, 1000);
    expect(await open('a.txt')).toBe('one\n');
    change(path);
    expect(await open('a.txt')).toBe(expected);
    expect(loads).toBe(2);
  });
  test('20 files, the one that was used last longest ago goes first', async () => {
    for (let index = 0; index < 20; index++) desk.put(`${index}.txt`, `${index}\n`);
    for (let index = 0; index < 20; index++) await open(`${index}.txt`);
    await open('0.txt');
    expect(loads).toBe(20);
    desk.put('more.txt', 'more\n');
    await open('more.txt');
    await open('0.txt');
    expect(loads).toBe(21);
    await open('1.txt');
    expect(loads).toBe(22);
  });
  test('about 4 MB, and no file that is larger', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) desk.put(name, 'x'.repeat(500_000));
    for (const name of ['a', 'b', 'c', 'd', 'e']) await open(name);
    await open('e');
    expect(loads).toBe(5);
    await open('a');
    expect(loads).toBe(6);
    desk.put('big', 'x'.repeat(3_000_000));
    await open('big');
    await open('e');
    expect(loads).toBe(7);
    await open('big');
    expect(loads).toBe(8);
  });
  test('blank lines have their weight', async () => {
    desk.put('a', '\n'.repeat(450_000));
    await open('a');
    await open('a');
    expect(loads).toBe(2);
  });
  test('nothing that changed a moment ago: it may change again within the same tick of its time', async () => {
    cache = new LineCache({ now: () => Date.now() });
    desk.put('a.txt', 'one\n');
    await open('a.txt');
    await open('a.txt');
    expect(loads).toBe(2);
  });
  test('nothing whose size is not what it says, and no binary file', async () => {
    desk.put('bin', Buffer.from([0, 1]));
    expect(await open('bin')).toBeUndefined();
    expect(await open('bin')).toBeUndefined();
    expect(loads).toBe(2);
    if (process.platform !== 'linux') return;
    const path = '/proc/self/status';
    const load = async () => ({ bytes: await readFile(path), stat: bigStat(path) });
    await openLines(cache, path, bigStat(path), load);
    expect(cache.get(path, bigStat(path))).toBeUndefined();
  });
});

describe('the tools', () => {
  const show = async (path = 'a.txt'): Promise<string> => (await desk.run('read', { path })).content.replaceAll(/\d+:[a-z]{3}:[a-z]{3}→/g, '');

  test('an edit of what was read lands on what is there', async () => {
    const path = desk.put('a.txt', rows(9));
    await show();
    const at = await anchorsOf(desk);
    writeFileSync(path, rows(9).replace('row 9', 'ROW 9'));
    await desk.run('edit', { filePath: 'a.txt', ops: [{ op: 'replace', anchor: at(2), content: 'x' }] });
    expect(desk.text('a.txt')).toBe(rows(9).replace('row 9', 'ROW 9').replace('row 2', 'x'));
    expect(await show()).toBe(desk.text('a.txt').trimEnd());
  });
  test('what they write is what they read', async () => {
    desk.put('a.txt', 'one\n');
    await show();
    await desk.run('write', { path: 'a.txt', content: 'two\n' });
    expect(await show()).toBe('two');
    await desk.run('edit', { filePath: 'a.txt', ops: [{ op: 'write', content: 'six\n' }] });
    expect(await show()).toBe('six');
    await desk.run('edit', { filePath: 'a.txt', ops: [{ op: 'insert_after', anchor: '0:', content: 'ten' }] });
    expect(await show()).toBe('ten\nsix');
  });
  test.each([
    ['write', () => desk.run('write', { path: 'a.txt', content: 'two\n' })],
    ['edit', () => desk.run('edit', { filePath: 'a.txt', ops: [{ op: 'insert_after', anchor: '0:', content: 'two' }] })],
  ])('%s lets go of what it replaced', async (_tool, change) => {
    const path = desk.put('a.txt', 'one\n');
    const stat = bigStat(path);
    const cache = desk.pooled('files/lines') as LineCache;
    await show();
    expect(cache.get(path, stat)?.text).toBe('one\n');
    expect((await change()).status).toBe('ok');
    expect(cache.get(path, stat)).toBeUndefined();
  });
  test('a link that leads elsewhere now', async () => {
    desk.put('one', 'one\n');
    desk.put('two', 'two\n');
    symlinkSync('one', join(desk.cwd, 'a.txt'));
    expect(await show()).toBe('one');
    rmSync(join(desk.cwd, 'a.txt'));
    symlinkSync('two', join(desk.cwd, 'a.txt'));
    expect(await show()).toBe('two');
  });
  test('a path that leads elsewhere than when the call was checked is not served', async () => {
    desk.put('a.txt', 'one\n');
    await show();
    const result = await desk.run('read', { path: 'a.txt' }, { paths: [join(desk.cwd, 'other')] });
    expect(result).toMatchObject({ status: 'error', error: { code: 'CONFLICT' } });
    expect(result.content).not.toContain('one');
  });
  test.skipIf(process.getuid?.() === 0)('a file that may not be read any more is not served', async () => {
    const path = desk.put('a.txt', 'one\n');
    await show();
    chmodSync(path, 0);
    expect(await desk.run('read', { path: 'a.txt' })).toMatchObject({ status: 'error', error: { code: 'PERMISSION_DENIED' } });
  });
  test('a file that is gone, or a folder now', async () => {
    const path = desk.put('a.txt', 'one\n');
    await show();
    rmSync(path);
    expect((await desk.run('read', { path: 'a.txt' })).error?.code).toBe('NOT_FOUND');
    desk.put('a.txt/b', '');
    expect(await show()).toBe('b');
  });
});
