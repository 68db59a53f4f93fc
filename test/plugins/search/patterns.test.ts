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
  'foobar grin',
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

/** More for a longer look: `PATTERN_RUNS=2000`. */
const RUNS = Number(process.env['PATTERN_RUNS'] ?? 120);

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

/** What people and models write. */
const WRITTEN: readonly string[] = [
  'function f\\(\\) {',
  '(?i)foo bar',
  'fo(?i:O) b',
  'foo(?i)BAR|BAZ',
  '(?s)foo.',
  '(?m)^foo$',
  '\\bfoo\\b',
  '\\Bo',
  'größe',
  '\\bGrö',
  '\\w+ß',
  '\\d\\d\\d',
  '[[:upper:]][[:lower:]]+',
  '[^[:ascii:]]',
  'nbsp\\shere',
  '\\p{Greek}+',
  '\\p{Script=Cyrillic}',
  '\\pN',
  '^$',
  '^\\s*$',
  '\\r$',
  'foo\\r?$',
  '[\\r\\n]bar',
  'foo(?=bar)',
  '(?<=snake_)case',
  '(?<!foo)bar',
  '^(?!.*foo)',
  '(.)\\1\\1',
  '(?P<l>.)(?P=l)',
  'a++b',
  'a{,2}b',
  '"quoted"|\\"it',
  'a\\.b|a-b',
  '\\{ \\} \\[',
  '[]]',
  '[^]a-z]',
  '[a-c1-3]{2,}',
  '(?:foo|bar)+',
  '(foo|bar)*$',
  'x*',
  '.{290,}',
  '\\x66oo',
  '\\u{1F44D}',
  '.👍.',
  'y.z',
  'gr.n',
  'gr[^a]n',
  '\\W{3,}',
];
/** With ripgrep an answer; without it said to be impossible, never another answer. */
const FOREIGN: readonly string[] = [
  '(?>fo)o',
  '\\Kfoo',
  'foo\\Kbar',
  '(?x) foo  bar',
  '\\hbar',
  '\\Qfoo\\E',
  '(?-u:\\xe9)',
  '[a-z&&[^o]]b',
  '(a)?b\\1',
  '\\R',
  '(?|a|b)ar',
  '\\p{^Greek}',
  '\\p{Cs}|foo',
];

