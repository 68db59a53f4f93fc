import { chmodSync, statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { rows, useLineDesk } from './line-desk.ts';

const desk = useLineDesk();

test('has the changed lines with fresh anchors and two lines around each place', async () => {
  desk.put('a.txt', rows(30));
  const at = await desk.anchors();
  const result = await desk.edit({ op: 'replace', anchor: at(5), content: 'x\ny' }, { op: 'replace', anchor: at(20), end_anchor: at(21), content: '' });
  const now = await desk.anchors();
  const lines = desk.text('a.txt').split('\n');
  const shown = (numbers: readonly number[]): readonly string[] => numbers.map((number) => `${now(number)}→${lines[number - 1]}`);
  expect(result.content).toBe(['Edit applied to a.txt', ...shown([3, 4, 5, 6, 7, 8]), '…', ...shown([19, 20, 21, 22])].join('\n'));
  expect(result.view).toMatchObject({ kind: 'diff', path: 'a.txt', text: expect.stringContaining('-row 5\n+x\n+y\n') });
});
test('its anchors name the lines of the next edit', async () => {
  desk.put('a.txt', rows(30));
  const at = await desk.anchors();
  const { content } = await desk.edit({ op: 'insert_after', anchor: at(5), content: 'x' });
  const anchor = content.split('\n').find((row) => row.endsWith('→x')) ?? '';
  const next = await desk.edit({ op: 'replace', anchor, content: 'y' });
  expect(next.content).not.toContain('Note');
  expect(desk.text('a.txt')).toBe(rows(30).replace('row 5\n', 'row 5\ny\n'));
});
test('has at most 60 lines, and says where the others are', async () => {
  desk.put('a.txt', rows(3));
  const { content } = await desk.edit({ op: 'insert_after', anchor: '0:', content: rows(100) });
  expect(content.match(/→/g)).toHaveLength(60);
  expect(content).toMatch(/\(42 more lines; read from offset 61 for their anchors\.\)/);
});
test('stays small when lines are long, and so does an error', async () => {
  const long = `${'x'.repeat(100_000)}\n`;
  desk.put('a.txt', long.repeat(30));
  const result = await desk.edit({ op: 'insert_after', anchor: '0:', content: long.repeat(50) });
  expect(result.content.length).toBeLessThan(60 * 450);
  expect((await desk.edit({ op: 'replace', anchor: '50:zzz:zzz', content: '' })).content.length).toBeLessThan(3100);
});
test('warns of repeated lines and tells of what others changed', async () => {
  const path = desk.put('a.txt', rows(9));
  const at = await desk.anchors();
  writeFileSync(path, `${rows(9)}added\n`);
  const { content } = await desk.edit({ op: 'insert_after', anchor: at(4), content: 'row 4' });
  expect(content).toContain('Warning: lines 4 and 5 are identical.');
  expect(content).toContain('the file had changed since it was last read; those changes are kept');
  expect(desk.text('a.txt')).toContain('added');
  expect((await desk.run('write', { path: 'a.txt', content: 'x' })).error?.code).toBe('CONFLICT');
});
test('the file keeps its mode', async () => {
  const path = desk.put('a.txt', rows(3));
  chmodSync(path, 0o751);
  await desk.edit({ op: 'insert_after', anchor: '0:', content: 'x' });
  expect(statSync(path).mode & 0o7777).toBe(0o751);
});
