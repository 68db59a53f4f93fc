import { describe, expect, test } from 'vitest';
import { readEvents, readPieces } from '../replies.ts';

const chunk = (delta: object | null, more: object = {}) => ({ choices: [{ index: 0, delta, ...more }] });
const call = (piece: object) => chunk({ tool_calls: [piece] });
const named = (name: string, args: string | undefined, more: object = {}) => ({
  ...more,
  function: { name, ...(args === undefined ? {} : { arguments: args }) },
});
const finish = (reason: string) => chunk({}, { finish_reason: reason });
const DONE = '[DONE]';

describe('calls', () => {
  const calls = async (...events: readonly unknown[]) =>
    (await readEvents(...events, finish('tool_calls'), DONE)).calls.map(({ id, tool, arguments: text }) => [id, tool, text]);

  test.each<[string, readonly object[], readonly (readonly string[])[]]>([
    [
      'one index, two ids',
      [call(named('a', '{"x":1}', { index: 0, id: 'A' })), call(named('b', '{"x":2}', { index: 0, id: 'B' }))],
      [
        ['A', 'a', '{"x":1}'],
        ['B', 'b', '{"x":2}'],
      ],
    ],
    [
      'no index',
      [call(named('a', '{}', { id: 'A' })), call(named('b', '{}', { id: 'B' }))],
      [
        ['A', 'a', '{}'],
        ['B', 'b', '{}'],
      ],
    ],
    [
      'no index, pieces',
      [
        call(named('a', '{"x"', { id: 'A' })),
        call({ function: { arguments: ':1}' } }),
        call(named('b', '{', { id: 'B' })),
        call({ id: '', function: { name: '', arguments: '}' } }),
      ],
      [
        ['A', 'a', '{"x":1}'],
        ['B', 'b', '{}'],
      ],
    ],
    [
      'interleaved',
      [
        call(named('a', '{', { index: 0, id: 'A' })),
        call(named('b', '{', { index: 1, id: 'B' })),
        call({ index: 0, function: { arguments: '}' } }),
        call({ index: 1, function: { arguments: '}' } }),
      ],
      [
        ['A', 'a', '{}'],
        ['B', 'b', '{}'],
      ],
    ],
    [
      'one id for two calls',
      [call(named('a', '{"x":1}', { index: 0, id: 'A' })), call(named('a', '{"x":2}', { index: 1, id: 'A' }))],
      [
        ['A', 'a', '{"x":1}'],
        ['A', 'a', '{"x":2}'],
      ],
    ],
    [
      'one id and one index for two calls',
      [call(named('a', '{"x":1}', { index: 0, id: 'A' })), call(named('a', '{"x":2}', { index: 0, id: 'A' }))],
      [
        ['A', 'a', '{"x":1}'],
        ['A', 'a', '{"x":2}'],
      ],
    ],
    [
      'no id at all',
      [call(named('a', '{"x":1}')), call(named('b', '{}'))],
      [
        ['', 'a', '{"x":1}'],
        ['', 'b', '{}'],
      ],
    ],
    ['id and name in each piece', [call(named('a', '{"x"', { index: 0, id: 'A' })), call(named('a', ':1}', { index: 0, id: 'A' }))], [['A', 'a', '{"x":1}']]],
    ['a late name', [call({ index: 0, id: 'A', function: { arguments: '' } }), call(named('a', '{}', { index: 0 }))], [['A', 'a', '{}']]],
    ['an index as a text', [call(named('a', '{', { index: '9', id: 'A' })), call({ index: 9, function: { arguments: '}' } })], [['A', 'a', '{}']]],
    ['arguments as an object', [call({ index: 0, id: 'A', function: { name: 'a', arguments: { x: 1 } } })], [['A', 'a', '{"x":1}']]],
    ['no arguments', [call(named('a', undefined, { index: 0, id: 'A' }))], [['A', 'a', '']]],
    [
      'two ids, no arguments yet',
      [call(named('a', '', { index: 0, id: 'A' })), call(named('b', '', { index: 0, id: 'B' }))],
      [
        ['A', 'a', ''],
        ['B', 'b', ''],
      ],
    ],
    [
      'two names, no arguments',
      [call(named('a', '')), call(named('b', ''))],
      [
        ['', 'a', ''],
        ['', 'b', ''],
      ],
    ],
    ['nothing in a piece', [call({}), call({ index: 0, id: 'x', function: null })], []],
  ])('%s', async (_name, events, expected) => {
    expect(await calls(...events)).toEqual(expected);
  });

  test('they come after the text and before the end', async () => {
    const { deltas } = await readEvents(chunk({ content: 'a' }), call(named('t', '{}', { index: 0, id: 'A' })), chunk({ content: 'b' }), finish('stop'), DONE);
    expect(deltas.map((delta) => delta.type)).toEqual(['text', 'call', 'end']);
    expect(deltas[0]).toEqual({ type: 'text', text: 'ab' });
    expect(deltas.at(-1)).toEqual({ type: 'end', reason: 'calls' });
  });

  test('a signature is kept to be sent back with its call', async () => {
    const { item } = await readEvents(
      call({ ...named('t', '{}', { index: 0, id: 'A' }), extra_content: { google: { thought_signature: 's' } } }),
      finish('tool_calls'),
    );
    expect(item).toEqual({ model: 'a-model', host: 'api.openai.com', extras: { 0: { google: { thought_signature: 's' } } } });
  });
});

