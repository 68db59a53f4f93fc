import { expect, test } from 'vitest';
import { expectRefused, local, rows, useLineDesk } from './line-desk.ts';

const desk = useLineDesk();

test('the line has its hash, but lines near it changed: applied with a note', async () => {
  desk.put('a.txt', rows(8));
  const at = await desk.anchors();
  desk.put('a.txt', rows(8).replace('row 2', 'other'));
  const result = await desk.edit({ op: 'replace', anchor: at(5), content: 'x' });
  expect(result.content).toContain(`Note: lines near line 5 have changed since \`${at(5)}\` was shown.`);
  expect(desk.text('a.txt')).toBe(rows(8).replace('row 2', 'other').replace('row 5', 'x'));
});

test.each([15, -15])('the line is %i lines away: applied there with a note', async (shift) => {
  desk.put('a.txt', rows(60));
  const at = await desk.anchors();
  const moved = shift > 0 ? '-\n'.repeat(shift) + rows(60) : rows(60).split('\n').slice(-shift).join('\n');
  desk.put('a.txt', moved);
  const result = await desk.edit({ op: 'replace', anchor: at(30), content: 'x' });
  expect(result.content).toContain(`Note: \`${at(30)}\` was taken for line ${30 + shift}.`);
  expect(desk.text('a.txt')).toBe(moved.replace('row 30\n', 'x\n'));
});
test.each([16, -16])('the line is %i lines away: refused, with what is there now', async (shift) => {
  desk.put('a.txt', rows(60));
  const at = await desk.anchors();
  const moved = shift > 0 ? '-\n'.repeat(shift) + rows(60) : rows(60).split('\n').slice(-shift).join('\n');
  desk.put('a.txt', moved);
  const result = await desk.edit({ op: 'replace', anchor: at(30), content: 'x' });
  expectRefused(desk, result, moved, /is stale: no line near it in a\.txt has that hash now/);
  expect(result.error?.code).toBe('NOT_FOUND');
  const fresh = await desk.anchors();
  for (const number of [28, 29, 30, 31, 32]) expect(result.content).toContain(`\n${fresh(number)}→row ${number - shift}\n`);
});

const GAPS = 'head\n'.repeat(3);
test.each([
  ['before', `${GAPS}x\nx\nx\n${'tail\n'.repeat(9)}`, 10, 6],
  ['behind', `${'head\n'.repeat(8)}x\nx\nx\n`, 4, 9],
])('a run of identical lines %s it: the nearest', async (_where, file, number, nearest) => {
  desk.put('a.txt', file);
  const at = await desk.anchors();
  const result = await desk.edit({ op: 'replace', anchor: `${number}:${local(at(nearest))}:zzz`, content: 'HERE' });
  expect(result.content).toContain(`was taken for line ${nearest}.`);
  expect(desk.text('a.txt').split('\n').indexOf('HERE')).toBe(nearest - 1);
});
test('several lines that do not follow one another: refused, all of them shown', async () => {
  const file = `x\n${rows(3)}x\n${rows(3)}`;
  desk.put('a.txt', file);
  const at = await desk.anchors();
  const result = await desk.edit({ op: 'insert_after', anchor: `3:${local(at(1))}:zzz`, content: 'y' });
  expectRefused(desk, result, file, /is stale, and 2 lines near it in a\.txt have that hash/);
  expect(result.content).toContain(`${at(1)}→x\n`);
  expect(result.content).toContain(`${at(5)}→x\n`);
});
test('neighbours that differ in white space alone are not identical', async () => {
  const file = 'x\n  x\nb\nc\n';
  desk.put('a.txt', file);
  const at = await desk.anchors();
  expectRefused(desk, await desk.edit({ op: 'replace', anchor: `4:${local(at(1))}:zzz`, content: 'y' }), file, /2 lines near it/);
});

