import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OutputReader } from '../../../plugins/search/ripgrep-output.ts';

const OUTPUT = Buffer.from(
  [
    '/w/a.txt\x001\x001\0hit one\n2-miss: 1\n\n',
    '/w/skipped.txt\x007\x002\0 hit\n8\x003\0  hit\n\n',
    '/w/new\nline.txt\x003\x001\0hit\n\n',
    '/w/binary.bin\x001\x001\0hit\n/w/binary.bin: WARNING: stopped searching binary file after match (found "\\0" byte around offset 70000)\n\n',
    '/w/last.txt\x0010\x0012:34\r\n',
  ].join(''),
);
const EXPECTED = [
  {
    path: '/w/a.txt',
    rows: [
      { line: 1, text: 'hit one', isMatch: true },
      { line: 2, text: 'miss: 1', isMatch: false },
    ],
  },
  { path: '/w/new\nline.txt', rows: [{ line: 3, text: 'hit', isMatch: true }] },
  { path: '/w/last.txt', rows: [{ line: 10, text: '12:34', isMatch: true }] },
];

test('it reads the same wherever the pieces of the output end', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(OUTPUT.length)), (cuts) => {
      const reader = new OutputReader(
        (path) => path !== '/w/skipped.txt',
        () => undefined,
      );
      const ends = [0, ...cuts.sort((a, b) => a - b), OUTPUT.length];
      const files = ends.slice(1).flatMap((end, index) => [...reader.take(OUTPUT.subarray(ends[index], end))]);
      expect([...files, ...reader.end()]).toEqual(EXPECTED);
    }),
    { numRuns: 300 },
  );
});
