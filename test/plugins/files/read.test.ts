import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Desk, openDesk } from './desk.ts';

let desk: Desk;
beforeEach(() => {
  desk = openDesk();
});
afterEach(() => desk.remove());

const lines = (count: number): string => Array.from({ length: count }, (_, index) => `row-${index + 1}-`).join('\n');

test('lines are numbered, everything else is verbatim', async () => {
  desk.put('a.txt', 'alpha\n\tbeta ü 🙂\r\nlast  ');
  expect(await desk.run('read', { path: 'a.txt' })).toEqual({
    status: 'ok',
    content: '1: alpha\n2: \tbeta ü 🙂\n3: last  ',
    view: { kind: 'code', path: 'a.txt', line: 1, text: 'alpha\n\tbeta ü 🙂\nlast  ' },
  });
});

test('offset and limit', async () => {
  desk.put('a.txt', 'one\ntwo\nthree\nfour\n');
  const { content, view } = await desk.run('read', { path: 'a.txt', offset: 2, limit: 2 });
  expect(content).toBe('2: two\n3: three\n(Lines 2-3 of 4. Go on with offset 4.)');
  expect(view).toEqual({ kind: 'code', path: 'a.txt', line: 2, text: 'two\nthree' });
  expect((await desk.run('read', { path: 'a.txt', offset: 4 })).content).toBe('4: four');
});

test.each([
  [{ offset: 5 }, 'error', /offset 5 is past the end: a\.txt has 4 lines/],
  [{ limit: 0 }, 'ok', /a\.txt has 4 lines; none were asked for/],
] as const)('%o', async (input, status, content) => {
  desk.put('a.txt', 'one\ntwo\nthree\nfour\n');
  expect(await desk.run('read', { path: 'a.txt', ...input })).toMatchObject({ status, content: expect.stringMatching(content) });
});

test('offset 0 is no line', async () => {
  await expect(desk.run('read', { path: 'a.txt', offset: 0 })).rejects.toThrow();
});

test('an empty file says so', async () => {
  desk.put('a.txt', '');
  expect((await desk.run('read', { path: 'a.txt' })).content).toBe('a.txt is empty.');
  expect((await desk.run('read', { path: 'a.txt', offset: 2 })).status).toBe('error');
});

test('2000 lines at a time', async () => {
  desk.put('a.txt', lines(5000));
  const { content } = await desk.run('read', { path: 'a.txt', limit: 4000 });
  expect(content).toContain('2000: row-2000-\n(Lines 1-2000 of 5000. Go on with offset 2001.)');
  expect(content).not.toContain('row-2001-');
});

test('128 KiB at a time, ending with a whole line', async () => {
  desk.put('a.txt', `${'ü'.repeat(20_000)}\n`.repeat(10));
  const { content } = await desk.run('read', { path: 'a.txt' });
  expect(Buffer.byteLength(content)).toBeLessThan(131_072 + 200);
  expect(content).toMatch(/üü\n\(Lines 1-3 of 10\. Go on with offset 4\.\)$/);
});

test.each([200_000, 9_000_000])('a first line of %i bytes and more is cut within no character', async (count) => {
  desk.put('a.txt', `xy${'🙂'.repeat(count / 4)}\nsecond`);
  const { content } = await desk.run('read', { path: 'a.txt' });
  expect(content).toMatch(/^1: xy🙂/);
  expect(content).not.toContain('\ufffd');
  expect(content).toContain('(Line 1 is longer than a page: only its beginning is shown.)');
  expect(content).toContain('Go on with offset 2.');
  expect(Buffer.byteLength(content)).toBeLessThan(131_072 + 300);
});

test('a line near the beginning of a huge file does not read it all', async () => {
  const path = desk.put('big.log', `${lines(5)}\n`.padEnd(5000, 'some text\n'));
  truncateSync(path, 1024 ** 3);
  const before = process.memoryUsage().rss;
  const started = performance.now();
  const { content, status } = await desk.run('read', { path: 'big.log', offset: 2, limit: 3 });
  expect(status).toBe('ok');
  expect(content).toBe('2: row-2-\n3: row-3-\n4: row-4-\n(Lines 2-4. Go on with offset 5.)');
  expect(performance.now() - started).toBeLessThan(1000);
  expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 ** 2);
});

test('lines behind the beginning of a large file', async () => {
  desk.put('big.log', `${lines(1_200_000)}\n`);
  expect((await desk.run('read', { path: 'big.log', offset: 1_199_999 })).content).toBe('1199999: row-1199999-\n1200000: row-1200000-');
  expect((await desk.run('read', { path: 'big.log', offset: 1_200_001 })).content).toMatch(/past the end: big\.log has 1200000 lines/);
  const aborted = await desk.run('read', { path: 'big.log', offset: 1_199_999 }, { signal: AbortSignal.abort() });
  expect(aborted.status).toBe('aborted');
});

test('a folder is a list of names, paged', async () => {
  for (const name of ['b.txt', 'a.txt', 'sub/x.txt']) desk.put(name, '');
  symlinkSync('sub', join(desk.cwd, 'link'));
  symlinkSync('nowhere', join(desk.cwd, 'broken'));
  expect((await desk.run('read', { path: '.' })).content).toBe('a.txt\nb.txt\nbroken\nlink/\nsub/');
  expect((await desk.run('read', { path: '.', offset: 2, limit: 2 })).content).toBe('b.txt\nbroken\n(Entries 2-3 of 5. Go on with offset 4.)');
  expect((await desk.run('read', { path: '.', offset: 9 })).status).toBe('error');
});

