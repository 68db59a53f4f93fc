import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ToolResult } from '../../../../kernel/index.ts';
import { type Anchors, expectRefused, type Op, rows, useLineDesk } from './line-desk.ts';

const desk = useLineDesk();

const refusals: readonly (readonly [string, (at: Anchors) => readonly Op[], RegExp])[] = [
  ['no anchor', () => [{ op: 'replace', content: 'x' }], /replace needs an anchor/],
  ['a text that is no anchor', () => [{ op: 'replace', anchor: 'row 2', content: 'x' }], /`row 2` is no anchor.*\nCopy an anchor/],
  ['line 0', () => [{ op: 'replace', anchor: '0:abc:def', content: 'x' }], /is no anchor/],
  ['replacing the top', () => [{ op: 'replace', anchor: '0:', content: 'x' }], /`0:` is no line to replace/],
  ['replacing up to the end', (at) => [{ op: 'replace', anchor: at(1), end_anchor: 'EOF', content: 'x' }], /`EOF` is no line to replace/],
  ['inserting before the end', () => [{ op: 'insert_before', anchor: 'EOF', content: 'x' }], /`EOF` is no line to insert_before/],
  ['an insert of nothing', (at) => [{ op: 'insert_after', anchor: at(1), content: '' }], /has no content/],
  ['an insert over a range', (at) => [{ op: 'insert_after', anchor: at(1), end_anchor: at(2), content: 'x' }], /takes no end_anchor/],
  ['an inverted range', (at) => [{ op: 'replace', anchor: at(4), end_anchor: at(2), content: 'x' }], /is before anchor/],
  [
    'ranges that overlap',
    (at) => [
      { op: 'replace', anchor: at(2), end_anchor: at(4), content: 'x' },
      { op: 'replace', anchor: at(4), content: 'y' },
    ],
    /two ranges to replace overlap \(Op 1 of 2: lines 2-4; Op 2 of 2: line 4\)/,
  ],
  [
    'the same line twice',
    (at) => [
      { op: 'replace', anchor: at(2), content: 'x' },
      { op: 'replace', anchor: at(2), content: 'x' },
    ],
    /overlap/,
  ],
  [
    'an insert inside a range',
    (at) => [
      { op: 'insert_before', anchor: at(4), content: 'y' },
      { op: 'replace', anchor: at(2), end_anchor: at(4), content: 'x' },
    ],
    /a place to insert is inside a range to replace \(Op 2 of 2: lines 2-4; Op 1 of 2: behind line 3\)/,
  ],
  [
    'an insert after the first line of a range',
    (at) => [
      { op: 'replace', anchor: at(2), end_anchor: at(3), content: '' },
      { op: 'insert_after', anchor: at(2), content: 'y' },
    ],
    /inside a range/,
  ],
  [
    'one op that cannot be done among others that can',
    (at) => [
      { op: 'replace', anchor: at(1), content: 'x' },
      { op: 'replace', anchor: '9:abc:def', content: 'y' },
    ],
    /^Op 2 of 2: `9:abc:def` is past the end/,
  ],
  ['a placeholder', (at) => [{ op: 'replace', anchor: at(1), end_anchor: at(4), content: 'x\n// ... rest of code unchanged' }], /leaves out/],
  ['a placeholder to insert', (at) => [{ op: 'insert_after', anchor: at(1), content: '// ... existing code ...' }], /leaves out/],
  [
    'write among others',
    (at) => [
      { op: 'replace', anchor: at(1), content: 'x' },
      { op: 'write', content: 'y' },
    ],
    /stands alone/,
  ],
  ['write at an anchor', (at) => [{ op: 'write', anchor: at(1), content: 'y' }], /takes no anchor/],
];
test.each(refusals)('%s', async (_name, ops, says) => {
  desk.put('a.txt', rows(6));
  expectRefused(desk, await desk.edit(...ops(await desk.anchors())), rows(6), says);
});

test('what changes nothing', async () => {
  desk.put('a.txt', rows(3));
  const at = await desk.anchors();
  expect((await desk.edit({ op: 'replace', anchor: at(2), content: 'row 2' })).content).toMatch(/Nothing would change/);
});
test('oldString, which is of the other mode', async () => {
  desk.put('a.txt', rows(3));
  await expect(desk.run('edit', { filePath: 'a.txt', oldString: 'row 2', newString: 'x' })).rejects.toThrow(/ops/);
});
test('a character that the encoding lacks', async () => {
  const file = Buffer.from('gr\xfcn\n', 'latin1');
  desk.put('a.txt', file);
  const at = await desk.anchors();
  expect((await desk.edit({ op: 'replace', anchor: at(1), content: '漢' })).content).toMatch(/Windows-1252, which lacks/);
  expect(desk.bytes('a.txt')).toEqual(file);
});
test('a missing file, a folder, a pipe and a binary file', async () => {
  desk.put('sub/a.txt', '');
  desk.put('bin', Buffer.from([97, 0, 98]));
  execFileSync('mkfifo', [join(desk.cwd, 'pipe')]);
  const run = (filePath: string): Promise<ToolResult> => desk.run('edit', { filePath, ops: [{ op: 'insert_after', anchor: '0:', content: 'x' }] });
  expect(await run('a.txt')).toMatchObject({ error: { code: 'NOT_FOUND' }, content: expect.stringMatching(/sub\/a\.txt/) });
  for (const path of ['sub', 'pipe', 'bin']) expect(await run(path)).toMatchObject({ error: { code: 'INVALID_ARGUMENT' } });
});
test('a path that leads elsewhere than when the call was checked', async () => {
  desk.put('a.txt', rows(3));
  const ops = [{ op: 'insert_after', anchor: '0:', content: 'x' }] as const;
  const call = { paths: [join(desk.cwd, 'other')] };
  expect(await desk.run('edit', { filePath: 'a.txt', ops }, call)).toMatchObject({ error: { code: 'CONFLICT', retryable: true } });
  expect(desk.text('a.txt')).toBe(rows(3));
});
test('an aborted call', async () => {
  desk.put('a.txt', rows(3));
  const ops = [{ op: 'insert_after', anchor: '0:', content: 'x' }] as const;
  expect((await desk.run('edit', { filePath: 'a.txt', ops }, { signal: AbortSignal.abort() })).status).toBe('aborted');
  expect(desk.text('a.txt')).toBe(rows(3));
});