describe('text and reasoning', () => {
  test.each<[string, readonly object[], string, string]>([
    ['each field by itself', [chunk({ reasoning_content: 'a' }), chunk({ reasoning: 'b' }), chunk({ content: 'c' })], 'c', 'ab'],
    ['one field a delta', [chunk({ reasoning_content: 'a', reasoning: 'a', reasoning_details: [{ type: 'reasoning.text', text: 'a', index: 0 }] })], '', 'a'],
    [
      'details alone',
      [
        chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'a', index: 0 }] }),
        chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'b', index: 0 }] }),
      ],
      '',
      'ab',
    ],
    [
      'details that repeat all so far',
      [
        chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'One', index: 0 }] }),
        chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'One two', index: 0 }] }),
      ],
      '',
      'One two',
    ],
    [
      'content parts',
      [
        chunk({
          content: [
            { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
            { type: 'text', text: 'yes' },
          ],
        }),
      ],
      'yes',
      'hm',
    ],
    ['think tags, cut', ['<th', 'ink>\nhm', 'm</thi', 'nk>\n', '\nyes'].map((content) => chunk({ content })), 'yes', 'hmm'],
    ['think tags after white space', [chunk({ content: ' \n' }), chunk({ content: '<think>a</think>b' })], 'b', 'a'],
    ['a tag that is none', [chunk({ content: '<thi' }), chunk({ content: 's>' })], '<this>', ''],
    ['a tag inside the text', [chunk({ content: 'Use <think>x</think>' })], 'Use <think>x</think>', ''],
    ['a block without end', [chunk({ content: '<think>a <' })], '', 'a <'],
    ['tags that repeat a field', [chunk({ reasoning: 'a' }), chunk({ content: '<think>a</think>b' })], 'b', 'a'],
    ['half characters', [chunk({ content: 'x\ud83d' }), chunk({ content: '\ude00' })], 'x😀', ''],
    [
      'another choice',
      [
        {
          choices: [
            { index: 1, delta: { content: 'no' } },
            { index: 0, delta: { content: 'yes' } },
          ],
        },
      ],
      'yes',
      '',
    ],
  ])('%s', async (_name, events, text, reasoning) => {
    const got = await readEvents(...events, finish('stop'), DONE);
    expect([got.text, got.reasoning, got.end]).toEqual([text, reasoning, 'stop']);
    // No delta may hold half a character.
    for (const delta of got.deltas) if (delta.type === 'text') expect(Buffer.from(delta.text).toString()).toBe(delta.text);
  });

  test('of several choices the first counts, by a number or a text', async () => {
    const choice = (index: unknown, content: string) => ({ index, delta: { content } });
    const { text } = await readEvents({ choices: [choice('1', 'B'), choice('0', 'A')] }, { choices: [choice(1, 'B')] }, finish('stop'), DONE);
    expect(text).toBe('A');
  });

  test('the field and the details are noted, with calls and without', async () => {
    const t = call(named('t', '{}', { index: 0, id: 'A' }));
    expect((await readEvents(chunk({ reasoning_content: 'r' }), t, DONE)).item).toEqual({
      model: 'a-model',
      host: 'api.openai.com',
      reasoningField: 'reasoning_content',
    });
    expect((await readEvents(chunk({ reasoning_content: 'r' }), chunk({ content: 'x' }), DONE)).item).toEqual({
      model: 'a-model',
      host: 'api.openai.com',
      reasoningField: 'reasoning_content',
    });
    expect((await readEvents(chunk({ reasoning: 'r' }), t, DONE)).item).toBeUndefined();
    const details = [
      chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'a', index: 0, signature: null }] }),
      chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'b', index: 0, signature: 's' }] }),
      chunk({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'd', index: 0 }] }),
    ];
    expect((await readEvents(...details, chunk({ content: 'x' }), DONE)).item).toEqual({
      model: 'a-model',
      host: 'api.openai.com',
      details: [
        { type: 'reasoning.text', text: 'ab', index: 0, signature: 's' },
        { type: 'reasoning.encrypted', data: 'd', index: 0 },
      ],
    });
  });
});

