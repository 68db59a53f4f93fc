import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import iconv from 'iconv-lite';
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

test('what can be read as text is written back as it was', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        bytes,
        lines.map((text) => Buffer.from(text)),
        lines.map((text) => Buffer.from(`\ufeff${text}`, 'utf16le')),
      ),
      async (content) => {
        const before = Buffer.from(content);
        const file = await decodeFile(before);
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

/** Enough of a language that its encoding is beyond doubt. */
const CHINESE = '这个函数返回用户的名称，如果没有找到就返回空值。请不要修改下面的代码。';
const ENCODINGS: readonly (readonly [name: string, mark: string, table: string, text: string])[] = [
  ['UTF-8', '', 'utf8', 'grüß 漢字 🙂'],
  ['UTF-8 with a mark', '\ufeff', 'utf8', 'grüß 漢字 🙂'],
  ['UTF-16LE', '\ufeff', 'utf16le', 'grüß 漢字 🙂'],
  ['UTF-16BE', '\ufeff', 'utf16be', 'grüß 漢字 🙂'],
  ['Windows-1252', '', 'windows-1252', 'grüß “é”'],
  ['GBK', '', 'gbk', CHINESE],
  ['Shift_JIS', '', 'shiftjis', 'この関数はユーザー名を返します。見つからない場合は空の値を返します。'],
  ['EUC-KR', '', 'euc-kr', '이 함수는 사용자 이름을 반환합니다. 찾을 수 없으면 빈 값을 반환합니다.'],
  ['Big5', '', 'cp950', '這個函數返回用戶的名稱，如果沒有找到就返回空值。請不要修改下面的代碼。'],
];
test.each(ENCODINGS)('an edit in %s changes no byte outside of the very characters that it names', async (_name, mark, table, text) => {
  const part = fc.constantFrom('', 'x', '  y = 1;', ...text, text.slice(0, 7), text);
  const rows = fc.array(fc.tuple(part, part, ending), { minLength: 1, maxLength: 8 });
  const typed = fc.constantFrom('', 'z', 'a\nb', '$&', '\r\n', text.slice(2, 5));
  await fc.assert(
    fc.asyncProperty(rows, fc.nat(), fc.nat({ max: 9 }), typed, async (lines, from, length, newString) => {
      const content = `${text}\r\n${text}\n${lines.map(([a, b, end]) => a + b + end).join('')}`;
      const characters = [...content];
      const oldString = characters
        .slice(from % characters.length)
        .slice(0, length + 1)
        .join('')
        .replace(/[\r\n][^]*/, '');
      if (oldString === '' || oldString === newString) return;
      const before = iconv.encode(mark + content, table);
      desk.put('a', before);
      const result = await desk.run('edit', { filePath: 'a', oldString, newString });
      const after = desk.bytes('a');
      if (result.status !== 'ok') {
        expect(after).toEqual(before);
        // Places that overlap are two as well, such as those of two blanks among three.
        expect([...characters.keys()].filter((at) => characters.slice(at).join('').startsWith(oldString)).length, result.content).not.toBe(1);
        return;
      }
      const [head = '', tail = ''] = content.split(oldString);
      const [start, end] = [iconv.encode(mark + head, table), iconv.encode(tail, table)];
      expect(after.subarray(0, start.length)).toEqual(start);
      expect(after.subarray(after.length - end.length)).toEqual(end);
      const middle = iconv.decode(after.subarray(start.length, after.length - end.length), table, { stripBOM: false });
      expect(middle.replaceAll('\r\n', '\n')).toBe(newString.replaceAll('\r\n', '\n'));
    }),
    { numRuns: 100 },
  );
});

test('several edits of any bytes are made all together or not at all', async () => {
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 20 }),
    lines.map((text) => Buffer.from(text)),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { minLength: 2, maxLength: 6 }),
      fc.array(fc.tuple(fc.nat({ max: 7 }), fc.constantFrom('', 'z', '$1 $&', 'a b')), { minLength: 1, maxLength: 5 }),
      async (pieces, wishes) => {
        const place = (index: number): string => `<<place ${index}>>`;
        const before = Buffer.concat(pieces.flatMap((bytes, index) => (index === 0 ? [bytes] : [Buffer.from(place(index)), bytes])));
        desk.put('a', before);
        const edits = wishes.map(([index, newString]) => ({ oldString: place(index), newString }));
        const result = await desk.run('edit', { filePath: 'a', edits });
        const named = wishes.map(([index]) => index);
        const isPossible = new Set(named).size === named.length && named.every((index) => index > 0 && index < pieces.length);
        if (!isPossible) expect(result.status).toBe('error');
        if (result.status !== 'ok') {
          expect(desk.bytes('a')).toEqual(before);
          return;
        }
        const texts = new Map(wishes);
        const after = pieces.flatMap((bytes, index) => (index === 0 ? [bytes] : [Buffer.from(texts.get(index) ?? place(index)), bytes]));
        expect(desk.bytes('a')).toEqual(Buffer.concat(after));
      },
    ),
    { numRuns: 300 },
  );
});

