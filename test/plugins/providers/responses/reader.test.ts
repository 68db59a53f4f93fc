import { describe, expect, test } from 'vitest';
import { responsesWire } from '../../../../plugins/providers/responses/wire.ts';
import { merged, recordings } from '../recordings.ts';
import { type Gathered, readPieces, streamOf } from '../replies.ts';

type Event = Readonly<Record<string, unknown>>;
const read = (...events: readonly unknown[]): Promise<Gathered> => readPieces([streamOf(events)], responsesWire);
const readWhole = (body: unknown): Promise<Gathered> => readPieces([Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))], responsesWire);

const at = (place: number, type: string, more: Event = {}): Event => ({ type: `response.${type}`, output_index: place, ...more });
const added = (place: number, item: Event): Event => at(place, 'output_item.added', { item });
const done = (place: number, item: Event): Event => at(place, 'output_item.done', { item });
const says = (delta: string, place = 0, part = 0): Event => at(place, 'output_text.delta', { content_index: part, delta });
const response = (output: readonly Event[] = [], more: Event = {}): Event => ({ object: 'response', status: 'completed', output, ...more });
const completed = (output: readonly Event[] = [], more: Event = {}): Event => ({ type: 'response.completed', response: response(output, more) });
const incomplete = (reason: string, output: readonly Event[] = []): Event => ({
  type: 'response.incomplete',
  response: response(output, { status: 'incomplete', incomplete_details: { reason } }),
});

const message = (text: string, more: Event = {}): Event => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  content: [{ type: 'output_text', text }],
  ...more,
});
const call = (id: string, more: Event = {}): Event => ({ type: 'function_call', id: `fc_${id}`, call_id: id, name: 'add', arguments: '{"a":1}', ...more });
const reasoning = (id: string, more: Event = {}): Event => ({ type: 'reasoning', id, summary: [], ...more });
const summary = (...texts: readonly string[]): Event => ({ summary: texts.map((text) => ({ type: 'summary_text', text })) });
const thought = (text: string): Event => ({ content: [{ type: 'reasoning_text', text }] });

describe('text', () => {
  test.each<[string, readonly unknown[], string]>([
    ['in pieces', [says('Hel'), says('lo'), completed()], 'Hello'],
    ['all at once at the end of a part', [at(0, 'output_text.done', { content_index: 0, text: 'Hello' }), completed()], 'Hello'],
    ['all at once at the end of an item', [added(0, message('', { content: [] })), done(0, message('Hello')), completed()], 'Hello'],
    ['only in the response', [completed([message('Hello')])], 'Hello'],
    ['its end only in the response', [says('Hel'), completed([message('Hello')])], 'Hello'],
    [
      'repeated by what ends it',
      [says('Hello'), at(0, 'output_text.done', { content_index: 0, text: 'Hello' }), done(0, message('Hello')), completed([message('Hello')])],
      'Hello',
    ],
    ['told otherwise at the end', [says('Hello'), completed([message('Bye')])], 'Hello'],
    ['two parts of one message', [says('a', 0, 0), says('b', 0, 1), completed()], 'ab'],
    ['two messages', [says('a', 0), says('b', 1), completed()], 'a\n\nb'],
    ['two messages in the response', [completed([message('a'), message('b')])], 'a\n\nb'],
    ['ids that change with every event', [{ ...says('a'), item_id: 'x' }, { ...says('b'), item_id: 'y' }, completed()], 'ab'],
    [
      'no places, but ids',
      [added(0, message('', { id: 'm', content: [] })), { type: 'response.output_text.delta', item_id: 'm', delta: 'a' }, completed()],
      'a',
    ],
    ['halves of a character', [says('\ud83d'), says('\ude00'), completed()], '\u{1f600}'],
    ['after [DONE]', [says('a'), completed(), '[DONE]', says('b')], 'a'],
    [
      'unknown events and items',
      [{ type: 'keepalive' }, at(0, 'web_search_call.searching'), added(0, { type: 'program' }), says('a', 1), done(0, { type: 'program' }), completed()],
      'a',
    ],
  ])('%s', async (_name, events, expected) => {
    const got = await read(...events);
    expect(got).toMatchObject({ text: expected, end: 'stop', error: undefined, reasoning: '' });
  });

  test('the name of an event counts where its data has none', async () => {
    const stream = (event: string, data: object) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
    const body = stream('response.output_text.delta', { output_index: 0, delta: 'a' }) + stream('response.completed', { response: response() });
    expect(await readPieces([Buffer.from(body)], responsesWire)).toMatchObject({ text: 'a', end: 'stop' });
    const misnamed = stream('response.created', says('b')) + stream('error', completed());
    expect(await readPieces([Buffer.from(misnamed)], responsesWire)).toMatchObject({ text: 'b', end: 'stop' });
  });

  test('a think block at its beginning is reasoning', async () => {
    expect(await read(says('<th'), says('ink>why</think>\nso'), completed())).toMatchObject({ reasoning: 'why', text: 'so' });
    expect(await readWhole(response([message('<think>why</think>\nso')]))).toMatchObject({ reasoning: 'why', text: 'so' });
  });

  test('it is shown as it comes', async () => {
    const pieces = [says('a'), says('b'), completed([message('ab')])].map((event) => streamOf([event]));
    const { deltas } = await readPieces(pieces, responsesWire);
    expect(deltas.slice(0, 2)).toEqual([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ]);
  });
});

