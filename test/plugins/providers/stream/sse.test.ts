import { describe, expect, test } from 'vitest';
import { type SseEvent, SseReader } from '../../../../plugins/providers/stream/sse.ts';

const read = (...pieces: readonly (string | Uint8Array)[]): SseEvent[] => {
  const reader = new SseReader();
  return [...pieces.flatMap((piece) => [...reader.push(typeof piece === 'string' ? Buffer.from(piece) : piece)]), ...reader.end()];
};
const data = (...pieces: readonly (string | Uint8Array)[]): string[] => read(...pieces).map((event) => event.data);

describe('framing', () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ['LF', ['data: a\n\ndata: b\n\n'], ['a', 'b']],
    ['CRLF', ['data: a\r\n\r\ndata: b\r\n\r\n'], ['a', 'b']],
    ['CR', ['data: a\r\rdata: b\r\r'], ['a', 'b']],
    ['CRLF cut in two', ['data: a\r', '\n\r', '\ndata: b\r\n', '\r\n'], ['a', 'b']],
    ['CRLF cut in two within an event', ['data: a\r', '\ndata: b\r\n\r\n'], ['a\nb']],
    ['a byte order mark', ['\uFEFFdata: a\n\n'], ['a']],
    ['comments', [': hi\n\n: there\ndata: a\n: mid\n\n'], ['a']],
    ['no space', ['data:a\n\n'], ['a']],
    ['only the first space goes', ['data:  a\n\n'], [' a']],
    ['several data lines', ['data: a\ndata: b\n\n'], ['a\nb']],
    ['an empty data line', ['data\ndata: b\n\n'], ['\nb']],
    ['no blank line at the end', ['data: a'], ['a']],
    ['no blank lines between events', ['data: {"a":1}\ndata: {"a":2}\ndata: [DONE]\n'], ['{"a":1}', '{"a":2}', '[DONE]']],
    ['JSON over several lines', ['data: {\ndata: "a":1\ndata: }\n\n'], ['{\n"a":1\n}']],
    ['other fields', ['id: 1\nretry: 5\ndata: a\nfoo\n\n'], ['a']],
    ['blank lines before the first event', ['\n\n', '\ndata: a\n\n'], ['a']],
    ['nothing', [''], []],
  ])('%s', (_name, pieces, expected) => {
    expect(data(...pieces)).toEqual(expected);
  });

  test('the name of an event may stand before or behind its data', () => {
    expect(read('event: x\ndata: 1\n\ndata: 2\nevent: y\n\ndata: 3\n\n').map(({ event }) => event)).toEqual(['x', 'y', '']);
  });

  test('characters cut in the middle', () => {
    const bytes = Buffer.from('data: 40°😀\n\n');
    expect(data(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(['40°😀']);
  });
});

describe('bodies that are no event stream', () => {
  test.each(['{"a":1}', '[{"a":1}]', '<html></html>', '\n {"a":\n1}'])('%s comes as a whole', (body) => {
    expect(read(body.slice(0, 4), body.slice(4))).toEqual([{ event: '', data: body, whole: true }]);
  });
});

describe('size and speed', () => {
  test('a line of 2 MB', () => {
    const long = 'x'.repeat(2_000_000);
    const bytes = Buffer.from(`data: ${long}\n\n`);
    const pieces = Array.from({ length: Math.ceil(bytes.length / 1000) }, (_, index) => bytes.subarray(index * 1000, index * 1000 + 1000));
    expect(data(...pieces)[0]?.length).toBe(2_000_000);
  });

  test('an event without end is refused', () => {
    const reader = new SseReader();
    const megabyte = Buffer.alloc(1024 * 1024, 120);
    const pushAll = () => {
      for (let i = 0; i < 40; i++) for (const event of reader.push(i === 0 ? Buffer.from('data: ') : megabyte)) throw new Error(event.data);
    };
    expect(pushAll).toThrow(/more than \d+ characters/);
  });

  test('an event of more lines than there may be is refused', () => {
    const reader = new SseReader();
    const lines = Buffer.from(`data: ${'x'.repeat(1000)}\n`.repeat(1000));
    const pushAll = () => {
      for (let i = 0; i < 40; i++) for (const event of reader.push(lines)) throw new Error(event.data);
    };
    expect(pushAll).toThrow(/more than \d+ characters/);
  });

  test('an event of very many lines is read once, not with each of them', () => {
    const reader = new SseReader();
    const started = performance.now();
    reader.push(Buffer.from(`data: [0\n${'data: ,{"a":1}\n'.repeat(10_000)}`));
    expect(reader.push(Buffer.from('data: ]\n\n'))[0]?.data.length).toBe(2 + 10_000 * 9 + 2);
    expect(performance.now() - started).toBeLessThan(500);
  });

  test('a reply without end is refused', () => {
    const reader = new SseReader();
    const comment = Buffer.from(`:${' '.repeat(1024 * 1024)}\n`);
    const pushAll = () => {
      for (let i = 0; i < 257; i++) reader.push(comment);
    };
    expect(pushAll).toThrow(/more than \d+ bytes/);
  });

  test('20,000 events in a moment', () => {
    const bytes = Buffer.from(`data: {"choices":[{"index":0,"delta":{"content":"word "}}]}\n\n`.repeat(20_000));
    let count = 0;
    const started = performance.now();
    const reader = new SseReader();
    for (let at = 0; at < bytes.length; at += 65_536) for (const event of reader.push(bytes.subarray(at, at + 65_536))) count += event.data.length > 0 ? 1 : 0;
    expect(count).toBe(20_000);
    // A few milliseconds; the bound is wide for a busy machine.
    expect(performance.now() - started).toBeLessThan(500);
  });

  test('what stands before an event without end is given out', () => {
    const reader = new SseReader();
    const endless = Buffer.concat([Buffer.from('data: 1\n\ndata: '), Buffer.alloc(33 * 1024 * 1024, 120)]);
    expect(reader.push(endless)).toEqual([{ event: '', data: '1' }]);
    expect(() => reader.push(Buffer.from('x'))).toThrow(/more than \d+ characters/);
  });
});
