import { chmodSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Desk, openDesk } from './desk.ts';

let desk: Desk;
beforeEach(() => {
  desk = openDesk();
});
afterEach(() => desk.remove());

test('a new file with its folders, byte for byte', async () => {
  const content = 'ü 🙂 "quoted" \\n $& ${x}\r\n\ttab  \n\n';
  const result = await desk.run('write', { path: 'deep/er/a.txt', content });
  expect(result).toMatchObject({ status: 'ok', changed: [join(desk.cwd, 'deep/er/a.txt')] });
  expect(result.content).toBe(`Created deep/er/a.txt (3 lines, ${Buffer.byteLength(content)} bytes)`);
  expect(desk.text('deep/er/a.txt')).toBe(content);
});

test('surfaces are shown what a new file holds, as far as they draw', async () => {
  expect((await desk.run('write', { path: 'a.txt', content: 'one\ntwo\n' })).view).toEqual({
    kind: 'diff',
    path: 'a.txt',
    text: '@@ -0,0 +1,2 @@\n+one\n+two',
  });
  const { view } = await desk.run('write', { path: 'b.txt', content: `${'x'.repeat(500)}\n`.repeat(1000) });
  const rows = view?.kind === 'diff' ? view.text.split('\n') : [];
  expect([rows.length, rows[1]?.length, rows.at(-1)]).toEqual([401, 401, '\\ 601 more changed lines']);
});

test('an existing file is replaced, and the difference told', async () => {
  desk.put('a.txt', 'one\ntwo\nthree\nfour\nfive\n');
  const result = await desk.run('write', { path: 'a.txt', content: 'one\ntwo\n3\nfour\nfive\n' });
  expect(result.content).toBe('Overwrote a.txt (5 lines, 20 bytes)\n@@ -2,3 +2,3 @@\n two\n-three\n+3\n four');
  expect(result.view).toEqual({ kind: 'diff', path: 'a.txt', text: '@@ -2,3 +2,3 @@\n two\n-three\n+3\n four' });
  expect(readdirSync(desk.cwd)).toEqual(['a.txt']);
});

test('identical content writes nothing', async () => {
  const path = desk.put('a.txt', 'same\n');
  utimesSync(path, 1000, 1000);
  const result = await desk.run('write', { path: 'a.txt', content: 'same\n' });
  expect(result.content).toContain('identical');
  expect(result.changed).toBeUndefined();
  expect(statSync(path).mtimeMs).toBe(1_000_000);
});

test('a long difference is cut with a count, a hopeless one still shown', async () => {
  const rows = (text: string, count: number): string => Array.from({ length: count }, (_, index) => `${text} ${index}\n`).join('');
  desk.put('a.txt', rows('old', 100));
  expect((await desk.run('write', { path: 'a.txt', content: rows('new', 100) })).content).toMatch(/\n-old 0\n[^]*\n\(121 more changed lines\)$/);
  desk.put('b.txt', `head\n${rows('old', 20_000)}`);
  const result = await desk.run('write', { path: 'b.txt', content: `head\n${rows('new', 20_000)}` });
  expect(result.content.split('\n').length).toBeLessThan(85);
  const drawn = result.view?.kind === 'diff' ? result.view.text.split('\n') : [];
  expect([drawn.length, drawn.at(-1)]).toEqual([401, '\\ 39601 more changed lines']);
});

test('a final line feed that comes or goes is a note', async () => {
  desk.put('a.txt', 'one\n');
  expect((await desk.run('write', { path: 'a.txt', content: 'one' })).content).toBe(
    'Overwrote a.txt (1 line, 3 bytes)\nNote: the file no longer ends with a line feed.',
  );
  expect((await desk.run('write', { path: 'a.txt', content: 'one\n' })).content).toContain('Note: the file now ends with a line feed.');
});

test('a doubled line is a warning', async () => {
  expect((await desk.run('write', { path: 'a.txt', content: 'x\nsame\nsame\n' })).content).toContain('Warning: lines 2 and 3 are identical.');
  expect((await desk.run('write', { path: 'b.txt', content: '}\n}\n\n\n' })).content).not.toContain('Warning');
});

test.each([
  ['byte order mark and CRLF', '\ufeffone\r\ntwo\r\nstray\n', 'neu\nzwei\n', '\ufeffneu\r\nzwei\r\n', 'byte order mark, CRLF line endings'],
  ['CRLF unless the text brings its own', 'one\r\n', 'a\r\nb\n', 'a\r\nb\n', ''],
  ['mostly LF stays LF', 'one\ntwo\nthree\r\n', 'a\nb', 'a\nb', ''],
  ['a mark is not doubled', '\ufeffone', '\ufefftwo', '\ufefftwo', 'byte order mark'],
])('the old form is kept: %s', async (_name, before, content, after, kept) => {
  desk.put('a.txt', before);
  const result = await desk.run('write', { path: 'a.txt', content });
  expect(desk.text('a.txt')).toBe(after);
  if (kept === '') expect(result.content).not.toContain('Kept');
  else expect(result.content).toContain(`Kept from the old file: ${kept}.`);
});