test('a folder of long names is told as far as it has room, and then where to go on', async () => {
  const names = Array.from({ length: 1500 }, (_, index) => `${index}`.padStart(4, '0') + 'ü'.repeat(60));
  for (const name of names) desk.put(`sub/${name}`, '');
  const shown: string[] = [];
  for (let offset = 1; shown.length < names.length; offset = shown.length + 1) {
    const { content } = await desk.run('read', { path: 'sub', offset });
    expect(Buffer.byteLength(content)).toBeLessThan(131_072 + 200);
    shown.push(...content.split('\n').filter((row) => !row.startsWith('(')));
    if (shown.length < names.length) expect(content).toContain(`of 1500. Go on with offset ${shown.length + 1}.)`);
  }
  expect(shown).toEqual(names);
  expect((await desk.run('read', { path: 'sub', limit: 0 })).content).toBe('sub has 1500 entries; none were asked for.');
});

test.each([
  ['NUL', 'x.dat', Buffer.from([65, 0, 66])],
  ['control characters', 'x', Buffer.from([1, 2, 3, 65, 66])],
  ['its name', 'x.pdf', Buffer.from('%PDF-1.4 text')],
])('binary by %s is refused', async (_why, name, content) => {
  desk.put(name, content);
  expect(await desk.run('read', { path: name })).toMatchObject({ status: 'error', content: expect.stringMatching(/Cannot read binary file/) });
});

test.each([
  ['UTF-16LE', Buffer.from('\ufeffgrüß\nzwei', 'utf16le')],
  ['UTF-16BE', Buffer.from('\ufeffgrüß\nzwei', 'utf16le').swap16()],
  ['UTF-8 with a byte order mark', Buffer.from('\ufeffgrüß\nzwei')],
  ['Windows-1252', Buffer.from('grüß\nzwei', 'latin1')],
])('%s is read as text', async (_name, content) => {
  desk.put('a.txt', content);
  expect((await desk.run('read', { path: 'a.txt' })).content).toBe('1: grüß\n2: zwei');
});

test('a missing file names what was meant', async () => {
  for (const name of ['src/deep/server.ts', 'lib/server.js', 'node_modules/server.ts', 'other.md']) desk.put(name, '');
  const result = await desk.run('read', { path: 'src/server.ts' });
  expect(result).toMatchObject({ status: 'error', error: { code: 'NOT_FOUND', retryable: false } });
  expect(result.content).toBe(
    'File not found: src/server.ts\nSimilar paths:\n  src/deep/server.ts\n  lib/server.js\nUse one of these paths; there is no need to search.',
  );
  expect((await desk.run('read', { path: 'zzzzzzzzz.qqq' })).content).toBe('File not found: zzzzzzzzz.qqq');
});
test('at most five similar paths, and the search is bounded', async () => {
  for (let index = 0; index < 9; index++) desk.put(`d${index}/same.txt`, '');
  expect((await desk.run('read', { path: 'same.txt' })).content.match(/ {2}d/g)).toHaveLength(5);
});

test('a pipe, a device and a socket are refused at once', async () => {
  execFileSync('mkfifo', [join(desk.cwd, 'pipe')]);
  const server = createServer().listen(join(desk.cwd, 'sock'));
  await new Promise((done) => server.once('listening', done));
  const started = performance.now();
  for (const [path, kind] of [
    ['pipe', 'a pipe'],
    ['/dev/zero', 'a device'],
    ['sock', 'a socket'],
  ] as const) {
    expect(await desk.run('read', { path })).toMatchObject({ status: 'error', content: `${path} is ${kind}, not a regular file.` });
  }
  expect(performance.now() - started).toBeLessThan(1000);
  await new Promise((done) => server.close(done));
});

test('files of the system without a size are read', async () => {
  if (process.platform !== 'linux') return;
  expect((await desk.run('read', { path: '/proc/self/status' })).content).toMatch(/^1: Name:/);
});

test.each([
  ['a file as a folder', 'a.txt/x', 'INVALID_ARGUMENT'],
  ['links in a circle', 'loop', 'INVALID_ARGUMENT'],
  ['no path', 'a\0b', 'INVALID_ARGUMENT'],
  ['blank', '  ', 'INVALID_ARGUMENT'],
])('%s is an error, not a fault', async (_name, path, code) => {
  desk.put('a.txt', 'x');
  symlinkSync('loop', join(desk.cwd, 'loop'));
  expect(await desk.run('read', { path })).toMatchObject({ status: 'error', error: { code } });
});

test('a path that changed its meaning since it was checked is refused', async () => {
  desk.put('a.txt', 'x');
  const call = { paths: [join(desk.cwd, 'other')] };
  expect(await desk.run('read', { path: 'a.txt' }, call)).toMatchObject({ status: 'error', error: { code: 'CONFLICT', retryable: true } });
});

test('a file outside is shown with its whole path', async () => {
  mkdirSync(join(desk.cwd, '../other'));
  writeFileSync(join(desk.cwd, '../other/x'), '');
  expect((await desk.run('read', { path: '../other/x' })).content).toBe(`${join(desk.cwd, '../other/x')} is empty.`);
});
