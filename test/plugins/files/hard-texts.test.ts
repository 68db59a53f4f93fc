/** Texts that are hard on whoever compares and shortens them. */
import { applyPatch } from 'diff';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { diffOf } from '../../../plugins/files/change.ts';
import { openDesk } from './desk.ts';

let desk: ReturnType<typeof openDesk>;
beforeEach(() => {
  desk = openDesk();
});
afterEach(() => desk.remove());

describe('the difference of two texts', () => {
  const line = fc.constantFrom('a', 'b', 'ab', '', 'c');
  const text = fc.array(line, { maxLength: 12 }).map((lines) => lines.map((each) => `${each}\n`).join(''));
  test('leads from the one to the other, and counts what it shows', () => {
    fc.assert(
      fc.property(text, text, text, text, (before, old, now, after) => {
        const [from, to] = [before + old + after, before + now + after];
        const { hunks, added, removed } = diffOf('f', from, to);
        const patch = {
          hunks: hunks.map((hunk) => ({ ...hunk, lines: [...hunk.lines] })),
          oldFileName: 'f',
          newFileName: 'f',
          oldHeader: '',
          newHeader: '',
          index: undefined,
        };
        expect(applyPatch(from, patch as never, { fuzzFactor: 0 })).toBe(to);
        const lines = hunks.flatMap((hunk) => hunk.lines);
        expect([added, removed]).toEqual(['+', '-'].map((sign) => lines.filter((each) => each.startsWith(sign)).length));
      }),
      { numRuns: 500 },
    );
  });

  test('of a large file is that of the part that changed', () => {
    const lines = Array.from({ length: 400_000 }, (_, index) => `line ${index}\n`);
    const changed = lines.with(200_000, 'other\n');
    expect(diffOf('f', lines.join(''), changed.join(''))).toMatchObject({
      added: 1,
      removed: 1,
      hunks: [{ oldStart: 200_000, lines: [' line 199999', '-line 200000', '+other', ' line 200001'] }],
    });
  });
});

test('UTF-32 is no UTF-16 with a great many NULs: it is refused, and stays as it is', async () => {
  const bytes = Buffer.concat([Buffer.from([0xff, 0xfe, 0, 0]), Buffer.from([...'hello X\n'].flatMap((char) => [char.charCodeAt(0), 0, 0, 0]))]);
  desk.put('wide.txt', bytes);
  expect(await desk.run('read', { path: 'wide.txt' })).toMatchObject({ status: 'error', content: expect.stringContaining('binary') });
  expect(await desk.run('edit', { filePath: 'wide.txt', oldString: 'X', newString: 'Y' })).toMatchObject({ status: 'error' });
  expect(desk.bytes('wide.txt')).toEqual(bytes);
});

test('no half of a character is shown, whether it is cut or stands in the file', async () => {
  desk.put('cut.txt', `${'x'.repeat(398)}😀 tail\n`);
  const { content, view } = await desk.run('edit', { filePath: 'cut.txt', oldString: 'tail', newString: 'tale' });
  expect([content, JSON.stringify(view)].every((each) => !/\p{Surrogate}/u.test(each) && !/\\ud[89a-f]/i.test(each))).toBe(true);
  desk.put('half.txt', Buffer.from('\ufeffa\ud83db\n', 'utf16le'));
  expect((await desk.run('read', { path: 'half.txt' })).content).toBe('1: a\ufffdb');
});

test('runs of carriage returns and of blanks in what the model writes take no longer than they are long', { timeout: 20_000 }, async () => {
  desk.put('f.txt', 'hello\n');
  expect(await desk.run('edit', { filePath: 'f.txt', oldString: 'hello', newString: `${'\r'.repeat(300_000)}x` })).toMatchObject({ status: 'ok' });
  expect(await desk.run('edit', { filePath: 'f.txt', oldString: `${' '.repeat(60_000)}qq`, newString: 'x' })).toMatchObject({ status: 'error' });
});

test('UTF-16 of an odd number of bytes is no text, in either order', async () => {
  for (const mark of [
    [0xff, 0xfe],
    [0xfe, 0xff],
  ]) {
    desk.put('odd.txt', Buffer.from([...mark, 0x61, 0x00, 0x62]));
    expect(await desk.run('read', { path: 'odd.txt' })).toMatchObject({ status: 'error', content: expect.stringContaining('Cannot read binary file') });
  }
});

test('a text that occurs more than a million times is refused, replaceAll or not', async () => {
  desk.put('a.txt', 'a'.repeat(1_000_001));
  for (const replaceAll of [false, true]) {
    const { status, content } = await desk.run('edit', { filePath: 'a.txt', oldString: 'a', newString: 'b', replaceAll });
    expect([status, content]).toEqual(['error', expect.stringContaining('matches more than 1000000 places')]);
  }
  expect(desk.text('a.txt')).toBe('a'.repeat(1_000_001));
});

test('one line of a file of millions of lines is changed without holding the others', { timeout: 60_000 }, async () => {
  desk.put('a.txt', `begin\n${'abc\n'.repeat(6_000_000)}end\n`);
  const before = process.memoryUsage().rss;
  const { content } = await desk.run('edit', { filePath: 'a.txt', oldString: 'end', newString: 'END' });
  expect(content).toBe('Edit applied to a.txt\n@@ -6000001,2 +6000001,2 @@\n abc\n-end\n+END');
  expect(process.memoryUsage().rss - before).toBeLessThan(600 * 1024 ** 2);
});

test('a block whose ends stand everywhere in the file is given up before it takes minutes', { timeout: 60_000 }, async () => {
  const long = 'q'.repeat(390);
  for (const [file, old] of [
    ['{ x\n'.repeat(30_000), `{ x\n${'zzz\n'.repeat(2000)}{ x`],
    [`{ x\n${long}\n`.repeat(3000), `{ x\n${`${long.replaceAll('q', 'z')}\n`.repeat(99)}{ x`],
  ] as const) {
    desk.put('a.txt', file);
    const result = await desk.run('edit', { filePath: 'a.txt', oldString: old, newString: 'gone' });
    expect(result).toMatchObject({ status: 'error', error: { code: 'NOT_FOUND' } });
    expect(desk.text('a.txt')).toBe(file);
  }
});