test('the old encoding is kept where it can be', async () => {
  desk.put('w.txt', Buffer.from('grün\n', 'latin1'));
  expect((await desk.run('write', { path: 'w.txt', content: 'blüe €\n' })).content).toContain('encoding Windows-1252');
  expect(desk.bytes('w.txt')).toEqual(Buffer.from([...Buffer.from('bl\xfce ', 'latin1'), 0x80, 10]));
  expect((await desk.run('write', { path: 'w.txt', content: '漢字\n' })).content).toContain('Note: the encoding is UTF-8 now');
  expect(desk.text('w.txt')).toBe('漢字\n');
  desk.put('u.txt', Buffer.from('\ufeffeins', 'utf16le'));
  await desk.run('write', { path: 'u.txt', content: 'zwei 🙂' });
  expect(desk.bytes('u.txt')).toEqual(Buffer.from('\ufeffzwei 🙂', 'utf16le'));
});

test('half a character is refused', async () => {
  const result = await desk.run('write', { path: 'a.txt', content: 'x\ud83d' });
  expect(result).toMatchObject({ status: 'error', error: { code: 'INVALID_ARGUMENT' } });
  expect(existsSync(join(desk.cwd, 'a.txt'))).toBe(false);
});

test('the mode stays, and a new file has the usual one', async () => {
  const path = desk.put('run.sh', 'echo 1\n');
  chmodSync(path, 0o754);
  await desk.run('write', { path: 'run.sh', content: 'echo 2\n' });
  expect(statSync(path).mode & 0o7777).toBe(0o754);
  await desk.run('write', { path: 'new', content: '' });
  expect(statSync(join(desk.cwd, 'new')).mode & 0o777).toBe(0o666 & ~process.umask());
});

test('an owner stays', async () => {
  if (process.getuid?.() !== 0) return;
  const path = desk.put('a.txt', 'x');
  execFileSync('chown', ['65534:65534', path]);
  await desk.run('write', { path: 'a.txt', content: 'y' });
  expect(statSync(path).uid).toBe(65534);
});

test('through a link the target is written, and a link to nothing creates it', async () => {
  desk.put('real/a.txt', 'old');
  symlinkSync('real/a.txt', join(desk.cwd, 'link'));
  symlinkSync('real/new.txt', join(desk.cwd, 'dangling'));
  expect((await desk.run('write', { path: 'link', content: 'new' })).changed).toEqual([join(desk.cwd, 'real/a.txt')]);
  await desk.run('write', { path: 'dangling', content: 'made' });
  expect([desk.text('real/a.txt'), desk.text('real/new.txt')]).toEqual(['new', 'made']);
  expect(readdirSync(join(desk.cwd, 'real'))).toEqual(['a.txt', 'new.txt']);
});

test('a reader with the file open, and a hard link, keep the old content', async () => {
  const path = desk.put('a.txt', 'old');
  linkSync(path, join(desk.cwd, 'twin'));
  await desk.run('write', { path: 'a.txt', content: 'new' });
  expect(desk.text('twin')).toBe('old');
});

test.each([
  ['a folder', 'sub'],
  ['a folder to be', 'none/'],
  ['a pipe', 'pipe'],
  ['a link in a circle', 'loop'],
  ['below a file', 'file/x'],
])('%s is refused', async (_name, path) => {
  desk.put('sub/x', '');
  desk.put('file', 'content');
  execFileSync('mkfifo', [join(desk.cwd, 'pipe')]);
  symlinkSync('loop', join(desk.cwd, 'loop'));
  expect(await desk.run('write', { path, content: 'x' })).toMatchObject({ status: 'error', error: { code: 'INVALID_ARGUMENT' } });
  expect(desk.text('file')).toBe('content');
});

test('a file that changed since it was read is not overwritten', async () => {
  const path = desk.put('f.txt', 'one\n');
  await desk.run('read', { path: 'f.txt' });
  writeFileSync(path, 'one\nadded by the user\n');
  const result = await desk.run('write', { path: 'f.txt', content: 'mine\n' });
  expect(result).toMatchObject({ status: 'error', error: { code: 'CONFLICT', retryable: false, suggestedFix: expect.stringMatching(/Read it again/) } });
  expect(desk.text('f.txt')).toBe('one\nadded by the user\n');
  await desk.run('read', { path: 'f.txt' });
  expect((await desk.run('write', { path: 'f.txt', content: 'mine\n' })).status).toBe('ok');
  expect((await desk.run('write', { path: 'f.txt', content: 'mine again\n' })).status).toBe('ok');
});
test('a change of the same size and time is noticed too', async () => {
  const path = desk.put('f.txt', 'one');
  utimesSync(path, 1000, 1000);
  await desk.run('read', { path: 'f.txt' });
  writeFileSync(path, 'two');
  utimesSync(path, 1000, 1000);
  expect((await desk.run('write', { path: 'f.txt', content: 'mine' })).error?.code).toBe('CONFLICT');
});
test('a new time alone, and a file that was never read, are no conflict', async () => {
  const path = desk.put('f.txt', 'one');
  expect((await desk.run('write', { path: 'f.txt', content: 'two' })).status).toBe('ok');
  utimesSync(path, 1000, 1000);
  expect((await desk.run('write', { path: 'f.txt', content: 'three' })).status).toBe('ok');
});
test('a file that was removed since it was read is made again', async () => {
  const path = desk.put('f.txt', 'one');
  await desk.run('read', { path: 'f.txt' });
  execFileSync('rm', [path]);
  expect((await desk.run('write', { path: 'f.txt', content: 'two' })).content).toMatch(/^Created/);
});

