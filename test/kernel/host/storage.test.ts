/** What plugins keep: whole whoever writes beside whom, and not lost for ever because a file was damaged. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'cast';
import { createStorage } from '../../../kernel/host/storage.ts';

let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'cast-storage-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const open = (warnings: string[] = []) => createStorage(home, 'keeper', '/project', (text) => void warnings.push(text));
const file = (): string => join(home, 'storage', 'keeper.json');
const folder = (): string => join(home, 'storage');

test('two scopes that write at the same time lose nothing', async () => {
  const scopes = [open(), open(), open()];
  await Promise.all(scopes.flatMap(({ user }, s) => Array.from({ length: 10 }, (_, i) => user.set(`${s}/${i}`, i))));
  expect(Object.keys(JSON.parse(readFileSync(file(), 'utf8')) as object)).toHaveLength(30);
  expect(readdirSync(folder())).toEqual(['keeper.json']);
});

test('of one scope the later change wins, awaited or not', async () => {
  const { user } = open();
  await Promise.all(Array.from({ length: 20 }, (_, i) => user.set('key', i)));
  expect(await user.get('key', z.number())).toBe(19);
});

describe('a damaged file', () => {
  test.each([
    ['cut off', '{"key": "val'],
    ['no object', '[1, 2]'],
  ])('that is %s is set aside with a warning, and there is room for new values', async (_, text) => {
    const warnings: string[] = [];
    const { user } = open(warnings);
    await user.set('key', 'before');
    writeFileSync(file(), text);
    expect(await user.get('key', z.string())).toBeUndefined();
    await user.set('other', 'after');
    await user.set('key', 'again');
    expect([await user.get('other', z.string()), await user.get('key', z.string())]).toEqual(['after', 'again']);
    const aside = readdirSync(folder()).find((name) => name.startsWith('keeper.json.bad-')) ?? '';
    expect(readFileSync(join(folder(), aside), 'utf8')).toBe(text);
    expect(warnings).toEqual([expect.stringContaining(`what was in it is in ${join(folder(), aside)}`)]);
  });

  test('that only cannot be read is left where it is', async () => {
    const { user } = open();
    // A folder in its place: reading it fails, and that says nothing about its content.
    await createStorage(home, 'keeper.json/x', '/project', () => undefined).user.set('key', 1);
    await expect(user.set('key', 1)).rejects.toThrow(/EISDIR/);
  });
});
