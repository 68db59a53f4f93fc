import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OutputTail } from '../../../plugins/bash/tail.ts';
import { countLines, decodeTail, isBinary, lastPart, oneLine, plainText } from '../../../plugins/bash/text.ts';

describe('the tail', () => {
  test('holds the newest bytes, however they come', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 30 }), fc.integer({ min: 1, max: 64 }), fc.nat(80), (chunks, capacity, limit) => {
        const tail = new OutputTail(capacity);
        for (const chunk of chunks) tail.push(Buffer.from(chunk));
        const whole = Buffer.concat(chunks);
        expect(tail.bytes).toBe(whole.length);
        expect(tail.newest()).toEqual(whole.subarray(Math.max(0, whole.length - capacity)));
        expect(tail.newest(limit)).toEqual(whole.subarray(Math.max(0, whole.length - Math.min(limit, capacity))));
        expect(tail.overflowed).toBe(whole.length > capacity);
      }),
    );
  });

  test('grows to its capacity and no further', () => {
    const tail = new OutputTail(100_000);
    const whole = Buffer.from(Array.from({ length: 250_000 }, (_, index) => index % 251));
    for (let start = 0; start < whole.length; start += 7001) tail.push(whole.subarray(start, start + 7001));
    expect(tail.newest().equals(whole.subarray(150_000))).toBe(true);
  });

  test.each([
    ['', 0],
    ['a', 1],
    ['a\n', 1],
    ['a\nb', 2],
    ['\n\n', 2],
    ['a\r\nb\r\n', 2],
    ['a\rb\rc', 3],
  ])('counts the lines of %j', (text, lines) => {
    const tail = new OutputTail(10);
    for (const byte of Buffer.from(text)) tail.push(Buffer.of(byte));
    expect(tail.lines).toBe(lines);
  });
});

test.each([
  ['\u001b[1;31mred\u001b[m', 'red'],
  ['\u001b[?2004hx\u001b[?25l', 'x'],
  ['\u001b]0;title\u0007x\u001b]8;;http://a\u001b\\link\u001b]8;;\u001b\\', 'xlink'],
  ['\u001b]0;unfinished\nx', '\nx'],
  ['\u001bP1;2|data\u001b\\x', 'x'],
  ['\u001b(Bx\u001b=\u001b7y\u001bMz', 'xyz'],
  ['a\r\nb\rc\n', 'a\nb\nc\n'],
  ['N\u0008NA\u0008A_\u0008x', 'NAx'],
  ['tab\tbell\u0007nul\u0000del\u007f', 'tab\tbellnuldel'],
  ['ü € 🙂', 'ü € 🙂'],
])('plain text of %j', (text, plain) => {
  expect(plainText(text)).toBe(plain);
});

test('plain text takes time in proportion to its length', () => {
  for (const unit of ['\u001b]', '\u001bP', '\u001b[', '\u001b', '\u0008', '\n', ' ']) {
    const started = performance.now();
    plainText(unit.repeat(300_000));
    expect(performance.now() - started).toBeLessThan(1000);
  }
});

test('the last part fits both limits, in whole characters', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', '\n', 'ü', '€', '🙂') }),
      fc.integer({ min: 1, max: 10 }),
      fc.integer({ min: 4, max: 30 }),
      (text, lines, bytes) => {
        const part = lastPart(text, lines, bytes);
        expect(text.endsWith(part)).toBe(true);
        expect(part).not.toContain('\ufffd');
        expect(countLines(part)).toBeLessThanOrEqual(lines);
        expect(Buffer.byteLength(part)).toBeLessThanOrEqual(bytes);
        if (part !== text) {
          const longer = text.slice(Math.max(0, text.length - part.length - 2));
          expect(countLines(longer) > lines || Buffer.byteLength(longer) > bytes).toBe(true);
        }
      },
    ),
  );
});

test('a cut character is left out at either end', () => {
  const bytes = Buffer.from('€a€');
  expect(decodeTail(bytes.subarray(1, -1), { start: true, open: true })).toBe('a');
  expect(decodeTail(bytes.subarray(0, -1), { start: false, open: false })).toBe('€a\ufffd');
});

test.each([
  ['plain text\n', false],
  ['\u001b[31mred\u001b[0m\r\n', false],
  ['', false],
  ['a\u0000'.repeat(20), true],
  ['\ufffdPNG\r\n\u001a\n\u0000\u0000\u0000', true],
  [`${'src/a.ts\u0000'.repeat(3)}${'x'.repeat(20)}`, false],
])('%j is binary: %s', (text, binary) => {
  expect(isBinary(text)).toBe(binary);
});

test('a command in one line is cut between characters', () => {
  expect(oneLine(' a\n  b ')).toBe('a b');
  expect(oneLine(`${'x'.repeat(79)}🙂🙂`)).toBe(`${'x'.repeat(79)}…`);
  expect(oneLine(`${'x'.repeat(78)}🙂🙂`)).toBe(`${'x'.repeat(78)}🙂…`);
});
