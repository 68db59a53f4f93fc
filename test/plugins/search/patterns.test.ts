import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Desk, openDesk } from './desk.ts';

/** Lines in which small differences between two engines would show. */
const LINES = [
  'foo',
  'foo bar',
  'foo\rbar',
  'b\rfoo',
  'z\r',
  '',
  ' ',
  'FOO Bar fOo',
  'foofoo barbar',
  'a1 b22 c333',
  'snake_case camelCase kebab-case',
  'Größe GRÖSSE größe straße STRASSE',
  'ſ s S K k \u212a',
  'ΑΒΓ αβγς σΣ',
  'привет Мир',
  '日本語 テスト',
  '٣٤٥ ²½ Ⅷ',
  'e\u0301 é',
  '👍🏽 x👍y',
  'x\u2028y\u2029z',
  'nbsp\u00a0here\u3000wide',
  '{ } [ ] ( ) | ^ $ . * + ? \\ / - " \' # & ~ < > = ! @ % , ; : `',
  'function f() {',
  'a.b a-b a_b a b',
  'tab\there\x0bvt\x0cff',
  'say "quoted" it\'s',
  'aaa',
  'aaaab',
  '---',
  'x'.repeat(300),
];
const corpus = (): Buffer =>
  Buffer.concat([
    ...LINES.flatMap((line, index) => [Buffer.from(line), Buffer.from(index % 3 === 0 ? '\r\n' : '\n')]),
    Buffer.from('gr\xfcn foo \xff\xfe x\n', 'latin1'),
    Buffer.from('\xe2\x82 cut \xe9\n', 'latin1'),
    Buffer.from('\ufffd sign\n'),
    Buffer.from('foo at the end'),
  ]);

let desk: Desk;
beforeAll(() => {
  desk = openDesk();
  desk.put('a.txt', corpus());
  desk.put('b.txt', `\ufefffoo\n${LINES.join('\r\n')}\r\n`);
  desk.put('wide.txt', Buffer.from(`\ufeff${LINES.join('\r\n')}`, 'utf16le'));
  desk.put('empty.txt', '');
});
afterAll(() => desk.remove());

const both = async (input: { pattern: string; ignoreCase?: boolean; literal?: boolean; context?: number; limit?: number }) =>
  Promise.all((['ripgrep', 'walk'] as const).map((engine) => desk.run(engine, 'grep', { limit: 1000, ...input })));

const pick = (...texts: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...texts);
const atom = fc.oneof(
  { weight: 6, arbitrary: pick('a', 'b', 'o', 'f', 'foo', 'bar', 'S', 'k', 'ß', 'σ', 'é', ' ', '-', '1', 'x', '日', 'М', '👍') },
  { weight: 3, arbitrary: pick('.', '\\w', '\\W', '\\d', '\\D', '\\s', '\\S', '\\pL', '\\p{Lu}', '\\P{L}', '\\p{Greek}', '\\t', '\\x41', '\\u{3b1}') },
  { weight: 2, arbitrary: pick('^', '$', '\\b', '\\B', '\\<', '\\>', '\\A', '\\z', '\\b{start}', '\\b{end}') },
  {
    weight: 3,
    arbitrary: pick(
      '[abc]',
      '[^abc]',
      '[a-z]',
      '[^a-z\\s]',
      '[[:alpha:]]',
      '[[:^space:]x]',
      '[\\w-]',
      '[\\d.]',
      '[]x]',
      '[^\\n]',
      '[\\s\\S]',
      '[α-ω]',
      '[.*]',
      '[a-c0-3]',
      '[^\\W_]',
      '[K]',
    ),
  },
  { weight: 2, arbitrary: pick('\\.', '\\(', '\\[', '\\{', '\\"', '\\/', '\\-', '{', '}', ']', '\\\\', '"', '/', '#', '&', '<') },
);
const times = pick('*', '+', '?', '{2}', '{1,2}', '{0,3}', '{,2}', '{2,}', '*?', '+?', '??', '**', '+*');
const { pattern } = fc.letrec<{ pattern: string; term: string }>((tie) => ({
  pattern: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 3, arbitrary: fc.array(tie('term'), { minLength: 1, maxLength: 4 }).map((terms) => terms.join('')) },
    { weight: 1, arbitrary: fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `${a}|${b}`) },
  ),
  term: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 8, arbitrary: atom },
    { weight: 3, arbitrary: fc.tuple(atom, times).map(([a, b]) => a + b) },
    {
      weight: 2,
      arbitrary: fc.tuple(pick('(', '(?:', '(?i:', '(?-i:', '(?P<n>'), tie('pattern'), fc.oneof(fc.constant(''), times)).map(([a, b, c]) => `${a}${b})${c}`),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(pick('(?=', '(?!', '(?<=', '(?<!'), fc.array(atom, { minLength: 1, maxLength: 2 })).map(([a, b]) => `${a}${b.join('')})`),
    },
    { weight: 1, arbitrary: tie('pattern').map((inner) => `(${inner})\\1`) },
  ),
}));

const RUNS = Number(process.env['PATTERN_RUNS'] ?? 120);

describe('patterns mean the same with and without ripgrep', () => {
  test(`${RUNS} patterns at random`, { timeout: 100_000 }, async () => {
    const counts = { ok: 0, found: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(pattern, fc.boolean(), async (text, ignoreCase) => {
        const [fast, slow] = await both({ pattern: text, ignoreCase });
        if (slow?.error?.code === 'UNAVAILABLE' || slow?.error?.code === 'TIMEOUT') {
          counts.refused += 1;
          return;
        }
        expect(slow).toEqual(fast);
        counts.ok += 1;
        if (fast?.status === 'ok' && fast.content !== 'No matches found') counts.found += 1;
      }),
      { numRuns: RUNS },
    );
    console.log(counts);
  });
});
