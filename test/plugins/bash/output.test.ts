/** What is shown of an output, however it comes and wherever it is cut. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Collected } from '../../../plugins/bash/collect.ts';
import { LineEnds } from '../../../plugins/bash/line-ends.ts';
import { headOf } from '../../../plugins/bash/limits.ts';
import { renderEnd, renderOutput, renderSince, START, viewOf } from '../../../plugins/bash/render.ts';
import { OutputHead, OutputTail } from '../../../plugins/bash/tail.ts';
import { firstPart, plainText, settledLength } from '../../../plugins/bash/text.ts';

/** Characters of one to four bytes, combined ones, line ends. */
const characters = fc.oneof(
  // The replacement character itself stands for nothing that was lost.
  { weight: 4, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }).filter((text) => text !== '\ufffd') },
  { weight: 2, arbitrary: fc.constantFrom('a', 'ü', '€', '🙂', '👩‍👧', '\n', ' ') },
);
const texts = fc.array(characters, { maxLength: 400 }).map((list) => list.join(''));
const cuts = fc.array(fc.nat(10_000), { maxLength: 12 });

const chunksOf = (bytes: Buffer, places: readonly number[]): readonly Buffer[] => {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
};
const limitsOf = (maxBytes: number, maxLines = 100_000) => ({ timeoutMs: 1, foregroundMs: 1, maxBytes, maxLines });
const emptyOutput = (maxBytes: number, capacity: number): Collected => ({
  head: new OutputHead(headOf(limitsOf(maxBytes)).maxBytes * 4),
  tail: new OutputTail(capacity),
  spill: undefined,
});
const push = ({ head, tail }: Collected, chunk: Buffer): void => {
  head.push(chunk);
  tail.push(chunk);
};
/** No half of a surrogate pair. */
const isWellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text);
const NOTE = /(?:^|\n)\[(\d+) lines \((\d+) bytes\) were left out here\. They were not kept\.\](?:\n|$)/;

describe('any chunking and any cut of any text', () => {
  test('is whole characters, within the bytes, and says how many bytes are missing', () => {
    fc.assert(
      fc.property(texts, cuts, fc.integer({ min: 300, max: 900 }), fc.integer({ min: 0, max: 400 }), (text, places, maxBytes, more) => {
        const bytes = Buffer.from(text);
        const output = emptyOutput(maxBytes, maxBytes + more);
        for (const chunk of chunksOf(bytes, places)) push(output, chunk);
        const shown = renderOutput(output, limitsOf(maxBytes));
        for (const part of [shown, renderEnd(output), (viewOf(shown) as { text: string }).text]) {
          expect(isWellFormed(part)).toBe(true);
          expect(part.includes('\ufffd')).toBe(false);
        }
        const note = NOTE.exec(shown);
        const rest = note ? shown.replace(NOTE, '') : shown;
        expect(Buffer.byteLength(rest)).toBeLessThanOrEqual(Math.max(maxBytes, '(no output)'.length));
        if (!note) {
          expect(shown).toBe(text.trimEnd() || '(no output)');
          return;
        }
        // What is missing, what is there, and at most the line ends where it was cut and trimmed.
        const trimmed = bytes.length - Buffer.byteLength(text.trimEnd());
        const sum = Number(note[2]) + Buffer.byteLength(rest);
        expect(sum).toBeLessThanOrEqual(bytes.length);
        expect(sum).toBeGreaterThanOrEqual(bytes.length - trimmed - 2);
        const [before = '', after = ''] = shown.split(note[0]);
        expect(text.startsWith(before)).toBe(true);
        expect(text.trimEnd().endsWith(after)).toBe(true);
      }),
      { numRuns: 1500 },
    );
  });

  test('shown bit by bit is the same text, escape sequences and line ends that come in parts included', () => {
    const terminal = fc.oneof(
      { weight: 3, arbitrary: characters },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          '\r\n',
          '\u001b[1;31m',
          '\u001b[?25l',
          '\u001b]0;title\u0007',
          '\u001b]8;;http://a\u001b\\',
          '\u001b(B',
          '\u001bP1;2|d\u001b\\',
        ),
      },
    );
    fc.assert(
      fc.property(fc.array(terminal, { maxLength: 200 }), cuts, (list, places) => {
        const bytes = Buffer.from(list.join(''));
        const output = emptyOutput(100_000, 100_000);
        let mark = START;
        let all = '';
        const look = (isOver: boolean): void => {
          const part = renderSince(output, mark, limitsOf(100_000), isOver);
          expect(part.text.includes('\ufffd')).toBe(false);
          all += part.text;
          ({ mark } = part);
        };
        for (const chunk of chunksOf(bytes, places)) {
          push(output, chunk);
          look(false);
        }
        look(true);
        const withoutSpace = (text: string): string => text.replace(/\s+/g, '');
        expect(withoutSpace(all)).toBe(withoutSpace(plainText(bytes.toString())));
      }),
      { numRuns: 1000 },
    );
  });
});