describe('reasoning', () => {
  const piece = (kind: 'reasoning_summary_text' | 'reasoning_text', delta: string, part = 0, place = 0) =>
    at(place, `${kind}.delta`, { [kind === 'reasoning_text' ? 'content_index' : 'summary_index']: part, delta });

  test.each<[string, readonly unknown[], string]>([
    ['a summary', [piece('reasoning_summary_text', 'a'), piece('reasoning_summary_text', 'b'), completed()], 'ab'],
    ['parts of a summary', [piece('reasoning_summary_text', 'a', 0), piece('reasoning_summary_text', 'b', 1), completed()], 'a\n\nb'],
    ['of two items', [piece('reasoning_text', 'a', 0, 0), piece('reasoning_text', 'b', 0, 2), completed()], 'a\n\nb'],
    ['itself', [piece('reasoning_text', 'a'), completed()], 'a'],
    ['both: one counts', [piece('reasoning_summary_text', 'a'), piece('reasoning_text', 'A'), completed()], 'a'],
    ['at the end of its item', [done(0, reasoning('r', { ...summary('a', 'b'), ...thought('A') })), completed()], 'a\n\nb'],
    ['only in the response', [completed([reasoning('r', summary('a')), message('x')])], 'a'],
    ['an empty summary', [completed([reasoning('r', { ...summary(''), ...thought('A') })])], 'A'],
    ['repeated in the response', [piece('reasoning_text', 'a'), done(0, reasoning('r', thought('a'))), completed([reasoning('q', thought('a'))])], 'a'],
  ])('%s', async (_name, events, expected) => {
    expect(await read(...events)).toMatchObject({ reasoning: expected, error: undefined });
  });

  test('what is encrypted goes back, with the order of all that came', async () => {
    const { item } = await read(
      done(0, reasoning('rs_1', { encrypted_content: 'gAAA', status: 'completed' })),
      says('Wait.', 1),
      done(1, message('Wait.', { phase: 'commentary' })),
      done(2, reasoning('rs_2', { encrypted_content: null, content: [] })),
      done(3, call('A')),
      completed(),
    );
    expect(item).toEqual({
      api: 'responses',
      model: 'a-model',
      host: 'api.openai.com',
      slots: [
        { type: 'reasoning', item: { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' } },
        { type: 'message', id: 'msg_1', phase: 'commentary', chars: 5 },
        { type: 'reasoning', item: { type: 'reasoning', id: 'rs_2', summary: [] } },
        { type: 'call', id: 'fc_A' },
      ],
    });
  });

  test('items count by their places, in whatever order they come', async () => {
    const { item } = await read(says('a', 1), done(1, message('a')), added(0, reasoning('rs_1')), done(0, reasoning('rs_1')), completed());
    expect((item as { slots: { type: string }[] }).slots.map((slot) => slot.type)).toEqual(['reasoning', 'message']);
  });

  test('without an id it is shown, but cannot go back', async () => {
    const got = await readWhole(response([reasoning('', summary('a')), message('x')]));
    expect(got.reasoning).toBe('a');
    expect(got.item).toMatchObject({ slots: [{ type: 'message' }] });
  });

  test('ids that are too long are not kept', async () => {
    expect((await readWhole(response([message('x', { id: 'm'.repeat(65) })]))).item).toHaveProperty('slots', [{ type: 'message', chars: 1 }]);
  });
});

describe('calls', () => {
  const pieces = (place: number, ...deltas: readonly string[]) => deltas.map((delta) => at(place, 'function_call_arguments.delta', { delta }));
  const open = (place: number, id: string) => added(place, call(id, { arguments: '' }));
  const shorts = ({ calls }: Gathered) => calls.map(({ id, tool, arguments: text }) => [id, tool, text]);

  test.each<[string, readonly unknown[]]>([
    [
      'in pieces',
      [open(0, 'A'), ...pieces(0, '{"a"', ':1}'), at(0, 'function_call_arguments.done', { arguments: '{"a":1}' }), done(0, call('A')), completed()],
    ],
    ['without the end of its item', [open(0, 'A'), ...pieces(0, '{"a"', ':1}'), at(0, 'function_call_arguments.done', {}), completed()]],
    ['without pieces', [open(0, 'A'), done(0, call('A')), completed()]],
    ['only in the response', [completed([call('A')])]],
    ['arguments as an object', [completed([call('A', { arguments: { a: 1 } })])]],
  ])('%s', async (_name, events) => {
    const got = await read(...events);
    expect(shorts(got)).toEqual([['A', 'add', '{"a":1}']]);
    expect(got.end).toBe('calls');
  });

  test('two at a time', async () => {
    const got = await read(open(0, 'A'), open(1, 'B'), ...pieces(1, '{"b"'), ...pieces(0, '{"a":'), ...pieces(1, ':2}'), ...pieces(0, '1}'), completed());
    expect(shorts(got)).toEqual([
      ['A', 'add', '{"a":1}'],
      ['B', 'add', '{"b":2}'],
    ]);
  });

  test.each<[string, Event, string]>([
    ['blank arguments', call('A', { arguments: ' ' }), '{}'],
    ['none', call('A', { arguments: null }), '{}'],
    ['what is no JSON stays', call('A', { arguments: '{"a' }), '{"a'],
    ['input of a custom tool', { type: 'custom_tool_call', id: 'ct_1', call_id: 'A', name: 'add', input: 'SELECT 1' }, 'SELECT 1'],
  ])('%s', async (_name, item, expected) => {
    expect(shorts(await readWhole(response([item])))).toEqual([['A', 'add', expected]]);
  });

  test('a custom tool in pieces', async () => {
    const item = { type: 'custom_tool_call', id: 'ct_1', call_id: 'A', name: 'add', input: '' };
    const input = (delta: string) => at(0, 'custom_tool_call_input.delta', { delta });
    const got = await read(added(0, item), input('SELECT'), input(' 1'), at(0, 'custom_tool_call_input.done', { input: 'SELECT 1' }), completed());
    expect(shorts(got)).toEqual([['A', 'add', 'SELECT 1']]);
    expect(got.item).toMatchObject({ slots: [{ type: 'call' }] });
    expect(JSON.stringify(got.item)).not.toContain('ct_1');
  });

  test.each<[string, Event, RegExp]>([
    ['no id to answer it by', call('A', { call_id: '' }), /"add" without call_id/],
    ['no name', call('A', { name: null }), /without name/],
    ['neither', { type: 'function_call' }, /without call_id and name/],
  ])('%s: the reply is broken', async (_name, item, problem) => {
    const got = await readWhole(response([call('Z'), item]));
    expect(got).toMatchObject({ calls: [], end: undefined, error: { kind: 'overload', message: expect.stringMatching(problem) } });
  });

  test('one that was cut off at the limit is dropped', async () => {
    const cutOff = await read(done(0, call('A')), open(1, 'B'), ...pieces(1, '{"a"'), incomplete('max_output_tokens'));
    expect(shorts(cutOff).map(([id]) => id)).toEqual(['A']);
    expect(cutOff.end).toBe('length');
    const told = await read(incomplete('max_output_tokens', [message('x'), call('B', { status: 'incomplete', arguments: '{"a' })]));
    expect(told).toMatchObject({ calls: [], text: 'x', end: 'length' });
  });

  test('one of which a piece could not be read is none, unless the response holds it', async () => {
    const damage = '{"type":"response.function_call_arguments.delta","delta":"x';
    const events = [open(0, 'A'), damage, ...pieces(0, '1}')];
    expect(await read(...events, completed())).toMatchObject({ calls: [], end: undefined });
    expect(shorts(await read(...events, completed([call('A')])))).toEqual([['A', 'add', '{"a":1}']]);
    expect(await read(says('a'), '{"type":"resp', completed())).toMatchObject({ text: 'a', end: 'stop' });
  });
});

describe('how it ends', () => {
  const refusal: Event = { type: 'message', content: [{ type: 'refusal', refusal: 'I will not.' }] };
  test.each<[string, readonly unknown[], object]>([
    ['nothing at all', [completed()], { text: '', calls: [], end: 'stop' }],
    ['at its limit', [says('a'), incomplete('max_output_tokens')], { text: 'a', end: 'length' }],
    ['incomplete for a new reason', [says('a'), incomplete('tired')], { end: 'length' }],
    ['incomplete, said by the response alone', [completed([message('a')], { status: 'incomplete' })], { end: 'length' }],
    ['filtered', [says('a'), incomplete('content_filter')], { text: 'a', end: 'refused' }],
    ['filtered, although a call came', [incomplete('content_filter', [call('A')])], { end: 'refused' }],
    [
      'refused',
      [at(0, 'refusal.delta', { content_index: 0, delta: 'I will' }), at(0, 'refusal.done', { content_index: 0, refusal: 'I will not.' }), completed()],
      { text: 'I will not.', end: 'refused' },
    ],
    ['refused, in the response', [completed([refusal])], { text: 'I will not.', end: 'refused' }],
    ['refused at the limit', [incomplete('max_output_tokens', [refusal])], { end: 'refused' }],
    ['cut off', [says('a')], { text: 'a', end: undefined, error: undefined }],
    ['[DONE] before the end', [says('a'), done(1, call('A')), '[DONE]'], { text: 'a', calls: [], end: undefined, error: undefined }],
  ])('%s', async (_name, events, expected) => {
    expect(await read(...events)).toMatchObject(expected);
  });

  test.each<[string, readonly unknown[], object]>([
    ['an error in an object', [says('a'), { type: 'error', error: { code: 'rate_limit_exceeded', message: 'slow down' } }], { kind: 'rate' }],
    ['a flat error', [says('a'), { type: 'error', code: 'context_length_exceeded', message: 'too long' }], { kind: 'overflow' }],
    ['an error without a type', [says('a'), { error: { code: 'server_error', message: 'oops' } }], { kind: 'overload' }],
    [
      'failed',
      [says('a'), { type: 'response.failed', response: { error: { code: 'server_error', message: 'oops' } } }],
      { kind: 'overload', message: expect.stringContaining('oops') },
    ],
    ['failed for no reason', [{ type: 'response.failed' }], { kind: 'overload', message: expect.stringContaining('failed') }],
    ['cancelled', [{ type: 'response.cancelled', response: { error: null } }], { message: expect.stringContaining('cancelled') }],
    ['completed, but failed', [completed([], { status: 'failed', error: { code: 'insufficient_quota', message: 'no credit' } })], { kind: 'quota' }],
  ])('%s', async (_name, events, expected) => {
    expect(await read(...events)).toMatchObject({ calls: [], end: undefined, error: expected });
  });

  test('usage', async () => {
    const counted = {
      input_tokens: 10,
      output_tokens: 5,
      total_tokens: 15,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens_details: { reasoning_tokens: 3 },
    };
    const usage = { promptTokens: 10, completionTokens: 5, totalTokens: 15, cacheReadTokens: 4, reasoningTokens: 3 };
    expect((await read(says('a'), completed([], { usage: counted }))).usage).toMatchObject(usage);
    expect((await read(says('a'), completed([], { usage: null }))).usage).toBeUndefined();
  });
});

describe('a body that is no stream', () => {
  const counted = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
  const output = [
    reasoning('rs_1', { ...summary('first', 'second'), encrypted_content: 'gAAA' }),
    message('I look\u{1f600}', { phase: 'commentary' }),
    call('A'),
    reasoning('rs_2', thought('then')),
    message('Done.', { id: 'msg_2' }),
    call('B', { arguments: '' }),
  ];
  /** The same turn as events, each text in pieces. */
  const events = output.flatMap((item, place) => {
    const parts = (list: unknown, name: string, index: string, type: string) =>
      ((list ?? []) as { type: string; text: string }[]).flatMap((part, number) =>
        part.type === type ? [...part.text].map((delta) => at(place, `${name}.delta`, { [index]: number, delta })) : [],
      );
    return [
      added(place, { ...item, ...(item['content'] ? { content: [] } : {}), ...(item['summary'] ? { summary: [] } : {}), arguments: '' }),
      ...parts(item['summary'], 'reasoning_summary_text', 'summary_index', 'summary_text'),
      ...parts(item['content'], 'reasoning_text', 'content_index', 'reasoning_text'),
      ...parts(item['content'], 'output_text', 'content_index', 'output_text'),
      ...[...String(item['arguments'] ?? '')].map((delta) => at(place, 'function_call_arguments.delta', { delta })),
      ...(item['arguments'] === undefined ? [] : [at(place, 'function_call_arguments.done', { arguments: item['arguments'] })]),
      done(place, item),
    ];
  });
  const whole = merged(responsesWire, [Buffer.from(JSON.stringify(response(output, { usage: counted })))]);

  test('comes to the same as a stream of the same turn', () => {
    expect(whole).toMatchObject([
      { type: 'reasoning', text: 'first\n\nsecond' },
      { type: 'text', text: 'I look\u{1f600}' },
      { type: 'reasoning', text: '\n\nthen' },
      { type: 'text', text: '\n\nDone.' },
      { type: 'call', id: 'A' },
      { type: 'call', id: 'B', arguments: '{}' },
      { type: 'item' },
      { type: 'usage' },
      { type: 'end', reason: 'calls' },
    ]);
    expect(merged(responsesWire, [streamOf([...events, completed([], { usage: counted })])])).toEqual(whole);
    expect(merged(responsesWire, [streamOf([...events, completed(output, { usage: counted })])])).toEqual(whole);
    expect(merged(responsesWire, [streamOf([completed(output, { usage: counted })])])).toEqual(whole);
  });

  const recorded = recordings().flatMap(({ name, body }): [string, Buffer, unknown][] => {
    const last = [...body.toString().matchAll(/^data: ?(\{.*"type": ?"response\.(?:completed|incomplete)".*)$/gm)];
    const ends = last.map((match) => (JSON.parse(match[1] ?? '') as { response: { output: unknown[] } }).response);
    return name.startsWith('responses/') && ends.length === 1 && ends[0] && ends[0].output.length > 0 ? [[name, body, ends[0]]] : [];
  });
  test.skipIf(recorded.length === 0).each(recorded)('%s', (_name, body, end) => {
    expect(merged(responsesWire, [Buffer.from(JSON.stringify(end))])).toEqual(merged(responsesWire, [body]));
  });

  test.each<[string, unknown, object]>([
    ['an error', { error: { message: 'bad key', code: 'invalid_api_key' } }, { kind: 'auth' }],
    ['something else', { hello: 'you' }, {}],
    ['a page', '<html><title>Gateway</title></html>', { kind: 'bad_request', message: expect.stringContaining('Gateway') }],
    ['failed', response([], { status: 'failed', error: { code: 'server_error', message: 'oops' } }), { kind: 'overload' }],
  ])('%s', async (_name, body, expected) => {
    expect(await readWhole(body)).toMatchObject({ end: undefined, error: expected });
  });

  test.each<[string, unknown]>([
    ['cut off', JSON.stringify(response(output)).slice(0, -20)],
    ['not finished', response(output, { status: 'in_progress' })],
    ['in a queue', response([], { status: 'queued' })],
  ])('%s is no reply', async (_name, body) => {
    expect(await readWhole(body)).toMatchObject({ end: undefined, calls: [], error: undefined });
  });
});