test.each([
  ['without its last letters', (anchor: string) => anchor.slice(0, -1)],
  ['without its second hash', (anchor: string) => anchor.slice(0, -4)],
])('cut off, %s: looked for like a stale one', async (_name, cut) => {
  desk.put('a.txt', rows(5));
  const at = await desk.anchors();
  const result = await desk.edit({ op: 'replace', anchor: cut(at(3)), content: 'x' });
  expect(result.content).toContain('was taken for line 3.');
  expect(desk.text('a.txt')).toBe(rows(5).replace('row 3', 'x'));
});
test('cut off, and the line is not the only one of its kind: refused', async () => {
  const file = 'x\na\nx\n';
  desk.put('a.txt', file);
  const at = await desk.anchors();
  expectRefused(desk, await desk.edit({ op: 'replace', anchor: at(3).slice(0, -4), content: 'y' }), file, /2 lines near it/);
});
test.each(['3', '3:', '3:a', '3:ab:', '3:ab:cde', '3:abcd:efg'])('%s has no whole hash: refused, with what is there now', async (anchor) => {
  desk.put('a.txt', rows(5));
  const result = await desk.edit({ op: 'replace', anchor, content: 'x' });
  expectRefused(desk, result, rows(5), /is not whole/);
  expect(result.content).toContain(`${(await desk.anchors())(3)}→row 3\n`);
});

test('past the end: refused, with the last lines', async () => {
  desk.put('a.txt', rows(20));
  const at = await desk.anchors();
  const result = await desk.edit({ op: 'replace', anchor: `21:${local(at(20))}:abc`, content: 'x' });
  expectRefused(desk, result, rows(20), /is past the end of a\.txt, whose last line is 20/);
  for (const number of [18, 19, 20]) expect(result.content).toContain(`\n${at(number)}→row ${number}\n`);
});
test('an empty file has no line to name', async () => {
  desk.put('a.txt', '');
  expectRefused(desk, await desk.edit({ op: 'replace', anchor: '1:abc:def', content: 'x' }), '', /a\.txt is empty/);
});

test('a hash alone that several lines have, or none: refused', async () => {
  const file = `x\n${rows(30)}x\n`;
  desk.put('a.txt', file);
  const at = await desk.anchors();
  const result = await desk.edit({ op: 'replace', anchor: local(at(1)), content: 'y' });
  expectRefused(desk, result, file, /does not name one line of a\.txt: 2 have it/);
  expect(result.content).toContain(`${at(32)}→x`);
  const used = Array.from({ length: 32 }, (_, index) => local(at(index + 1)));
  const unused = ['aaa', 'aab', 'aac'].find((hash) => !used.includes(hash)) ?? '';
  expectRefused(desk, await desk.edit({ op: 'replace', anchor: unused, content: 'y' }), file, /no line of a\.txt has the hash/);
});

test('a hash alone in a file of very many lines: refused before all of them are hashed', async () => {
  const file = 'x\n'.repeat(5_000_000);
  desk.put('a.txt', file);
  const result = await desk.edit({ op: 'replace', anchor: 'abc', content: 'y' });
  expect(result.content).toMatch(/has 5000000 lines, too many to be told apart by the hash `abc` alone/);
  expect(desk.bytes('a.txt').equals(Buffer.from(file))).toBe(true);
});

test('both ends of a range moved by as much: applied', async () => {
  desk.put('a.txt', rows(9));
  const at = await desk.anchors();
  desk.put('a.txt', `new\n${rows(9)}`);
  expect((await desk.edit({ op: 'replace', anchor: at(3), end_anchor: at(5), content: 'x' })).status).toBe('ok');
  expect(desk.text('a.txt')).toBe(`new\n${rows(9)}`.replace('row 3\nrow 4\nrow 5', 'x'));
});
test('others put lines into the range: refused', async () => {
  desk.put('a.txt', rows(9));
  const at = await desk.anchors();
  const now = rows(9).replace('row 4\n', 'row 4\nprecious\n');
  desk.put('a.txt', now);
  const result = await desk.edit({ op: 'replace', anchor: at(3), end_anchor: at(6), content: 'x' });
  expectRefused(desk, result, now, /had 4 lines and has 5 now/);
  expect(result.content).toContain('→precious');
});

test('a bracket that others moved, and another one in its place now: refused, both of them shown', async () => {
  const file = 'f() {\n  if (x) {\n    y();\n  }\n}\n';
  desk.put('a.txt', file);
  const at = await desk.anchors();
  desk.put('a.txt', `// head\n${file}`);
  const fresh = await desk.anchors();
  const result = await desk.edit({ op: 'replace', anchor: at(5), content: '} // end' });
  expectRefused(desk, result, `// head\n${file}`, /2 of them in a\.txt have that hash/);
  expect(result.content).toContain(`${fresh(5)}→  }\n${fresh(6)}→}`);
  await desk.edit({ op: 'replace', anchor: fresh(6), content: '} // end' });
  expect(desk.text('a.txt')).toBe(`// head\n${file.replace('\n}\n', '\n} // end\n')}`);
});
