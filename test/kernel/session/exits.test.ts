import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { capText, createExits, createStreamRedactor, REDACTED } from '../../../kernel/session/exits.ts';

const exitsFor = (...secrets: readonly string[]) => createExits([new Set(secrets)]);

describe('redaction', () => {
  const { redact } = createExits([new Set(['sk-secret-value', 'short', 'sk-secret-value-longer'])], [/tok_[a-z]{6}/]);
  test('reaches every text of a value and changes nothing else', () => {
    const value = { a: 'x sk-secret-value y', list: ['tok_abcdef tok_ghijkl', 7, null], same: { deep: 'clean short' }, 'sk-secret-value': 1 };
    expect(redact(value)).toEqual({ a: `x ${REDACTED} y`, list: [`${REDACTED} ${REDACTED}`, 7, null], same: { deep: 'clean short' }, [REDACTED]: 1 });
    const clean = { text: 'nothing here', at: new Date(0), bytes: Buffer.from('x') };
    expect(redact(clean)).toBe(clean);
  });
  test('knows a secret without the white space around it, and in base64', () => {
    const exits = exitsFor(' sk-secret-value\n');
    const encoded = (text: string) => Buffer.from(text).toString('base64');
    expect(exits.redact('a sk-secret-value b')).toBe(`a ${REDACTED} b`);
    expect(exits.redact(encoded('sk-secret-value'))).toBe(REDACTED);
    expect(exits.redact(encoded('sk-secret-value:x'))).toMatch(/^\[redacted\].{0,4}$/);
  });
  test('replaces the longer secret first', () => expect(redact('sk-secret-value-longer')).toBe(REDACTED));
  test('knows a secret from the moment it is got', () => {
    const got = new Set<string>(['saved-secret-0']);
    const exits = createExits([got]);
    expect(exits.redact('saved-secret-0 saved-secret-1')).toBe(`${REDACTED} saved-secret-1`);
    got.add('saved-secret-1');
    expect(exits.redact('key saved-secret-1')).toBe(`key ${REDACTED}`);
  });
  test('sees what an object makes of itself when it is written', () => {
    const url = new URL('https://host/?key=sk-secret-value');
    expect(JSON.stringify(redact({ url }))).toBe(`{"url":"https://host/?key=${REDACTED}"}`);
  });
  test('looks into an object that gives itself for writing', () => {
    const odd = {
      key: 'sk-secret-value',
      toJSON() {
        return this;
      },
    };
    expect(redact({ odd })).toMatchObject({ odd: { key: REDACTED } });
  });
  test('that fails costs only the text at hand', () => {
    const details = {
      before: 'kept',
      get broken(): string {
        throw new Error('sk-secret-value');
      },
      toolong: {
        toJSON: () => {
          throw new Error('no');
        },
      },
    };
    expect(redact({ content: 'kept', details })).toEqual({
      content: 'kept',
      details: { before: 'kept', broken: '[left out: redaction failed]', toolong: '[left out: redaction failed]' },
    });
  });
  test.each([
    [
      'cyclic',
      () => {
        const ring: Record<string, unknown> = { name: 'ring' };
        ring['self'] = ring;
        return ring;
      },
      { name: 'ring', self: '[circular]' },
    ],
    ['a big integer', () => ({ n: 10n }), { n: '10' }],
  ])('makes JSON of what is %s', (_, make, expected) => {
    const sealed = exitsFor().redact({ content: 'kept', details: make() });
    expect(JSON.parse(JSON.stringify(sealed))).toEqual({ content: 'kept', details: expected });
  });
  test('leaves out what is too deep or too wide, and keeps the rest', () => {
    let deep: object = {};
    for (let i = 0; i < 100_000; i++) deep = { deep };
    const { redact: plain } = exitsFor();
    const sealed = plain({ content: 'kept', deep, wide: Array.from({ length: 60_000 }, () => 'x') });
    expect(JSON.stringify(sealed)).toContain('[left out: nested too deeply]');
    expect([sealed.content, sealed.wide.length, sealed.wide.at(-1)]).toEqual(['kept', 50_001, '[left out: 10000 more]']);
  });
  test('the same object twice is no circle', () => {
    const shared = { a: 'sk-secret-value' };
    expect(redact([shared, shared])).toEqual([{ a: REDACTED }, { a: REDACTED }]);
  });
});

describe('patterns of plugins', () => {
  test('count until they are disposed, and each use by itself', () => {
    const exits = exitsFor();
    const [one, two] = [exits.addPattern(/id-\d+/), exits.addPattern(/id-\d+/)];
    one[Symbol.dispose]();
    expect(exits.redact('id-7, id-8')).toBe(`${REDACTED}, ${REDACTED}`);
    two[Symbol.dispose]();
    expect(exits.redact('id-7')).toBe('id-7');
  });
  test('that match nothing at all are refused', () => expect(() => exitsFor().addPattern(/x*/)).toThrow(/matches the empty text/));
});

test('texts of an event are redacted and cut', () => {
  const { text, small } = exitsFor('sk-secret-value').event({ text: 'a'.repeat(2_000_000), small: 'sk-secret-value' });
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1_048_576);
  expect([text.includes('bytes left out'), small]).toEqual([true, REDACTED]);
});

describe('a stream', () => {
  const SECRETS = ['sk-secret-value', 'sk-secret-value-longer', 'value-of-another'];
  const through = (pieces: readonly string[]): string => {
    const stream = createStreamRedactor(exitsFor(...SECRETS));
    return pieces.map((piece) => stream.push(piece)).join('') + stream.end();
  };
  test('however it is cut shows what the whole would show', () => {
    const text = 'see sk-secret-value, sk-secret-value-longer; sk-secret-value-of-another s sk-secret-v';
    const whole = exitsFor(...SECRETS).redact(text);
    const cuts = fc.array(fc.integer({ min: 0, max: text.length }), { maxLength: 8 });
    fc.assert(
      fc.property(cuts, (places) => {
        const ends = [...places, text.length].sort((a, b) => a - b);
        expect(through(ends.map((end, i) => text.slice(ends[i - 1] ?? 0, end)))).toBe(whole);
      }),
      { numRuns: 500 },
    );
  });
  test('holds back only what may become a secret', () => {
    const stream = createStreamRedactor(exitsFor(...SECRETS));
    expect([stream.push('hello '), stream.push('sk-sec'), stream.push('tion'), stream.end()]).toEqual(['hello ', '', 'sk-section', '']);
  });
});

describe('a cap in bytes', () => {
  test('keeps both ends and says what is missing', () => {
    const text = `${'a'.repeat(500)}${'b'.repeat(500)}`;
    const capped = capText(text, 400);
    expect(Buffer.byteLength(capped)).toBeLessThanOrEqual(400);
    expect(capped).toMatch(/^a+\n\[… 700 bytes left out …\]\nb+$/);
  });
  test('never cuts a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 100, maxLength: 400 }), fc.integer({ min: 150, max: 300 }), (text, bytes) => {
        // The character itself may be part of the text.
        fc.pre(!text.includes('\ufffd'));
        const capped = capText(text, bytes);
        expect(Buffer.byteLength(capped)).toBeLessThanOrEqual(bytes);
        expect(capped).not.toContain('\ufffd');
      }),
      { numRuns: 200 },
    );
  });
});