describe('the end', () => {
  const text = chunk({ content: 'x' });
  const usage = { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } };

  test.each<[string, readonly unknown[], string | undefined]>([
    ['stop', [text, finish('stop')], 'stop'],
    ['unknown reasons', [text, finish('eos')], 'stop'],
    ['length', [text, finish('length')], 'length'],
    ['another spelling', [text, finish('MAX_TOKENS')], 'length'],
    ['a content filter', [text, finish('content_filter')], 'refused'],
    ['a refusal', [chunk({ refusal: 'I will not' }), finish('stop')], 'refused'],
    ['calls without a call', [text, finish('tool_calls')], 'stop'],
    ['a blank reason and the end mark', [chunk({ content: 'x' }, { finish_reason: '' }), DONE], 'stop'],
    ['only the end mark', [DONE], 'stop'],
    ['only usage', [text, usage], 'stop'],
    ['usage beside the text is no end', [{ ...text, usage: usage.usage }], undefined],
    ['usage, then more text', [usage, text], undefined],
    ['nothing', [text], undefined],
    ['odd frames', [{}, { choices: null }, chunk(null), 'null', '7', text, finish('stop')], 'stop'],
    ['a damaged call', [text, '{"choices":[{"delta":{"tool_calls":[{"ind', finish('stop'), DONE], undefined],
    ['a damaged text', [text, '{"choices":[{"delta":{"content":"y', finish('stop')], 'stop'],
  ])('%s', async (_name, events, expected) => {
    const got = await readEvents(...events);
    expect([got.end, got.error]).toEqual([expected, undefined]);
  });

  test('a refusal is shown', async () => {
    expect((await readEvents(chunk({ refusal: 'I will not' }), finish('stop'))).text).toBe('I will not');
  });

  test.each<[string, readonly unknown[], string]>([
    ['an error object', [text, { error: { message: 'overloaded', code: 'server_error' } }], 'overload'],
    ['a text', [text, { error: 'boom' }], 'overload'],
    ['beside choices', [text, { error: { code: 429, message: 'slow' }, choices: [{ delta: { content: '' } }] }], 'rate'],
    ['after a finish reason', [text, finish('length'), { error: { code: 400, message: 'Token limit reached' } }], 'overflow'],
    ['a reason', [text, finish('error')], 'overload'],
    ['the end of the window', [text, finish('model_context_window_exceeded')], 'overflow'],
    ['base_resp', [{ choices: null, base_resp: { status_code: 1008, status_msg: 'insufficient balance' } }], 'quota'],
  ])('an error inside: %s', async (_name, events, kind) => {
    const got = await readEvents(...events);
    expect([got.end, got.calls]).toEqual([undefined, []]);
    expect(got.error).toMatchObject({ name: 'ProviderError', kind });
  });

  test('an error event that is no JSON', async () => {
    const got = await readPieces([Buffer.from('event: error\ndata: it broke\n\n')]);
    expect(got.error).toMatchObject({ name: 'ProviderError', message: expect.stringContaining('it broke') });
  });
});

