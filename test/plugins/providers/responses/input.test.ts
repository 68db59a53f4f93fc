import { describe, expect, test } from 'vitest';
import type { Block, Message } from '../../../../kernel/index.ts';
import { chatBody } from '../../../../plugins/providers/chat/request.ts';
import { NO_QUIRKS, type Quirks } from '../../../../plugins/providers/quirks.ts';
import { inputItems } from '../../../../plugins/providers/responses/input.ts';
import { request, user, traits } from '../replies.ts';

const text = (value: string): Block => ({ type: 'text', text: value });
const call = (id: string, tool = 'read', args = '{}'): Block => ({ type: 'call', id, tool, arguments: args });
const assistant = (...blocks: readonly Block[]): Message => ({ role: 'assistant', origin: 'model', blocks });
const results = (...blocks: readonly Block[]): Message => ({ role: 'tool', origin: 'kernel', blocks });
const result = (id: string, content = `result of ${id}`): Block => ({ type: 'result', id, tool: 'read', content, status: 'ok' });
const image: Block = { type: 'image', image: { mediaType: 'image/png', data: 'AAAA' } };
const kept = (slots: readonly object[], more: object = {}, provider = 'p'): Block => ({
  type: 'item',
  provider,
  data: { api: 'responses', model: 'a-model', slots, ...more },
});
const thought = (id: string, more: object = {}) => ({ type: 'reasoning', item: { type: 'reasoning', id, summary: [], ...more } });

type Item = Readonly<Record<string, unknown>> & { readonly call_id?: string; readonly id?: string };
/** As they go over the wire, without the types of the package. */
const input = (messages: readonly Message[], quirks: Quirks = NO_QUIRKS): readonly Item[] =>
  JSON.parse(JSON.stringify(inputItems(request({ messages }), traits({ quirks }))));
/** Each item as one word. */
const order = (items: readonly Item[]): unknown[] => items.map((item) => item.id ?? item.call_id ?? item['role']);

