/** However a reply comes over the wire, it comes to the same. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chatWire } from '../../../plugins/providers/chat/wire.ts';
import { responsesWire } from '../../../plugins/providers/responses/wire.ts';
import type { Wire } from '../../../plugins/providers/wire.ts';
import { cut, merged, type Recording, recordings } from './recordings.ts';
import { streamOf } from './replies.ts';

const ALL = recordings();
/** Bytes up to which a body is also read byte by byte. */
const SMALL = 16_384;
/** Bodies that are JSON or a page have no lines that could be framed otherwise. */
const isStream = (body: Buffer): boolean => !/^[\s\uFEFF]*[[{<]/.test(body.subarray(0, 100).toString());
const text = (body: Buffer): string => body.toString().replace(/\r\n|\r/g, '\n');
const named = (list: readonly Recording[]): [string, Recording][] => list.map((recording) => [recording.name, recording]);

const randomCuts = (wire: Wire, body: Uint8Array, runs: number): void => {
  const whole = merged(wire, [body]);
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 0, max: body.length }), { maxLength: 40 }), (offsets) => {
      expect(
        merged(
          wire,
          cut(
            body,
            offsets.sort((one, other) => one - other),
          ),
        ),
      ).toEqual(whole);
    }),
    { numRuns: runs },
  );
};
const bytesOf = function* (body: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < body.length; at++) yield body.subarray(at, at + 1);
};

describe.skipIf(ALL.length === 0)('recorded streams (skipped where the recordings are not at hand)', () => {
  test.each(named(ALL))('%s: the cuts between reads change nothing', (_name, { wire, body }) => {
    randomCuts(wire, body, body.length > 200_000 ? 2 : 6);
    if (body.length <= SMALL) expect(merged(wire, bytesOf(body))).toEqual(merged(wire, [body]));
  });

  const streams = ALL.filter(({ body }) => isStream(body));
  test.each(named(streams))('%s: the ends of lines, comments and a closing blank line change nothing', (_name, { wire, body }) => {
    const plain = text(body);
    const whole = merged(wire, [Buffer.from(plain)]);
    const forms: Readonly<Record<string, string>> = {
      crlf: plain.replaceAll('\n', '\r\n'),
      cr: plain.replaceAll('\n', '\r'),
      comments: plain.replaceAll('\n', '\n: keep-alive\n'),
      'no blank line at the end': plain.trimEnd(),
      'a byte order mark': `\uFEFF${plain}`,
    };
    for (const [form, changed] of Object.entries(forms)) expect(merged(wire, [Buffer.from(changed)]), form).toEqual(whole);
  });

  const ended = streams.filter(({ expected }) => !expected.error && !expected.truncated && expected.finishReason !== null);
  test.each(named(ended))('%s: needs no [DONE]', (_name, { wire, body }) => {
    const plain = text(body);
    expect(merged(wire, [Buffer.from(plain.replace(/data: ?\[DONE\]\s*$/, ''))])).toEqual(merged(wire, [Buffer.from(plain)]));
  });
});

describe('a line of two megabytes', () => {
  const long = 'ab\u00e4\u{1f600}"\\ '.repeat(200_000);
  test.each<[string, Wire, readonly unknown[]]>([
    ['chat text', chatWire, [{ choices: [{ index: 0, delta: { content: long }, finish_reason: 'stop' }] }]],
    [
      'responses text',
      responsesWire,
      [
        { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: long },
        { type: 'response.completed', response: { object: 'response', status: 'completed', output: [] } },
      ],
    ],
    [
      'responses arguments',
      responsesWire,
      [
        { type: 'response.output_item.added', output_index: 0, item: { type: 'function_call', call_id: 'a', name: 'write', arguments: '' } },
        { type: 'response.function_call_arguments.done', output_index: 0, arguments: JSON.stringify({ content: long }) },
        { type: 'response.completed', response: { object: 'response', status: 'completed', output: [] } },
      ],
    ],
  ])('%s', (_name, wire, events) => {
    const body = streamOf(events);
    expect(body.length).toBeGreaterThan(2_000_000);
    expect(JSON.stringify(merged(wire, [body])).length).toBeGreaterThan(2_000_000);
    randomCuts(wire, body, 3);
  });
});

test('a whole completion comes to the same as a stream of the same turn', () => {
  const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
  const calls = ['A', 'B'].map((id) => ({ id, type: 'function', function: { name: 'add', arguments: `{"of":"${id}"}` } }));
  const message = { role: 'assistant', reasoning_content: 'why \u{1f600}', content: 'I look.', tool_calls: calls };
  const completion = { object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage };
  const chunk = (delta: object) => ({ choices: [{ index: 0, delta, finish_reason: null }] });
  const pieces = (name: string, value: string) => [...value].map((piece) => chunk({ [name]: piece }));
  const stream = [
    ...pieces('reasoning_content', message.reasoning_content),
    ...pieces('content', message.content),
    ...calls.flatMap(({ id, function: { name, arguments: text } }, index) => [
      chunk({ tool_calls: [{ index, id, function: { name, arguments: '' } }] }),
      ...[...text].map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
    { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
    { choices: [], usage },
    '[DONE]',
  ];
  const whole = merged(chatWire, [Buffer.from(JSON.stringify(completion))]);
  expect(whole).toHaveLength(7);
  expect(merged(chatWire, [streamOf(stream)])).toEqual(whole);
});
