/** Whatever bytes stand in files, both engines find the same lines in them and say the same of them. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Desk, ENGINES, openDesk } from './desk.ts';

/** More for a longer look: `CONTENT_RUNS=2000`. */
const RUNS = Number(process.env['CONTENT_RUNS'] ?? 150);

let desk: Desk;
beforeAll(() => {
  desk = openDesk();
});
afterAll(() => desk.remove());

const piece = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('hit', 'miss', 'Hit', ' ', 'a hit b', 'größe', '日本', '👍', 'ſ', 'K').map((text) => Buffer.from(text)) },
  { weight: 5, arbitrary: fc.constantFrom('\n', '\r\n', '\n\n', '\r', '\t', '\v', '\f', '\u0085', '\u2028', '\ufeff').map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: fc.constantFrom([0xff], [0xc3], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]).map((bytes) => Buffer.from(bytes)) },
  { weight: 1, arbitrary: fc.constantFrom('x'.repeat(700), 'hit '.repeat(300), `${'y'.repeat(70_000)}hit`).map((text) => Buffer.from(text)) },
);
const NUL = Buffer.from([0]);
const content = fc
  .record({
    pieces: fc.array(piece, { maxLength: 20 }),
    mark: fc.constantFrom<readonly number[]>([], [], [], [0xef, 0xbb, 0xbf], [0xff, 0xfe], [0xfe, 0xff]),
    form: fc.constantFrom('bytes', 'bytes', 'bytes', 'utf16le', 'utf16be'),
    nulAt: fc.option(fc.constantFrom(0, 5, 500, 40_000, 70_000), { freq: 4 }),
    longTail: fc.boolean(),
  })
  .map(({ pieces, mark, form, nulAt, longTail }) => {
    const plain = Buffer.concat([...pieces, ...(longTail ? [Buffer.from('filling\n'.repeat(9_000)), Buffer.from('hit\n')] : [])]);
    const wide = form === 'bytes' ? plain : Buffer.from(plain.toString('utf8'), 'utf16le');
    const body = form === 'utf16be' ? wide.swap16() : wide;
    const at = nulAt === null ? undefined : Math.min(nulAt, body.length);
    return Buffer.concat([Buffer.from(mark), ...(at === undefined ? [body] : [body.subarray(0, at), NUL, body.subarray(at)])]);
  });
const query = fc.record({
  pattern: fc.constantFrom(
    'hit',
    'h.t',
    '^hit',
    'hit$',
    '^$',
    '\\bhit\\b',
    'größe|日',
    '\\s',
    '[^a-z]',
    'k',
    'miss',
    '.',
    '$',
    'a?$',
    'x*$',
    'b?\\r?$',
    '(?<=x)$',
    '\\B',
  ),
  ignoreCase: fc.boolean(),
  context: fc.constantFrom(0, 0, 1, 3),
  limit: fc.constantFrom(1, 5, 1000),
});

test(`${RUNS} files at random`, { timeout: 100_000 }, async () => {
  let count = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(content, { minLength: 1, maxLength: 3 }), query, async (contents, input) => {
      const path = `t${(count += 1)}`;
      for (const [index, bytes] of contents.entries()) desk.put(join(path, `f${index}`), bytes);
      const [fast, slow] = await Promise.all(ENGINES.map((engine) => desk.run(engine, 'grep', { ...input, path })));
      rmSync(join(desk.cwd, path), { recursive: true });
      expect(slow).toEqual(fast);
    }),
    { numRuns: RUNS },
  );
});
