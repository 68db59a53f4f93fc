import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDesk } from './desk.ts';

let desk: ReturnType<typeof openDesk>;
beforeEach(() => {
  desk = openDesk();
});
afterEach(() => desk.remove());

test.each([
  ['a\nb\n', 'a\r\nB\r\n', 'Note: line endings were LF and are CRLF now.'],
  ['a\nb\r\nc\n', 'a\nB\nc\n', 'Note: line endings were mixed and are LF now.'],
  ['a\nb\n', '\ufeffa\nB\n', 'Note: the file begins with a byte order mark now.'],
])('B028: an overwrite of %j by %j says what no line of the difference shows', async (old, content, note) => {
  desk.put('a.txt', old);
  expect((await desk.run('write', { path: 'a.txt', content })).content).toContain(note);
  expect(desk.text('a.txt')).toBe(content);
});

test('an overwrite of broken UTF-8 shows the new text as it is, and says what is gone', async () => {
  desk.put('a.txt', Buffer.concat([Buffer.from('käse ürger ö ä ß\n'), Buffer.from([0xff]), Buffer.from('\nword\n')]));
  const { content } = await desk.run('write', { path: 'a.txt', content: 'käse ürger ö ä ß\n\ufffd\nWÖRD\n' });
  expect(content).toContain('Note: the bytes that were no valid UTF-8 are gone.');
  expect(content).toContain('@@ -2,2 +2,2 @@\n \ufffd\n-word\n+WÖRD');
});

test('a name that ends in a slash makes no file', async () => {
  for (const result of [await desk.run('edit', { filePath: 'new/', oldString: '', newString: 'x' }), await desk.run('write', { path: 'new/', content: 'x' })]) {
    expect(result).toMatchObject({ status: 'error', content: expect.stringContaining('new/ names a folder.') });
  }
  expect(existsSync(join(desk.cwd, 'new'))).toBe(false);
});