const MARKERS = [
  '// ... rest of code unchanged',
  '# ... existing code ...',
  '/* … remaining methods omitted … */',
  '<!-- ... rest of the page ... -->',
  '    // the rest of the file remains the same',
  '... rest of the code ...',
  '[... unchanged ...]',
  '// rest of the implementation...',
  '{/* ... existing components ... */}',
  '// ... other methods ...',
  '// ... 290 more lines',
  '# [existing code]',
  '[... 290 lines omitted ...]',
];
test.each(MARKERS)('%s would delete the rest: refused', async (marker) => {
  const before = Array.from({ length: 300 }, (_, index) => `line ${index}\n`).join('');
  desk.put('a.js', before);
  const result = await desk.run('write', { path: 'a.js', content: `line 0\nchanged\n${marker}\n` });
  expect(result).toMatchObject({ status: 'error', error: { code: 'INVALID_ARGUMENT' } });
  expect(result.content).toContain(marker.trim());
  expect(desk.text('a.js')).toBe(before);
});
test.each([
  'const all = [\n  ...existing,\n  ...rest,\n];',
  'function f(a, ...rest) {}',
  'def f():\n    ...',
  '// wait...',
  '// keep this sorted',
  'loading the rest ...',
  '* existing tests are unchanged',
  '# other methods',
  '// ... and 3 more',
])('%s is ordinary text', async (content) => {
  desk.put('a.js', 'x\n'.repeat(300));
  expect((await desk.run('write', { path: 'a.js', content })).status).toBe('ok');
});
test('a marker that the file has already is no elision', async () => {
  desk.put('a.js', `// ... rest of code unchanged\n${'x\n'.repeat(50)}`);
  expect((await desk.run('write', { path: 'a.js', content: '// ... rest of code unchanged\n' })).status).toBe('ok');
});

test('an abort leaves the old file and no draft', async () => {
  desk.put('a.txt', 'old');
  expect((await desk.run('write', { path: 'a.txt', content: 'new' }, { signal: AbortSignal.abort() })).status).toBe('aborted');
  expect(readdirSync(desk.cwd)).toEqual(['a.txt']);
  expect(desk.text('a.txt')).toBe('old');
});

test('a folder without write permission is an error that says so', async () => {
  mkdirSync(join(desk.cwd, 'closed'), { mode: 0o555 });
  const setEuid = process.seteuid;
  if (process.getuid?.() === 0 && setEuid) {
    chmodSync(join(desk.cwd, '..'), 0o755);
    setEuid(65534);
  }
  const result = await desk.run('write', { path: 'closed/a', content: 'x' }).finally(() => process.getuid?.() === 0 && setEuid?.(0));
  expect(result).toMatchObject({ status: 'error', error: { code: 'PERMISSION_DENIED' } });
});

test('a folder that may be written but not listed is written', async () => {
  const drop = join(desk.cwd, 'drop');
  mkdirSync(drop);
  chmodSync(drop, 0o333);
  const setEuid = process.seteuid;
  if (process.getuid?.() === 0 && setEuid) {
    chmodSync(join(desk.cwd, '..'), 0o755);
    setEuid(65534);
  }
  const result = await desk.run('write', { path: 'drop/a', content: 'x' }).finally(() => process.getuid?.() === 0 && setEuid?.(0));
  chmodSync(drop, 0o755);
  expect(result.status, result.content).toBe('ok');
  expect(desk.text('drop/a')).toBe('x');
  expect(readdirSync(drop)).toEqual(['a']);
});

test('binary files may be replaced', async () => {
  desk.put('a.bin', Buffer.from([0, 1, 2]));
  expect((await desk.run('write', { path: 'a.bin', content: 'text' })).content).toContain('binary');
  expect(readFileSync(join(desk.cwd, 'a.bin'), 'utf8')).toBe('text');
});

test('a path of a million characters is not told back whole', async () => {
  const result = await desk.run('write', { path: 'x'.repeat(1_000_000), content: 'x' });
  expect(result).toMatchObject({ status: 'error', error: { code: 'INVALID_ARGUMENT' } });
  expect(result.content.length).toBeLessThan(5_000);
});

test.runIf(process.platform === 'linux')('a folder that can never be made is an error, not an endless wait', async () => {
  expect(await desk.run('write', { path: '/proc/cast-none/below/x', content: 'x' })).toMatchObject({ status: 'error', error: { code: 'NOT_FOUND' } });
});