describe('items', () => {
  test('the same history gives the same bytes, and a longer one begins with them', () => {
    const history = [
      user('a'),
      assistant(text('b'), call('0'), kept([thought('rs_1'), { type: 'message' }, { type: 'call' }])),
      results(result('0')),
      assistant(text('c'), call('0')),
      results(result('0')),
    ];
    const short = JSON.stringify(input(history.slice(0, 3))).slice(0, -1);
    expect(JSON.stringify(input(history)).startsWith(short)).toBe(true);
  });

  test('texts and images of the user', () => {
    expect(input([{ role: 'user', origin: 'user', blocks: [text('look'), image] }, user('')])).toMatchInlineSnapshot(`
      [
        {
          "content": [
            {
              "text": "look",
              "type": "input_text",
            },
            {
              "detail": "auto",
              "image_url": "data:image/png;base64,AAAA",
              "type": "input_image",
            },
          ],
          "role": "user",
          "type": "message",
        },
      ]
    `);
  });

  test('a reply, a call and its output', () => {
    expect(input([assistant(text('I look.'), call('A', 'read', '{"path": "a"}')), results(result('A'))])).toMatchInlineSnapshot(`
      [
        {
          "content": [
            {
              "annotations": [],
              "text": "I look.",
              "type": "output_text",
            },
          ],
          "role": "assistant",
          "type": "message",
        },
        {
          "arguments": "{"path": "a"}",
          "call_id": "A",
          "name": "read",
          "type": "function_call",
        },
        {
          "call_id": "A",
          "output": "result of A",
          "type": "function_call_output",
        },
      ]
    `);
  });

  test('reasoning without summary, encrypted, and with content', () => {
    const slots = [
      thought('rs_1'),
      thought('rs_2', { summary: [{ type: 'summary_text', text: 'why' }], encrypted_content: 'gAAA' }),
      thought('rs_3', { content: [{ type: 'reasoning_text', text: 'because' }] }),
      { type: 'message', id: 'msg_1', phase: 'final_answer', chars: 4 },
    ];
    expect(input([assistant(text('done'), kept(slots))])).toMatchInlineSnapshot(`
      [
        {
          "id": "rs_1",
          "summary": [],
          "type": "reasoning",
        },
        {
          "encrypted_content": "gAAA",
          "id": "rs_2",
          "summary": [
            {
              "text": "why",
              "type": "summary_text",
            },
          ],
          "type": "reasoning",
        },
        {
          "content": [
            {
              "text": "because",
              "type": "reasoning_text",
            },
          ],
          "id": "rs_3",
          "summary": [],
          "type": "reasoning",
        },
        {
          "content": [
            {
              "annotations": [],
              "text": "done",
              "type": "output_text",
            },
          ],
          "id": "msg_1",
          "phase": "final_answer",
          "role": "assistant",
          "status": "completed",
          "type": "message",
        },
      ]
    `);
  });

  test('ids of calls go back, and keep the order', () => {
    const slots = [thought('rs_1'), { type: 'call', id: 'fc_1' }, thought('rs_2'), { type: 'message', chars: 2 }, { type: 'call', id: 'fc_2' }];
    const items = input([assistant(text('hm'), call('A'), call('B'), kept(slots)), results(result('B'), result('A'))]);
    expect(order(items)).toEqual(['rs_1', 'fc_1', 'rs_2', 'assistant', 'fc_2', 'A', 'B']);
    expect(items[1]).toMatchObject({ type: 'function_call', call_id: 'A' });
  });

  test('a text is cut as it came; one that was changed stays whole', () => {
    const slots = [{ type: 'message', id: 'm1', phase: 'commentary', chars: 3 }, { type: 'call' }, { type: 'message', id: 'm2', chars: 5 }];
    const texts = (said: string) =>
      input([assistant(text(said), call('A'), kept(slots)), results(result('A'))])
        .filter((item) => item['type'] === 'message')
        .map((item) => [item.id, (item['content'] as { text: string }[])[0]?.text]);
    expect(texts('one\n\ntwo')).toEqual([
      ['m1', 'one'],
      ['m2', 'two'],
    ]);
    expect(texts('something else')).toEqual([['m2', 'something else']]);
    expect(texts('')).toEqual([]);
  });

  test.each<[string, readonly object[]]>([
    ['more calls than places', [{ type: 'call', id: 'fc_1' }]],
    ['more places than calls', [{ type: 'call', id: 'fc_1' }, { type: 'call', id: 'fc_2' }, { type: 'call', id: 'fc_3' }, { type: 'message' }]],
    ['things that are no place', [{ type: 'x' }, 5 as never, { type: 'reasoning' }, { type: 'reasoning', item: {} }]],
  ])('a history that is not as it was: %s', (_name, slots) => {
    const items = input([assistant(call('A'), call('B'), kept(slots)), results(result('A'), result('B'))]);
    expect(items.map((item) => item.call_id)).toEqual(['A', 'B', 'A', 'B']);
  });

  test('a text without a place stands behind the reasoning and before the calls', () => {
    const items = input([assistant(text('x'), call('A'), kept([thought('rs_1'), { type: 'call', id: 'fc_1' }])), results(result('A'))]);
    expect(order(items)).toEqual(['rs_1', 'assistant', 'fc_1', 'A']);
  });

  test('raw text goes back to the model, not the visible one', () => {
    expect(input([{ ...assistant(text('seen')), raw: '<x>seen</x>' }])[0]).toMatchObject({ content: [{ text: '<x>seen</x>' }] });
  });

  test('a reply with nothing in it', () => {
    for (const blocks of [[], [{ type: 'reasoning', text: 'hm' } as const], [kept([thought('rs_1')])]])
      expect(input([assistant(...blocks)]).at(-1)).toMatchObject({ role: 'assistant', content: [{ type: 'output_text', text: '(no response)' }] });
  });

  test('images of results follow all outputs', () => {
    const items = input([assistant(call('A'), call('B')), results(result('A'), image), results(result('B'))]);
    expect(items.map((item) => item['type'])).toEqual(['function_call', 'function_call', 'function_call_output', 'function_call_output', 'message']);
    expect(items[4]).toMatchObject({ role: 'user', content: [{ type: 'input_text' }, { type: 'input_image', image_url: 'data:image/png;base64,AAAA' }] });
  });
});

