/** Patterns that match at the end of a line, or nothing at all: where ripgrep says least, both engines say the same. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Desk, ENGINES, openDesk } from './desk.ts';

let desk: Desk;
beforeAll(() => {
  desk = openDesk();
});
afterAll(() => desk.remove());

const LINES = ['', 'hit', 'miss', 'hit ', '\r', 'hit\r', 'miss\r', 'hit\r\r', 'a\vb', '\u2028', 'hit\rmiss', ' hit\r'];
const LONG = 'x'.repeat(600);
const LONG_TEXTS = [
  LONG,
  `${LONG}\n`,
  `${LONG}\r`,
  `${LONG}\r\n`,
  `${LONG}\r\r\n`,
  `${LONG}\n${LONG}`,
  `${LONG}\r\n${LONG}\r`,
  `\ufeff${LONG}`,
  '👍'.repeat(300),
  `1-${LONG}`,
];
const turned = (by: number): string => [...LINES.slice(by), ...LINES.slice(0, by)].join('\n');

const same = async (text: string, input: { readonly pattern: string; readonly limit: number; readonly context: number }): Promise<void> => {
  desk.put('t/a', Buffer.from(text));
  const [fast, slow] = await Promise.all(ENGINES.map((engine) => desk.run(engine, 'grep', { ...input, path: 't' })));
  expect(slow, JSON.stringify([text, input])).toEqual(fast);
};

test.each(['^$', 'hit$', '$', '\\s$', '[^a-z]$', '^\\s*$', 'hit|^$'])('%s among lines of many ends', { timeout: 60_000 }, async (pattern) => {
  for (let by = 0; by < LINES.length; by += 2) for (const limit of [1, 2, 5]) await same(turned(by), { pattern, limit, context: 3 });
});

test.each(['a?$', '$', '(?:a|$)', '^|$', 'x{0,3}$', '\\b$', '\\r?$', '.$', '\\s'])('%s in long lines', { timeout: 60_000 }, async (pattern) => {
  for (const text of LONG_TEXTS) for (const context of [0, 1]) await same(text, { pattern, limit: 1, context });
});