test('the bits of the mode stay, whatever changes the file', async () => {
  let count = 0;
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 0o777 }), fc.boolean(), async (bits, isEdit) => {
      const name = `mode-${count++}`;
      const path = desk.put(name, 'old\n');
      // A file that may not be read cannot be changed either, unless by the superuser.
      const mode = bits | 0o600;
      chmodSync(path, mode);
      const result = await (isEdit
        ? desk.run('edit', { filePath: name, oldString: 'old', newString: 'new' })
        : desk.run('write', { path: name, content: 'new\n' }));
      expect(result.status, result.content).toBe('ok');
      expect(statSync(join(desk.cwd, name)).mode & 0o7777).toBe(mode);
    }),
    { numRuns: 100 },
  );
});

const MAX_BYTES = 131_072;
test('whatever part of a text is read, it is whole characters, counted in bytes', async () => {
  const long = fc.tuple(
    fc.constantFrom('', 'a', 'ab', 'abc'),
    fc.constantFrom('a', 'ü', '漢', '🙂', 'e\u0301'),
    fc.constantFrom(0, 1, 80, 10_000, 32_765, 43_690, 65_533, 131_067, 131_069, 140_000),
  );
  const wide = fc.array(
    long.map(([head, unit, count]) => head + unit.repeat(count)),
    { minLength: 1, maxLength: 6 },
  );
  await fc.assert(
    fc.asyncProperty(
      wide,
      ending,
      fc.integer({ min: 1, max: 6 }),
      fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
      async (rows, end, offset, limit) => {
        desk.put('a', rows.join(end) + end);
        const result = await desk.run('read', { path: 'a', offset, ...(limit === undefined ? {} : { limit }) });
        const { content, view } = result;
        expect(Buffer.from(content).toString()).toBe(content);
        if (offset > rows.length) {
          expect(result.status).toBe('error');
          return;
        }
        const page = content.split('\n').filter((row) => !row.startsWith('('));
        expect(Buffer.byteLength(page.join('\n'))).toBeLessThanOrEqual(MAX_BYTES);
        const wanted = rows.slice(offset - 1, offset - 1 + (limit ?? rows.length)).map((row, index) => `${offset + index}: ${row}`);
        const [first = ''] = wanted;
        if (Buffer.byteLength(first) + 1 > MAX_BYTES) {
          expect(content).toContain(`(Line ${offset} is longer than a page`);
          expect(first.startsWith(page[0] ?? 'none')).toBe(true);
          // Another character would have been too much.
          expect(Buffer.byteLength(page[0] ?? '')).toBeGreaterThan(MAX_BYTES - 4);
        } else {
          expect(page).toEqual(wanted.slice(0, page.length));
          const next = wanted[page.length];
          if (next !== undefined) expect(Buffer.byteLength([...page, next].join('\n'))).toBeGreaterThanOrEqual(MAX_BYTES);
        }
        expect(view).toEqual({ kind: 'code', path: 'a', line: offset, text: page.map((row) => row.replace(/^\d+: /, '')).join('\n') });
      },
    ),
    { numRuns: 60 },
  );
});
