import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { canonicalPath, isInside } from '../../kernel/paths.ts';

let top = '';
let ws = '';
beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'cast-paths-')));
  ws = join(top, 'ws');
  mkdirSync(join(ws, 'sub'), { recursive: true });
  mkdirSync(join(top, 'out/deep'), { recursive: true });
  writeFileSync(join(ws, 'a.txt'), 'a');
  writeFileSync(join(top, 'out/f.txt'), 'f');
  symlinkSync(join(top, 'out'), join(ws, 'out'));
  symlinkSync('../out/deep', join(ws, 'deep'));
  symlinkSync('a.txt', join(ws, 'inner.txt'));
  symlinkSync(join(top, 'out/new'), join(ws, 'dangling'));
  symlinkSync('dangling', join(ws, 'chain'));
  symlinkSync('loop-b', join(ws, 'loop-a'));
  symlinkSync('loop-a', join(ws, 'loop-b'));
  symlinkSync(ws, join(top, 'alias'));
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

const table: readonly (readonly [name: string, path: string, expected: string])[] = [
  ['a file', 'a.txt', 'ws/a.txt'],
  ['the folder itself', '.', 'ws'],
  ['nothing at all is the folder', '', 'ws'],
  ['two spellings, one path', './sub/.././a.txt', 'ws/a.txt'],
  ['a trailing slash', 'sub/', 'ws/sub'],
  ['a link to a file', 'inner.txt', 'ws/a.txt'],
  ['a file through a linked folder', 'out/f.txt', 'out/f.txt'],
  ['a new file through a linked folder', 'out/x/y.txt', 'out/x/y.txt'],
  ['a new file', 'new/er/x.txt', 'ws/new/er/x.txt'],
  ['a link to nothing is its target', 'dangling', 'out/new'],
  ['a new file under a link to nothing', 'dangling/x', 'out/new/x'],
  ['a chain of links to nothing', 'chain', 'out/new'],
  ['.. after a link is the parent of its target', 'deep/..', 'out'],
  ['.. after a link, then something new', 'deep/../n.txt', 'out/n.txt'],
  ['.. within what is missing cancels it', 'missing/../a.txt', 'ws/a.txt'],
  ['links count again once the missing part is cancelled', 'missing/../out/f.txt', 'out/f.txt'],
  ['.. beyond what is missing leaves', 'missing/../../out/x', 'out/x'],
  ['.. leaves', 'sub/../../out/x', 'out/x'],
  ['a file used as a folder', 'a.txt/x', 'ws/a.txt/x'],
  ['~ alone', '~', 'home'],
  ['~ with a path', '~/x/../y', 'home/y'],
  ['~ only at the beginning', 'x/~', 'ws/x/~'],
  ['~user is a name like any other', '~user', 'ws/~user'],
  ['a name of dots', '..x', 'ws/..x'],
];
test.each(table)('%s', async (_name, path, expected) => {
  expect(await canonicalPath(path, ws, join(top, 'home'))).toBe(join(top, expected));
});

test('absolute paths do not care about the folder', async () => {
  expect(await canonicalPath(join(top, 'out/f.txt'), ws)).toBe(join(top, 'out/f.txt'));
  expect(await canonicalPath('/', ws)).toBe('/');
  expect(await canonicalPath('/../..', ws)).toBe('/');
});
test('the folder may be a link itself', async () => {
  expect(await canonicalPath('new.txt', join(top, 'alias'))).toBe(join(ws, 'new.txt'));
  expect(await canonicalPath('a.txt', join(top, 'alias'))).toBe(join(ws, 'a.txt'));
});
test('links in a circle end', async () => {
  const path = await canonicalPath('loop-a', ws);
  expect(path.startsWith(ws)).toBe(true);
});
test('a long chain to a real place is followed to its end', async () => {
  symlinkSync(join(top, 'out/n'), join(ws, 'l0'));
  for (let i = 1; i < 30; i++) symlinkSync(`l${i - 1}`, join(ws, `l${i}`));
  expect(await canonicalPath('l29/x', ws)).toBe(join(top, 'out/n/x'));
});
test('a path that no system takes does not throw', async () => {
  expect(await canonicalPath('a\0b', ws)).toBe(join(ws, 'a\0b'));
  expect(await canonicalPath('x'.repeat(5000), ws)).toBe(join(ws, 'x'.repeat(5000)));
});

test.each([
  ['/srv/app', '/srv/app', true],
  ['/srv/app', '/srv/app/a/b', true],
  ['/srv/app', '/srv/app2', false],
  ['/srv/app', '/srv/app2/a', false],
  ['/srv/app', '/', false],
  ['/srv/app', '/srv/app/..x', true],
  ['/srv/app/', '/srv/app/a', true],
  ['/', '/anything', true],
])('isInside(%s, %s) is %s', (root, path, expected) => {
  expect(isInside(root, path)).toBe(expected);
});