describe('usage', () => {
  const usage = async (...events: readonly unknown[]) => (await readEvents(...events, DONE)).usage;
  const base = { prompt_tokens: 10, completion_tokens: 4 };

  test.each<[string, object, object]>([
    [
      'less than nothing',
      { usage: { prompt_tokens: -5, completion_tokens: 4, total_tokens: -1, cost: -1 } },
      { promptTokens: 0, completionTokens: 4, totalTokens: 4 },
    ],
    ['texts', { usage: { prompt_tokens: '10', completion_tokens: '4' } }, { promptTokens: 10, completionTokens: 4, totalTokens: 14 }],
    ['more than there can be', { usage: { prompt_tokens: 1e300, completion_tokens: 4 } }, { promptTokens: 0, completionTokens: 4, totalTokens: 4 }],
    ['plain', { usage: base }, { promptTokens: 10, completionTokens: 4, totalTokens: 14, cacheReadTokens: 0, reasoningTokens: 0 }],
    [
      'details',
      { usage: { ...base, total_tokens: 14, prompt_tokens_details: { cached_tokens: 6 }, completion_tokens_details: { reasoning_tokens: 3 } } },
      { cacheReadTokens: 6, reasoningTokens: 3, completionTokens: 4 },
    ],
    ['null details', { usage: { ...base, prompt_tokens_details: null, completion_tokens_details: null, reasoning_tokens: 2 } }, { reasoningTokens: 2 }],
    ['cache hits', { usage: { ...base, prompt_cache_hit_tokens: 5 } }, { cacheReadTokens: 5 }],
    ['cache writes', { usage: { ...base, cache_creation_input_tokens: 7 } }, { cacheWriteTokens: 7 }],
    [
      'reasoning left out of the completion',
      { usage: { ...base, total_tokens: 17, completion_tokens_details: { reasoning_tokens: 3 } } },
      { completionTokens: 7, totalTokens: 17 },
    ],
    ['x_groq', { choices: [], x_groq: { usage: base } }, { promptTokens: 10 }],
    ['in the choice', { choices: [{ index: 0, delta: {}, usage: base }] }, { promptTokens: 10 }],
    ['cost', { usage: { ...base, cost: 0.25 } }, { cost: 0.25 }],
  ])('%s', async (_name, event, expected) => {
    expect(await usage(event)).toMatchObject(expected);
  });

  test('the last one counts, and empty ones do not', async () => {
    expect(await usage({ usage: base }, { usage: { prompt_tokens: 10, completion_tokens: 9 } }, { usage: null }, { usage: {} })).toMatchObject({
      completionTokens: 9,
    });
  });

  test('of a broken reply it is told as well', async () => {
    const got = await readEvents(chunk({ content: 'x' }), { ...chunk({ content: 'y' }), usage: base });
    expect([got.usage?.promptTokens, got.end]).toEqual([10, undefined]);
  });
});

describe('bodies that are no stream', () => {
  const whole = (body: unknown) => readPieces([Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))]);

  test('a completion', async () => {
    const message = { role: 'assistant', content: 'hi', reasoning_content: 'why', tool_calls: [named('a', '{}', { id: 'A' }), named('a', '{}', { id: 'B' })] };
    const got = await whole({ choices: [{ message, finish_reason: 'tool_calls' }], usage: { prompt_tokens: 1, completion_tokens: 1 } });
    expect([got.text, got.reasoning, got.calls.map(({ id }) => id), got.usage?.promptTokens, got.end]).toEqual(['hi', 'why', ['A', 'B'], 1, 'calls']);
  });

  test.each<[string, unknown, string]>([
    ['a JSON error', { error: { message: 'busy', code: 429 } }, 'rate'],
    ['a list', [{ error: { code: 503, message: 'down' } }], 'overload'],
    ['a page', '<!DOCTYPE html><html><title>Sign in</title></html>', 'bad_request'],
  ])('%s', async (_name, body, kind) => {
    const got = await whole(body);
    expect(got.error).toMatchObject({ name: 'ProviderError', kind });
  });

  test.each(['', '{"choices":[{"mess'])('%j is no end', async (body) => {
    const got = await whole(body);
    expect(got).toMatchObject({ end: undefined, error: undefined, deltas: [] });
  });
});
