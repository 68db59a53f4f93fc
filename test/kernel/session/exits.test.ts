import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { capText, createExits, REDACTED } from '../../../kernel/session/exits.ts';

describe('redaction', () => {
  const { redact } = createExits(['sk-secret-value', 'short', 'sk-secret-value-longer'], [/tok_[a-z]{6}/g]);
  test('reaches every text of a value and changes nothing else', () => {
    const value = { a: 'x sk-secret-value y', list: ['tok_abcdef', 7, null], same: { deep: 'clean short' } };
    expect(redact(value)).toEqual({ a: `x ${REDACTED} y`, list: [REDACTED, 7, null], same: { deep: 'clean short' } });
    const clean = { text: 'nothing here' };
    expect(redact(clean)).toBe(clean);
  });
  test('replaces the longer secret first', () => expect(redact('sk-secret-value-longer')).toBe(REDACTED));
  test('without secrets costs nothing', () => expect(createExits([]).redact('any')).toBe('any'));
  test('that fails lets nothing pass', () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    expect(redact(circular)).toMatch(/^\[left out: redaction failed/);
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