test('more than can be held is shown from where it is held, with a count', () => {
  const output = emptyOutput(1000, 2000);
  push(output, Buffer.from('seen\n'));
  const { mark } = renderSince(output, START, limitsOf(1000), false);
  push(output, Buffer.from(`${'x'.repeat(40)}\n`.repeat(200)));
  const { text } = renderSince(output, mark, limitsOf(1000), false);
  expect(text).toMatch(/^\[\d+ lines \(\d+ bytes\) were left out here/);
  expect(Number(/\((\d+) bytes/.exec(text)?.[1]) + (text.split(']\n')[1] ?? '').length).toBe(200 * 41 - 1);
});

test.each([
  ['ab€', 5],
  ['\r', 0],
  ['a\r', 1],
  ['a\u001b', 1],
  ['a\u001b[', 1],
  ['a\u001b[1;3', 1],
  ['a\u001b[1;31m', 8],
  ['a\u001b]0;ti', 1],
  ['a\u001b]0;ti\u0007', 8],
  ['a\u001b]8;;x\u001b\\', 9],
  ['a\u001bPdata', 1],
  [`\u001b]${'x'.repeat(300)}`, 302],
])('of %j so many bytes are certain: %s', (text, length) => {
  expect(settledLength(Buffer.from(text))).toBe(length);
});

test('half a character is not certain', () => {
  for (const text of ['€', '🙂', 'ü'])
    for (let end = 1; end < Buffer.byteLength(text); end += 1) expect(settledLength(Buffer.from(`a${text}`).subarray(0, 1 + end))).toBe(1);
  expect(settledLength(Buffer.from([0x61, 0xff]))).toBe(2);
  expect(settledLength(Buffer.from([0x80, 0x80, 0x80, 0x80]))).toBe(4);
});

test('the first part fits both limits, in whole characters', () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 0, max: 10 }), fc.integer({ min: 4, max: 40 }), (text, lines, bytes) => {
      const part = firstPart(text, lines, bytes);
      expect(text.startsWith(part)).toBe(true);
      expect(isWellFormed(part)).toBe(true);
      expect(part.split('\n').length).toBeLessThanOrEqual(Math.max(1, lines));
      if (lines === 0) expect(part).toBe('');
      expect(Buffer.byteLength(part)).toBeLessThanOrEqual(bytes);
      const isWholeLines = lines === 0 || part === text.split('\n').slice(0, lines).join('\n');
      const next = String.fromCodePoint(text.codePointAt(part.length) ?? 32);
      expect(isWholeLines || Buffer.byteLength(part + next) > bytes).toBe(true);
    }),
  );
});

test('lines are counted the same in any chunks, at any place in memory', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(10, 10, 13, 97, 138, 0, 255), { maxLength: 3000 }), cuts, fc.nat(7), (list, places, offset) => {
      const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(list)]).subarray(offset);
      const ends = new LineEnds();
      for (const chunk of chunksOf(bytes, places)) ends.push(chunk);
      const parts = bytes.toString('latin1').split(/\r\n|\r|\n/);
      expect(ends.lines).toBe(parts.length - (parts.at(-1) === '' ? 1 : 0));
    }),
  );
  const dense = new LineEnds();
  dense.push(Buffer.alloc(1_000_003, 10));
  expect(dense.lines).toBe(1_000_003);
});