describe('patterns mean the same with and without ripgrep', () => {
  test.each(WRITTEN)('%j', async (text) => {
    for (const ignoreCase of [false, true]) {
      const [fast, slow] = await both({ pattern: text, ignoreCase });
      expect(fast?.status).toBe('ok');
      expect(slow).toEqual(fast);
      // Each of them is found somewhere, so that two empty answers are no success.
      if (ignoreCase) expect(fast?.content).not.toMatch(/^No matches/);
    }
  });

  test.each(['a.b', '(x) $1 [y]', '^foo', '\\d', '{ } [ ] ( ) | ^ $ . * + ? \\ /', '\r', 'ÄRGER', 'straße'])('the plain text %j', async (text) => {
    for (const ignoreCase of [false, true]) {
      const [fast, slow] = await both({ pattern: text, literal: true, ignoreCase });
      expect(slow).toEqual(fast);
    }
  });

  test.each(FOREIGN)('%j is for ripgrep alone, which is said', async (text) => {
    const [fast, slow] = await both({ pattern: text });
    expect(fast?.status).toBe('ok');
    expect(slow).toMatchObject({ status: 'error', error: { code: 'UNAVAILABLE', retryable: false } });
    expect(slow?.content).toContain('ripgrep');
  });

  test.each([
    '(',
    ')',
    '[',
    'a)',
    '*a',
    '+',
    '{2}',
    'a|*',
    '[z-a]',
    'a{2,1}',
    '\\',
    '[[:nope:]]',
    '(?<n>a)(?<n>b)',
    '(?<=a+)b',
    '\\x{110000}',
    'a\0b',
    'a\\x00b',
    '[\\x00]',
    'a\udc80',
    '[\ud800]',
    'x'.repeat(140_000),
    '\\b(?=a)'.repeat(1000),
    `${'('.repeat(200)}a${')'.repeat(200)}`,
  ])('%j is wrong for both, in the same words', async (text) => {
    const [fast, slow] = await both({ pattern: text });
    expect(fast).toMatchObject({
      status: 'error',
      error: { code: 'INVALID_ARGUMENT' },
      content: expect.stringMatching(/^The pattern is not a valid regular expression: \S/) as string,
    });
    expect(slow).toEqual(fast);
  });

  test.each(['a\0b', 'a\udc80', '\udc80', 'x'.repeat(140_000)])('the plain text %j is refused by both', async (text) => {
    const [fast, slow] = await both({ pattern: text, literal: true });
    expect(fast).toMatchObject({ status: 'error', error: { code: 'INVALID_ARGUMENT' } });
    expect(slow).toEqual(fast);
  });

  test.each([
    '.{0,100000}x',
    '\\w{100000}',
    'a{4294967296}',
    'a{99999999999999999999}',
    '(?:a{1000}){1000}',
    '(?:(?:\\w{100}){100}){0}',
    '[^\\W\\d]{1000}',
    '(?=a)b{65536}',
    '(?=x).{0,2000}',
    '(?<=a{256})b',
    '(?<=a|b{0,300})b',
    `a${'*'.repeat(300)}`,
    `${'(a|b'.repeat(90)}${')'.repeat(90)}`,
  ])('%j is too large for both, in the same words', async (text) => {
    const [fast, slow] = await both({ pattern: text });
    expect(fast).toMatchObject({ status: 'error', error: { code: 'INVALID_ARGUMENT' } });
    expect(fast?.content).toMatch(/too large|longer than|nested|follow each other/);
    expect(slow).toEqual(fast);
  });

  test.each([
    'a{100000}',
    '.{0,20000}o',
    '\\w{0,500}o',
    '[^a]{0,10000}o',
    '(?=.{0,300}o)f',
    '(?<!a{200})o',
    '(?:foo|bar|\\w+){1,100}',
    `${'('.repeat(34)}foo${')'.repeat(34)}`,
    `${'(a|b*?c'.repeat(33)}${')'.repeat(33)}|o`,
  ])('%j is not too large for either', async (text) => {
    const [fast, slow] = await both({ pattern: text });
    expect(fast?.status).toBe('ok');
    expect(slow).toEqual(fast);
  });

  test.each([
    '[a-\\d]',
    '[\\d-z]',
    '[\\w-.]',
    '[a-[:alpha:]]',
    '\\p{}',
    '\\p{Nope}',
    '\\p',
    '[\\B]',
    '[\\A]',
    '\\y',
    '[\\q]',
    '\\é',
    '\\0',
    '\\x4',
    '\\u{}',
    '\\2(a)',
    '(a)\\2',
    '\\k<nope>',
    '(?P=nope)',
    '(?P<1a>b)',
    '(?<>a)',
    '(?ii)a',
    '(?i-i:a)',
    '(?-)a',
    '(?q)a',
    '(?',
    '(?<',
    '(?>a',
    '\\K(',
    '(?x)[',
    '[a&&',
    '[a[b]',
    '[a&&[b]',
    '\\hfoo)',
    '(a)?b\\1\\2',
    '(?=\\Ka)',
    '(?<=\\Ra)',
    '(?<=\\1)(a)',
    '(?(1)a|b)',
    '\\b{foo}',
    '(\\b*)\\Ka',
  ])('%j is wrong for both', async (text) => {
    const [fast, slow] = await both({ pattern: text });
    expect(fast).toMatchObject({ status: 'error', error: { code: 'INVALID_ARGUMENT' } });
    expect(slow).toEqual(fast);
  });

  const change = fc.tuple(
    fc.nat(60),
    fc.nat(2),
    pick(
      ...'()[]{}|*+?^$.\\-:=!<>&~,#iuxPpkdwbBKQER01 \ufffd',
      '(?',
      '[^',
      '[[:',
      '\\p{',
      '{2',
      '-\\d',
      '&&',
      '(?<n>',
      '\\1',
      '\\2',
      '(?-u:',
      '{70000}',
      '(?<=',
    ),
  );
  const mutant = fc
    .tuple(fc.oneof(pattern, pick(...WRITTEN), pick(...FOREIGN)), fc.array(change, { minLength: 1, maxLength: 4 }))
    .map(([text, changes]) =>
      changes.reduce((now, [at, removed, put]) => now.slice(0, at % (now.length + 1)) + put + now.slice((at % (now.length + 1)) + removed), text),
    );

  test(`${RUNS} patterns with slips at random are right or wrong for both`, { timeout: 100_000 }, async () => {
    const answers = { wrong: 0, right: 0 };
    await fc.assert(
      fc.asyncProperty(mutant, fc.boolean(), async (text, ignoreCase) => {
        fc.pre(text !== '');
        const [fast, slow] = await both({ pattern: text, ignoreCase });
        if (slow?.error?.code === 'UNAVAILABLE' || slow?.error?.code === 'TIMEOUT') {
          expect(fast?.error?.code).not.toBe('INVALID_ARGUMENT');
          return;
        }
        expect(slow).toEqual(fast);
        answers[slow?.status === 'ok' ? 'right' : 'wrong'] += 1;
      }),
      { numRuns: RUNS },
    );
    expect(answers.wrong).toBeGreaterThan(RUNS / 5);
    expect(answers.right).toBeGreaterThan(RUNS / 10);
  });

  test(`${RUNS} patterns at random`, { timeout: 100_000 }, async () => {
    const answers = { same: 0, found: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(pattern, fc.boolean(), async (text, ignoreCase) => {
        const [fast, slow] = await both({ pattern: text, ignoreCase });
        // Said, not silently different.
        if (slow?.error?.code === 'UNAVAILABLE' || slow?.error?.code === 'TIMEOUT') {
          answers.refused += 1;
          return;
        }
        expect(slow).toEqual(fast);
        answers.same += 1;
        if (fast?.status === 'ok' && fast.content !== 'No matches found') answers.found += 1;
      }),
      { numRuns: RUNS },
    );
    expect(answers.same).toBeGreaterThan(RUNS / 2);
    expect(answers.found).toBeGreaterThan(RUNS / 5);
  });
});
