import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ToolResult } from '../../../../kernel/index.ts';
import { type Anchors, local, type Op, rows, useLineDesk } from './line-desk.ts';

const desk = useLineDesk();

interface Case {
  readonly name: string;
  readonly file: string | Uint8Array;
  readonly ops: (at: Anchors) => readonly Op[];
  readonly after: string | Uint8Array;
}
const cases: readonly Case[] = [
  { name: 'replace a line', file: 'a\nb\nc\n', ops: (at) => [{ op: 'replace', anchor: at(2), content: 'B' }], after: 'a\nB\nc\n' },
  {
    name: 'replace a range',
    file: 'a\nb\nc\nd\n',
    ops: (at) => [{ op: 'replace', anchor: at(2), end_anchor: at(3), content: 'x\ny\nz' }],
    after: 'a\nx\ny\nz\nd\n',
  },
  {
    name: 'a line feed at the end of the content is that of its last line',
    file: 'a\nb\n',
    ops: (at) => [{ op: 'replace', anchor: at(1), content: 'x\n' }],
    after: 'x\nb\n',
  },
  { name: 'a blank line', file: 'a\nb\n', ops: (at) => [{ op: 'replace', anchor: at(1), content: '\n' }], after: '\nb\n' },
  { name: 'empty content deletes', file: 'a\nb\nc\n', ops: (at) => [{ op: 'replace', anchor: at(1), end_anchor: at(2), content: '' }], after: 'c\n' },
  { name: 'deleting everything', file: 'a\nb', ops: (at) => [{ op: 'replace', anchor: at(1), end_anchor: at(2), content: '' }], after: '' },
  { name: 'deleting the last line', file: 'a\nb\n', ops: (at) => [{ op: 'replace', anchor: at(2), content: '' }], after: 'a\n' },
  { name: 'insert after', file: 'a\nb\n', ops: (at) => [{ op: 'insert_after', anchor: at(1), content: 'x\ny' }], after: 'a\nx\ny\nb\n' },
  { name: 'insert before', file: 'a\nb\n', ops: (at) => [{ op: 'insert_before', anchor: at(1), content: 'x' }], after: 'x\na\nb\n' },
  { name: 'insert after 0: is the top', file: 'a\n', ops: () => [{ op: 'insert_after', anchor: '0:', content: 'x' }], after: 'x\na\n' },
  { name: 'insert after EOF is the end', file: 'a\n', ops: () => [{ op: 'insert_after', anchor: 'EOF', content: 'x' }], after: 'a\nx\n' },
  { name: 'an empty file, from the top', file: '', ops: () => [{ op: 'insert_after', anchor: '0:', content: 'x\ny' }], after: 'x\ny\n' },
  { name: 'an empty file, from the end', file: '', ops: () => [{ op: 'insert_after', anchor: 'EOF', content: 'x' }], after: 'x\n' },
  {
    name: 'numbers are those of the file before all ops',
    file: 'a\nb\nc\nd\n',
    ops: (at) => [
      { op: 'insert_after', anchor: '0:', content: '1\n2\n3' },
      { op: 'replace', anchor: at(3), content: '' },
      { op: 'replace', anchor: at(4), content: 'D' },
      { op: 'insert_before', anchor: at(2), content: 'x' },
    ],
    after: '1\n2\n3\na\nx\nb\nD\n',
  },
  {
    name: 'inserts that share an anchor land in the order given',
    file: 'a\nb\n',
    ops: (at) => [
      { op: 'insert_after', anchor: at(1), content: '1' },
      { op: 'insert_before', anchor: at(2), content: '3' },
      { op: 'insert_after', anchor: at(1), content: '2' },
      { op: 'insert_before', anchor: at(2), content: '4' },
    ],
    after: 'a\n1\n2\n3\n4\nb\n',
  },
  {
    name: 'an insert on the first line of a range comes before its replacement, whichever is listed first',
    file: 'a\nb\nc\nd\n',
    ops: (at) => [
      { op: 'replace', anchor: at(2), end_anchor: at(3), content: 'X' },
      { op: 'insert_before', anchor: at(2), content: '1' },
      { op: 'insert_after', anchor: at(3), content: '2' },
    ],
    after: 'a\n1\nX\n2\nd\n',
  },
  {
    name: 'two ranges that touch, and an insert between them',
    file: 'a\nb\nc\nd\n',
    ops: (at) => [
      { op: 'replace', anchor: at(3), end_anchor: at(4), content: 'Y' },
      { op: 'replace', anchor: at(1), end_anchor: at(2), content: 'X' },
      { op: 'insert_after', anchor: at(2), content: '-' },
    ],
    after: 'X\n-\nY\n',
  },

  // Anchors as models give them.
  { name: 'a pasted line', file: 'a\nb -> c\n', ops: (at) => [{ op: 'replace', anchor: `${at(2)}→b -> c`, content: 'x' }], after: 'a\nx\n' },
  {
    name: 'a pasted line with an arrow of two characters',
    file: 'a\nb\n',
    ops: (at) => [{ op: 'replace', anchor: ` ${at(2)}->b`, content: 'x' }],
    after: 'a\nx\n',
  },
  { name: 'the hash alone', file: 'a\nb\n', ops: (at) => [{ op: 'replace', anchor: local(at(2)), content: 'x' }], after: 'a\nx\n' },
  {
    name: 'both hashes, of which only the second tells the lines apart',
    file: `a\n${rows(9)}a\n`,
    ops: (at) => [{ op: 'replace', anchor: at(11).slice(3), content: 'x' }],
    after: `a\n${rows(9)}x\n`,
  },

  // Endings, marks and encodings.
  {
    name: 'CRLF and mark',
    file: '\ufeffa\r\nb\r\n',
    ops: (at) => [{ op: 'insert_after', anchor: at(1), content: '\ufeffx\r\ny' }],
    after: '\ufeffa\r\nx\r\ny\r\nb\r\n',
  },
  { name: 'LF never gains a carriage return', file: 'a\nb\n', ops: (at) => [{ op: 'replace', anchor: at(1), content: 'x\r\ny\r' }], after: 'x\ny\nb\n' },
  {
    name: 'mixed endings: lines that go on keep theirs',
    file: 'a\r\nb\nc\r\nd\ne\r\n',
    ops: (at) => [{ op: 'replace', anchor: at(2), end_anchor: at(4), content: 'b\nnew\nc\nD' }],
    after: 'a\r\nb\nnew\r\nc\r\nD\ne\r\n',
  },
  { name: 'no final line feed: the last line replaced', file: 'a\nb', ops: (at) => [{ op: 'replace', anchor: at(2), content: 'x\n' }], after: 'a\nx' },
  { name: 'no final line feed: the last line deleted', file: 'a\r\nb', ops: (at) => [{ op: 'replace', anchor: at(2), content: '' }], after: 'a' },
  {
    name: 'no final line feed: lines added behind it',
    file: 'a\r\nb',
    ops: () => [{ op: 'insert_after', anchor: 'EOF', content: 'x\ny' }],
    after: 'a\r\nb\r\nx\r\ny',
  },
  {
    name: 'no final line feed: the last line deleted and others added',
    file: 'a\nb\nc',
    ops: (at) => [
      { op: 'replace', anchor: at(3), content: '' },
      { op: 'insert_after', anchor: at(2), content: 'x' },
    ],
    after: 'a\nb\nx',
  },
  { name: 'lone carriage returns', file: 'a\rb\nc\n', ops: (at) => [{ op: 'replace', anchor: at(2), content: 'x' }], after: 'a\rb\nx\n' },
  { name: 'text is literal', file: 'a\n', ops: (at) => [{ op: 'replace', anchor: at(1), content: "$&$`$'$1$$" }], after: "$&$`$'$1$$\n" },
  {
    name: 'Windows-1252',
    file: Buffer.from('gr\xfcn\nx\n', 'latin1'),
    ops: (at) => [{ op: 'replace', anchor: at(2), content: 'ü€' }],
    after: Buffer.from('gr\xfcn\n\xfc\x80\n', 'latin1'),
  },
  {
    name: 'UTF-16LE',
    file: Buffer.from('\ufeffa\r\nb🙂\r\n', 'utf16le'),
    ops: (at) => [{ op: 'replace', anchor: at(2), content: 'ß\nd' }],
    after: Buffer.from('\ufeffa\r\nß\r\nd\r\n', 'utf16le'),
  },
  {
    name: 'UTF-8 with invalid bytes',
    file: Buffer.from([0xc3, 0xbc, 0x0a, 0xff, 0x0a, 0xc3, 0xbc, 0xc3]),
    ops: (at) => [{ op: 'replace', anchor: at(1), content: 'ö' }],
    after: Buffer.from([0xc3, 0xb6, 0x0a, 0xff, 0x0a, 0xc3, 0xbc, 0xc3]),
  },
];
test.each(cases)('$name', async ({ file, ops, after }) => {
  desk.put('a.txt', file);
  const result = await desk.edit(...ops(await desk.anchors()));
  expect(result.status, result.content).toBe('ok');
  expect(desk.bytes('a.txt').toString('latin1')).toBe(Buffer.from(after).toString('latin1'));
  expect(result.changed).toEqual([join(desk.cwd, 'a.txt')]);
  expect(result.content).not.toContain('Note: `');
  expect(readdirSync(desk.cwd)).toEqual(['a.txt']);
});