describe('what a reply left goes back to where it came from', () => {
  const slots = [thought('rs_1'), { type: 'call', id: 'fc_1' }];
  const sent = (block: Block, quirks?: Quirks) => order(input([assistant(call('A'), block), results(result('A'))], quirks));

  test.each<[string, Block, readonly unknown[]]>([
    ['the same', kept(slots), ['rs_1', 'fc_1', 'A']],
    ['another provider', kept(slots, {}, 'other'), ['A', 'A']],
    ['another model', kept(slots, { model: 'other' }), ['A', 'A']],
    ['another format', kept(slots, { api: 'chat' }), ['A', 'A']],
    ['no format at all', { type: 'item', provider: 'p', data: { model: 'a-model', details: [{ type: 'reasoning.encrypted' }] } }, ['A', 'A']],
    ['nothing that can be read', { type: 'item', provider: 'p', data: 'x' }, ['A', 'A']],
  ])('%s', (_name, block, expected) => {
    expect(sent(block)).toEqual(expected);
  });

  test('to the host that gave it, whatever the name of the provider', () => {
    const from = (host: string) => {
      const messages = [user('q'), assistant(call('A'), kept(slots, { host })), results(result('A'))];
      return JSON.stringify(inputItems(request({ messages }), traits({ host: 'here.test' })));
    };
    expect(from('there.test')).not.toContain('rs_1');
    expect(from('here.test')).toContain('rs_1');
  });

  test('not to a host that does not take it back', () => {
    expect(sent(kept(slots), { ...NO_QUIRKS, plainItems: true })).toEqual(['A', 'A']);
  });

  test('nothing of it gets into a request of Chat Completions', () => {
    const messages = [assistant(call('A'), kept([thought('rs_1', { encrypted_content: 'gAAA' }), { type: 'call', id: 'fc_1' }])), results(result('A'))];
    const chat = JSON.stringify(chatBody(request({ messages }), traits()));
    expect(chat).not.toMatch(/rs_1|fc_1|gAAA|reasoning/);
  });
});

describe('calls and outputs', () => {
  const pairs = (messages: readonly Message[]) => input(messages).map((item) => item.call_id ?? item['role']);
  test.each<[string, readonly Message[], readonly unknown[]]>([
    ['in order', [assistant(call('A'), call('B')), results(result('B'), result('A'))], ['A', 'B', 'A', 'B']],
    ['a result that is missing', [assistant(call('A'), call('B')), results(result('B')), user('x')], ['A', 'B', 'A', 'B', 'user']],
    ['a result without a call', [user('x'), results(result('Z')), assistant(call('A')), results(result('Q'), result('A'))], ['user', 'A', 'A']],
    ['something in between', [assistant(call('A')), user('wait'), results(result('A'))], ['A', 'A', 'user']],
    ['one id in two replies', [assistant(call('0')), results(result('0')), assistant(call('0')), results(result('0'))], ['0', '0', '0_2', '0_2']],
    ['one id in one reply', [assistant(call('A'), call('A')), results(result('A'), result('A'))], ['A', 'A_2', 'A', 'A_2']],
  ])('%s', (_name, history, expected) => {
    expect(pairs(history)).toEqual(expected);
  });

  test('arguments are objects, and names valid', () => {
    const [first, second] = input([assistant(call('A', 'my tool!', '5'), call('B', 'read', '{"a": b}'))]);
    expect(first).toMatchObject({ name: 'my_tool_', arguments: '{"value":5}' });
    expect(JSON.parse(String(second?.['arguments']))).toMatchObject({ raw: '{"a": b}' });
  });

  test('the conversation itself stays as it was', () => {
    const history = [assistant(call('', 'x y', 'bad'), kept([thought('rs_1'), { type: 'call' }])), results(result(''))];
    const before = structuredClone(history);
    input(history);
    expect(history).toEqual(before);
  });
});
