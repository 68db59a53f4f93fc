import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { openDesk } from '../desk.ts';
import { png } from '../pixels.ts';
import { local, rows, useLineDesk } from './line-desk.ts';

const desk = useLineDesk();

const threeLetters = (text: string): string => {
  const value = createHash('sha1').update(text).digest().readUInt32BE(0) % 26 ** 3;
  return [Math.floor(value / 676), Math.floor(value / 26) % 26, value % 26].map((part) => String.fromCharCode(97 + part)).join('');
};

test('shows LINE:LOCAL:CHUNK→text: SHA-1 of the line without its white space, and of its block of eight lines', async () => {
  const lines = Array.from({ length: 9 }, (_, index) => `\tline  ${index + 1}  `);
  desk.put('a.txt', lines.join('\r\n'));
  const block = threeLetters(lines.slice(0, 8).join('\n'));
  const expected = lines.map((line, at) => `${at + 1}:${threeLetters(`line ${at + 1}`)}:${at < 8 ? block : threeLetters(lines[8] ?? '')}→${line}`);
  expect((await desk.run('read', { path: 'a.txt' })).content).toBe(expected.join('\n'));
});
test('white space does not count in LOCAL, but in CHUNK', async () => {
  desk.put('a.txt', 'if (a)  b;\n');
  const before = (await desk.anchors())(1);
  desk.put('a.txt', '  if (a) b;\n');
  const after = (await desk.anchors())(1);
  expect(local(after)).toBe(local(before));
  expect(after).not.toBe(before);
});
test('a page that begins within a block has the anchors of the whole file', async () => {
  desk.put('a.txt', rows(30));
  const all = await desk.anchors();
  const { content, view } = await desk.run('read', { path: 'a.txt', offset: 12, limit: 2 });
  expect(view).toEqual({ kind: 'code', path: 'a.txt', line: 12, text: 'row 12\nrow 13' });
  expect(content).toBe(`${all(12)}→row 12\n${all(13)}→row 13\n(Lines 12-13 of 30. Go on with offset 14.)`);
});
test('a file that is too large for the literal mode to hold has anchors too, and they hold', async () => {
  desk.put('a.txt', 'some words in a line\n'.repeat(450_000));
  const { content } = await desk.run('read', { path: 'a.txt', offset: 400_001, limit: 1 });
  const anchor = content.split('→')[0] ?? '';
  expect(anchor).toMatch(/^400001:[a-z]{3}:[a-z]{3}$/);
  expect((await desk.edit({ op: 'replace', anchor, content: 'x' })).status).toBe('ok');
  expect(desk.text('a.txt').split('\n')[400_000]).toBe('x');
});
test('pages as in the literal mode', async () => {
  const text = `\n\n${'x\n'.repeat(2500)}\n`;
  desk.put('a.txt', text);
  const literal = openDesk();
  literal.put('a.txt', text);
  for (const input of [{}, { offset: 2 }, { offset: 2001 }, { limit: 0 }, { offset: 2503 }, { offset: 2504 }, { offset: 1, limit: 1 }]) {
    const [ours, theirs] = [await desk.run('read', { path: 'a.txt', ...input }), await literal.run('read', { path: 'a.txt', ...input })];
    expect(ours.status).toBe(theirs.status);
    expect(ours.content.replaceAll(/^(\d+):[a-z]{3}:[a-z]{3}→/gm, '$1: ')).toBe(theirs.content);
  }
  literal.remove();
});
test('folders, images, empty and binary files are as ever', async () => {
  desk.put('d/x.txt', '');
  desk.put('empty', '');
  desk.put('bin', Buffer.from([1, 0]));
  desk.put('a.png', png({ width: 1, height: 1, colorAt: () => [1, 2, 3, 255] }));
  expect((await desk.run('read', { path: 'd' })).content).toBe('x.txt');
  expect((await desk.run('read', { path: 'empty' })).content).toBe('empty is empty.');
  expect((await desk.run('read', { path: 'bin' })).content).toMatch(/Cannot read binary/);
  expect((await desk.run('read', { path: 'a.png' })).images).toHaveLength(1);
});
