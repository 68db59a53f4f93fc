import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decodeFile, encodeFile } from '../../../plugins/files/encoding.ts';
import { lined } from '../../../plugins/files/endings.ts';
import { type Desk, openDesk } from './desk.ts';

let desk: Desk;
beforeAll(() => {
  desk = openDesk();
});
afterAll(() => desk.remove());

const bytes = fc.uint8Array({ maxLength: 200 });
const line = fc.oneof(
  fc.constantFrom('', 'x', '  x', '\tfoo(a);', '“q” – ü', '}', '$&', '\r', 'ÿ'),
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
);
const ending = fc.constantFrom('\n', '\r\n');
const lines = fc.array(fc.tuple(line, ending), { maxLength: 12 }).map((rows) => rows.map(([text, end]) => text.replaceAll('\n', '') + end).join(''));
const SENTINEL = '<<the place>>';

test('what can be read as text is written back as it was', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        bytes,
        lines.map((text) => Buffer.from(text)),
        lines.map((text) => Buffer.from(`\ufeff${text}`, 'utf16le')),
      ),
      (content) => {
        const before = Buffer.from(content);
        const file = decodeFile(before);
        if (file) expect(encodeFile(file, file.text)).toEqual(before);
      },
    ),
    { numRuns: 2000 },
  );
});

test('an edit of any bytes changes none outside its match', async () => {
  await fc.assert(
    fc.asyncProperty(bytes, bytes, fc.string({ maxLength: 20 }), async (head, tail, newString) => {
      const before = Buffer.concat([head, Buffer.from(SENTINEL), tail]);
      desk.put('a', before);
      const result = await desk.run('edit', { filePath: 'a', oldString: SENTINEL, newString });
      const after = desk.bytes('a');
      if (result.status !== 'ok') {
        expect(after).toEqual(before);
        return;
      }
      expect(after.subarray(0, head.length)).toEqual(Buffer.from(head));
      expect(after.subarray(after.length - tail.length)).toEqual(Buffer.from(tail));
    }),
    { numRuns: 300 },
  );
});

test('an edit of lines with mixed endings changes none outside its match', async () => {
  await fc.assert(
    fc.asyncProperty(fc.boolean(), lines, lines, lines, async (hasMark, head, tail, wanted) => {
      const before = `${hasMark ? '\ufeff' : ''}${head}${SENTINEL}${tail}`;
      desk.put('a', before);
      const result = await desk.run('edit', { filePath: 'a', oldString: SENTINEL, newString: wanted });
      if (result.status !== 'ok') {
        expect(desk.text('a')).toBe(before);
        return;
      }
      const { dominant, isMixed, crlf } = lined(head + tail);
      const dressed = wanted.replace(/\r+\n/g, '\n').replace(/^\ufeff/, '');
      const after = desk.text('a');
      if (isMixed) expect(after.replaceAll('\r\n', '\n')).toBe(before.replaceAll('\r\n', '\n').replace(SENTINEL, () => dressed));
      else expect(after).toBe(before.replace(SENTINEL, () => (crlf.length > 0 ? dressed.replaceAll('\n', dominant) : dressed)));
      expect(after.startsWith(`${hasMark ? '\ufeff' : ''}${head}`)).toBe(true);
      expect(after.endsWith(tail)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test('whatever lines an edit names, the others stay', async () => {
  const rows = fc.array(
    line.map((text) => text.replaceAll(/[\r\n]/g, '')),
    { minLength: 1, maxLength: 10 },
  );
  await fc.assert(
    fc.asyncProperty(rows, fc.nat(), fc.nat(), rows, ending, async (file, from, count, wanted, end) => {
      const first = from % file.length;
      const last = first + (count % (file.length - first));
      desk.put('a', file.join(end));
      // Given with other indentation, so that loose matching has to find it.
      const oldString = file
        .slice(first, last + 1)
        .map((text) => `    ${text}`)
        .join('\n');
      const result = await desk.run('edit', { filePath: 'a', oldString, newString: wanted.join('\n') });
      const after = desk.text('a');
      if (result.status !== 'ok') {
        expect(after).toBe(file.join(end));
        return;
      }
      const head = file
        .slice(0, first)
        .map((text) => text + end)
        .join('');
      const tail = file
        .slice(last + 1)
        .map((text) => end + text)
        .join('');
      // Another, equal place may have been meant only if it reads the same.
      if (after.startsWith(head) && after.endsWith(tail)) return;
      expect(file.filter((text) => text.trim() === (file[first] ?? '').trim()).length).toBeGreaterThan(1);
    }),
    { numRuns: 300 },
  );
});
