/** Files that no memory holds: only what is asked for is kept, nothing else waits meanwhile, and it can be given up. */
import { closeSync, openSync, truncateSync, writeSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countFeeds } from '../../../plugins/files/feeds.ts';
import { type Desk, openDesk } from './desk.ts';

const LINE = 'a line of a log file that has grown to a gigabyte, number ########\n';
const LINES = 16_000_000;

let desk: Desk;
beforeAll(() => {
  desk = openDesk();
  const file = openSync(desk.put('huge.log', ''), 'w');
  const block = Buffer.from(LINE.repeat(100_000));
  for (let written = 0; written < LINES; written += 100_000) writeSync(file, block);
  closeSync(file);
  // Nothing but one line that does not end.
  truncateSync(desk.put('hollow.log', 'text\n'.repeat(2000)), 1024 ** 4);
}, 60_000);
afterAll(() => desk.remove());

test('lines deep in a gigabyte are found, while everything else goes on and the memory stays', async () => {
  const before = process.memoryUsage().rss;
  let [ticks, most] = [0, 0];
  const timer = setInterval(() => {
    ticks += 1;
    most = Math.max(most, process.memoryUsage().rss - before);
  }, 5);
  const { content } = await desk.run('read', { path: 'huge.log', offset: LINES - 1, limit: 1 });
  clearInterval(timer);
  expect(content).toBe(`${LINES - 1}: ${LINE}(Lines ${LINES - 1}-${LINES - 1}. Go on with offset ${LINES}.)`);
  expect(ticks).toBeGreaterThan(20);
  expect(most).toBeLessThan(150 * 1024 ** 2);
});

test('an offset past the end is told with the number of lines', async () => {
  const { content } = await desk.run('read', { path: 'huge.log', offset: LINES + 1 });
  expect(content).toBe(`offset ${LINES + 1} is past the end: huge.log has ${LINES} lines.`);
});

test.each([
  ['lines', 'huge.log', LINES],
  ['a line without an end', 'hollow.log', 3000],
])('an abort ends looking through %s at once', async (_name, path, offset) => {
  const stop = new AbortController();
  const reading = desk.run('read', { path, offset }, { signal: stop.signal });
  await new Promise((resolve) => setTimeout(resolve, 50));
  const abortedAt = performance.now();
  stop.abort();
  expect((await reading).status).toBe('aborted');
  expect(performance.now() - abortedAt).toBeLessThan(1000);
});

test('a line without an end is cut to a page, without reading on', async () => {
  const { content } = await desk.run('read', { path: 'hollow.log', offset: 2001 });
  expect(Buffer.byteLength(content)).toBeLessThan(131_072 + 200);
  expect(content).toContain('(Line 2001 is longer than a page: only its beginning is shown.)');
});

test('line feeds are counted as one by one', () => {
  const bytes = fc.array(fc.constantFrom(0, 9, 10, 11, 138, 245, 255), { maxLength: 3000 });
  fc.assert(
    fc.property(bytes, fc.nat({ max: 7 }), (values, start) => {
      const part = Uint8Array.from(values).subarray(start);
      expect(countFeeds(part)).toBe(part.filter((byte) => byte === 10).length);
    }),
    { numRuns: 500 },
  );
  expect(countFeeds(new Uint8Array(1_000_003).fill(10))).toBe(1_000_003);
});

test.each([1, 2, 3, 1999, 2000, 2001, 130_000, 239_999, 240_000])('line %i is the same wherever the pieces of a file end', async (offset) => {
  const line = (number: number): string => `${number} ${'ü'.repeat(number % 37)}`;
  desk.put('part.log', Array.from({ length: 240_000 }, (_, index) => line(index + 1)).join('\n'));
  const { content } = await desk.run('read', { path: 'part.log', offset, limit: 1 });
  expect(content.split('\n')[0]).toBe(`${offset}: ${line(offset)}`);
  expect((await desk.run('read', { path: 'part.log', offset: 240_001 })).content).toContain('part.log has 240000 lines');
});