test('a file of which nothing is left says so', async () => {
  desk.put('a.txt', 'a\nb\n');
  const at = await desk.anchors();
  const { content } = await desk.edit({ op: 'replace', anchor: at(1), end_anchor: at(2), content: '' });
  expect(content).toBe('Edit applied to a.txt\n(The file is empty now.)');
});

test('write makes a file with its folders, and replaces all of one', async () => {
  const write = (content: string): Promise<ToolResult> => desk.run('edit', { filePath: 'd/a.txt', ops: [{ op: 'write', content }] });
  expect((await write('one\r\ntwo\r\n')).content).toMatch(/^Created d\/a\.txt \(2 lines, 10 bytes\)\n1:[a-z]{3}:[a-z]{3}→one\n2:[a-z]{3}:[a-z]{3}→two$/);
  const result = await write('one\nthree\n');
  expect(desk.text('d/a.txt')).toBe('one\r\nthree\r\n');
  expect(result).toMatchObject({ changed: [join(desk.cwd, 'd/a.txt')], view: { kind: 'diff', text: expect.stringContaining('-two\n+three') } });
  expect(result.content).toContain('→three');
  expect((await write('one\nthree\n')).content).toMatch(/identical/);
});
test('write does not pass over what others wrote', async () => {
  const path = desk.put('a.txt', 'one\n');
  await desk.anchors();
  writeFileSync(path, 'one\nadded\n');
  expect(await desk.edit({ op: 'write', content: 'two\n' })).toMatchObject({ error: { code: 'CONFLICT' } });
  expect(desk.text('a.txt')).toBe('one\nadded\n');
});
