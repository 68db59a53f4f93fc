import { describe, expect, test } from 'vitest';
import type { Block, Message, ModelRequest } from '../../../../kernel/index.ts';
import { chatBody } from '../../../../plugins/providers/chat/request.ts';
import { toObject } from '../../../../plugins/providers/pairing.ts';
import { NO_QUIRKS, type Quirks } from '../../../../plugins/providers/quirks.ts';
import { DIALECT_NAMES } from '../../../../plugins/providers/dialects/names.ts';
import { request, traits, user } from '../replies.ts';

const text = (value: string): Block => ({ type: 'text', text: value });
const call = (id: string, tool = 'read', args = '{}'): Block => ({ type: 'call', id, tool, arguments: args });
const assistant = (...blocks: readonly Block[]): Message => ({ role: 'assistant', origin: 'model', blocks });
const results = (...blocks: readonly Block[]): Message => ({ role: 'tool', origin: 'kernel', blocks });
const result = (id: string, content = `result of ${id}`): Block => ({ type: 'result', id, tool: 'read', content, status: 'ok' });
const item = (data: object, provider = 'p'): Block => ({ type: 'item', provider, data: { model: 'a-model', ...data } });

/** As it goes over the wire, without the types of the package. */
interface Wire {
  readonly role: string;
  readonly content: unknown;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string } }[];
}
const wireBody = (changes: Partial<ModelRequest> = {}, host: Parameters<typeof traits>[0] = {}): Readonly<Record<string, unknown>> =>
  JSON.parse(JSON.stringify(chatBody(request(changes), traits(host))));
const body = (changes: Partial<ModelRequest> = {}, quirks: Quirks = NO_QUIRKS): { readonly messages: readonly Wire[] } =>
  JSON.parse(JSON.stringify(chatBody(request(changes), traits({ quirks }))));
const messages = (list: readonly Message[], quirks?: Quirks): readonly Wire[] => body({ messages: list }, quirks).messages;
const pairs = (list: readonly Wire[]): unknown[] => list.map((message) => message.tool_calls?.map((each) => each.id) ?? message.tool_call_id ?? message.role);

describe('the request', () => {
  test('the smallest', () => {
    expect(body()).toEqual({ model: 'a-model', messages: [{ role: 'user', content: 'hello' }], stream: true, stream_options: { include_usage: true } });
  });

  test('system text, tools, limit and effort', () => {
    const card = { name: 'read', description: 'Reads.', input: { type: 'object' } };
    expect(body({ system: 'Be kind.', tools: [card], maxOutputTokens: 99, reasoning: 'high' })).toMatchObject({
      messages: [{ role: 'system', content: 'Be kind.' }, { role: 'user' }],
      tools: [{ type: 'function', function: { name: 'read', description: 'Reads.', parameters: { type: 'object' } } }],
      max_tokens: 99,
      reasoning_effort: 'high',
    });
    expect(body({ reasoning: 'off' })).not.toHaveProperty('reasoning_effort');
  });

  test('sampling as it is configured, and nothing of it otherwise', () => {
    expect(wireBody({}, { settings: { temperature: 0.2, topP: 0.95 } })).toMatchObject({ temperature: 0.2, top_p: 0.95 });
    expect(JSON.stringify(chatBody(request(), traits({ settings: { temperature: 0.2 } })))).toContain('"temperature":0.2');
    expect(wireBody({}, { settings: { temperature: 0 } })).toMatchObject({ temperature: 0 });
    expect(Object.keys(wireBody())).toEqual(['model', 'messages', 'stream', 'stream_options']);
  });

  test('a reply that is held to a schema', () => {
    const format = { name: 'answer', schema: { type: 'object', properties: { n: { type: 'number' } } } };
    expect(wireBody({ format })['response_format']).toEqual({ type: 'json_schema', json_schema: { name: 'answer', strict: true, schema: format.schema } });
    expect(wireBody()).not.toHaveProperty('response_format');
  });

  test('the limit by the dialect, and by what was learnt before that', () => {
    const at = 'https://api.openai.com/v1';
    expect(wireBody({ maxOutputTokens: 5 }, { baseUrl: at })).toMatchObject({ max_completion_tokens: 5 });
    expect(wireBody({ maxOutputTokens: 5 }, { baseUrl: at, quirks: { ...NO_QUIRKS, limitField: 'max_tokens' } })).toMatchObject({ max_tokens: 5 });
  });

  test('the level of reasoning by what is known of the model', () => {
    const info = { id: 'a-model', reasoning: { levels: ['low', 'medium'], default: 'low' } };
    expect(wireBody({ reasoning: 'max' }, { info })).toMatchObject({ reasoning_effort: 'medium' });
    expect(wireBody({ reasoning: 'high' }, { info })).toMatchObject({ reasoning_effort: 'low' });
  });

  test.each<[string, readonly string[], object | undefined]>([
    ['https://openrouter.ai/api/v1', ['a', 'b'], { only: ['a', 'b'] }],
    ['https://openrouter.ai/api/v1', [], undefined],
    ['https://openrouter.ai/api/v1', ['all'], undefined],
    ['https://api.example.test/v1', ['a'], undefined],
  ])('who may serve it: %s, %j', (baseUrl, only, expected) => {
    expect(wireBody({}, { baseUrl, settings: { only } })['provider']).toEqual(expected);
  });

  test('what was learnt about a host', () => {
    const odd: Quirks = { ...NO_QUIRKS, limitField: 'max_completion_tokens' };
    expect(body({ maxOutputTokens: 5 }, odd)).toMatchObject({ max_completion_tokens: 5 });
    expect(body({ maxOutputTokens: 5 }, odd)).not.toHaveProperty('max_tokens');
  });

  test('the same history gives the same bytes, and a longer one begins with them', () => {
    const history = [user('a'), assistant(text('b'), call('0')), results(result('0')), assistant(text('c'), call('0')), results(result('0'))];
    const short = JSON.stringify(messages(history.slice(0, 3))).slice(0, -1);
    expect(JSON.stringify(messages(history)).startsWith(short)).toBe(true);
  });
});

describe('messages', () => {
  test('raw text goes back to the model, not the visible one', () => {
    expect(messages([{ ...assistant(text('seen')), raw: '<x>seen</x>' }])).toEqual([{ role: 'assistant', content: '<x>seen</x>' }]);
  });

  test('a reply with nothing in it', () => {
    expect(messages([assistant()])).toEqual([{ role: 'assistant', content: '(no response)' }]);
    expect(messages([assistant({ type: 'reasoning', text: 'hm' })])).toEqual([{ role: 'assistant', content: '(no response)' }]);
    expect(messages([assistant(call('A'))])[0]).toMatchObject({ content: null });
  });

  test('images of the user, and of results behind all results', () => {
    const image: Block = { type: 'image', image: { mediaType: 'image/png', data: 'AAAA' } };
    const url = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    expect(messages([{ role: 'user', origin: 'user', blocks: [text('look'), image] }])).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'look' }, url] },
    ]);
    const sent = messages([assistant(call('A'), call('B')), results(result('A'), image), results(result('B'))]);
    expect(sent.map((message) => message.role)).toEqual(['assistant', 'tool', 'tool', 'user']);
    expect(sent[3]?.content).toEqual([expect.anything(), url]);
  });

  test('empty texts are not sent', () => {
    expect(messages([user(''), user('a')])).toHaveLength(1);
    expect(messages([assistant(call('A')), results(result('A', ''))])[1]).toMatchObject({ content: '(no output)' });
  });
});

describe('reasoning', () => {
  const reasons: Block = { type: 'reasoning', text: 'why' };
  const field = item({ reasoningField: 'reasoning_content' });
  const after = (...blocks: readonly Block[]): Wire | undefined => messages([assistant(reasons, ...blocks), results(result('A'))])[0];

  test('goes back in its field, with calls, to where it came from', () => {
    expect(after(call('A'), field)).toMatchObject({ reasoning_content: 'why' });
    expect(after(text('x'), field)).not.toHaveProperty('reasoning_content');
    expect(after(call('A'))).not.toHaveProperty('reasoning_content');
    expect(after(call('A'), item({ reasoningField: 'reasoning_content' }, 'other'))).not.toHaveProperty('reasoning_content');
    expect(after(call('A'), item({ reasoningField: 'reasoning_content', model: 'other' }))).not.toHaveProperty('reasoning_content');
    const from = (host: string) => [user('a'), assistant(call('A'), item({ reasoningField: 'reasoning_content', host })), results(result('A'))];
    const sent = (host: string) => wireBody({ messages: from(host) }, { host: 'here.test' })['messages'];
    expect(JSON.stringify(sent('there.test'))).not.toContain('reasoning_content');
    expect(JSON.stringify(sent('here.test'))).toContain('reasoning_content');
  });

  test('also without calls where all of it is kept', () => {
    const kept = (baseUrl: string) => wireBody({ messages: [assistant(reasons, text('x'), field), user('y')] }, { baseUrl })['messages'];
    expect(kept('https://api.moonshot.ai/v1')).toMatchObject([{ content: 'x', reasoning_content: 'why' }, {}]);
    expect(kept('https://api.z.ai/api/paas/v4')).toMatchObject([{ content: 'x', reasoning_content: 'why' }, {}]);
    expect(kept('https://api.deepseek.com')).toEqual([{ role: 'assistant', content: 'x' }, expect.anything()]);
  });

  test('opaque parts go back as they came', () => {
    expect(after(call('A'), item({ details: [{ type: 'reasoning.encrypted', data: 'd' }] }))).toMatchObject({
      reasoning_details: [{ type: 'reasoning.encrypted', data: 'd' }],
    });
    expect(after(call('A'), item({ extras: { 0: { google: 's' } } }))?.tool_calls?.[0]).toMatchObject({ extra_content: { google: 's' } });
  });

  test('a placeholder only where a host demanded it', () => {
    const quirks: Quirks = { ...NO_QUIRKS, reasoningAlways: true };
    expect(messages([assistant(call('A'))], quirks)[0]).toMatchObject({ reasoning_content: ' ' });
    expect(messages([assistant(text('x'))], quirks)[0]).not.toHaveProperty('reasoning_content');
  });
});

describe('replies with nothing between them', () => {
  const reasons: Block = { type: 'reasoning', text: 'why' };
  const field = item({ reasoningField: 'reasoning_content' });
  test.each<[string, readonly Message[], readonly object[]]>([
    [
      'calls join the text before them',
      [assistant(text('a')), assistant(call('A')), results(result('A'))],
      [{ content: 'a', tool_calls: [{ id: 'A' }] }, { tool_call_id: 'A' }],
    ],
    [
      'calls join the text behind them',
      [assistant(call('A')), assistant(text('a')), results(result('A'))],
      [{ content: 'a', tool_calls: [{ id: 'A' }] }, { tool_call_id: 'A' }],
    ],
    [
      'calls join calls',
      [assistant(call('A')), assistant(call('B')), results(result('B'), result('A'))],
      [{ content: null, tool_calls: [{ id: 'A' }, { id: 'B' }] }, { tool_call_id: 'A' }, { tool_call_id: 'B' }],
    ],
    [
      'two texts stay two',
      [assistant(text('a'), call('A')), assistant(text('b')), results(result('A'))],
      [{ content: 'a', tool_calls: [{ id: 'A' }] }, { tool_call_id: 'A' }, { content: 'b' }],
    ],
    [
      'reasoning joins the reply behind it',
      [assistant(reasons), assistant(call('A'), field), results(result('A'))],
      [{ reasoning_content: 'why', tool_calls: [{ id: 'A' }] }, {}],
    ],
    [
      'reasoning is dropped where something stands between',
      [assistant(reasons), user('x'), assistant(call('A'), field), results(result('A'))],
      [{ content: '(no response)' }, { content: 'x' }, { reasoning_content: ' ', tool_calls: [{ id: 'A' }] }, {}],
    ],
    [
      'raw text stays raw',
      [{ ...assistant(text('a')), raw: '<x>a</x>' }, assistant(call('A')), results(result('A'))],
      [{ content: '<x>a</x>', tool_calls: [{ id: 'A' }] }, {}],
    ],
    [
      'what was kept stays with its own calls',
      [assistant(call('A')), assistant(call('B'), item({ extras: { 0: 's' } })), results(result('A'), result('B'))],
      [{ tool_calls: [{ id: 'A' }] }, { tool_call_id: 'A' }, { tool_calls: [{ id: 'B', extra_content: 's' }] }, { tool_call_id: 'B' }],
    ],
  ])('%s', (_name, history, expected) => {
    const sent = messages(history);
    expect(sent).toMatchObject(expected);
    expect(sent).toHaveLength(expected.length);
    expect(JSON.stringify(sent[0])).not.toContain('"extra_content"');
  });
});

describe('caches', () => {
  const MARK = { cache_control: { type: 'ephemeral' } };
  const OPENROUTER = { baseUrl: 'https://openrouter.ai/api/v1' };
  const tools = ['a', 'b'].map((name) => ({ name, description: '', input: {} }));

  test('marks where a host wants them', () => {
    const history = [user('first'), assistant(text('second'), call('A')), results(result('A'))];
    expect(wireBody({ system: 'Be kind.', tools, messages: history }, OPENROUTER)).toMatchObject({
      session_id: 's1',
      tools: [{ type: 'function' }, { type: 'function', ...MARK }],
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'Be kind.', ...MARK }] },
        { role: 'user', content: 'first' },
        { role: 'assistant', content: [{ type: 'text', text: 'second', ...MARK }], tool_calls: [{}] },
        { role: 'tool', content: 'result of A' },
      ],
    });
    expect(JSON.stringify(wireBody({ system: 'Be kind.', tools, messages: history }, OPENROUTER)).split('cache_control')).toHaveLength(4);
  });

  test('a text beside images, calls without a text, and nothing to mark', () => {
    const image: Block = { type: 'image', image: { mediaType: 'image/png', data: 'AAAA' } };
    const looking: Message = { role: 'user', origin: 'user', blocks: [text('look'), image] };
    const sent = (list: readonly Message[]) => wireBody({ messages: list }, OPENROUTER)['messages'];
    expect(sent([looking, assistant(call('A')), results(result('A'))])).toMatchObject([
      { content: [{ type: 'text', text: 'look', ...MARK }, { type: 'image_url' }] },
      { content: null },
      { content: 'result of A' },
    ]);
    expect(sent([])).toEqual([]);
  });

  test('a key where a host wants one, and nothing elsewhere', () => {
    expect(wireBody({}, { baseUrl: 'https://api.openai.com/v1' })).toMatchObject({ prompt_cache_key: 'cast:s1' });
    for (const baseUrl of ['https://api.example.test/v1', 'https://api.deepseek.com', 'https://mine.openai.azure.com/openai/v1'])
      expect(JSON.stringify(wireBody({ tools }, { baseUrl }))).not.toMatch(/cache|session/);
  });

  test('no marks where a host refused them', () => {
    const quirks: Quirks = { ...NO_QUIRKS, without: ['cache_control'] };
    expect(JSON.stringify(wireBody({ system: 'x', tools }, { ...OPENROUTER, quirks }))).not.toContain('cache_control');
  });

  test('the conversation and the tools stay unmarked', () => {
    const history = [user('first')];
    const before = structuredClone([history, tools]);
    wireBody({ system: 'x', tools, messages: history }, OPENROUTER);
    expect([history, tools]).toEqual(before);
  });
});

describe('calls and results', () => {
  test.each<[string, readonly Message[], readonly unknown[]]>([
    ['in order', [assistant(call('A'), call('B')), results(result('B'), result('A'))], [['A', 'B'], 'A', 'B']],
    ['a result that is missing', [assistant(call('A'), call('B')), results(result('B')), user('x')], [['A', 'B'], 'A', 'B', 'user']],
    ['a result without a call', [user('x'), results(result('Z')), assistant(call('A')), results(result('Q'), result('A'))], ['user', ['A'], 'A']],
    ['something in between', [assistant(call('A')), user('wait'), results(result('A'))], [['A'], 'A', 'user']],
    ['one id in two replies', [assistant(call('0')), results(result('0')), assistant(call('0')), results(result('0'))], [['0'], '0', ['0_2'], '0_2']],
    ['one id in one reply', [assistant(call('A'), call('A')), results(result('A'), result('A'))], [['A', 'A_2'], 'A', 'A_2']],
    ['ids of other providers', [assistant(call('functions.add:0')), results(result('functions.add:0'))], [['functions.add:0'], 'functions.add:0']],
  ])('%s', (_name, history, expected) => {
    expect(pairs(messages(history))).toEqual(expected);
  });

  test('two calls of one id get their own results', () => {
    const sent = messages([assistant(call('A'), call('A')), results(result('A', 'one'), result('A', 'two'))]);
    expect(sent.slice(1).map((message) => message.content)).toEqual(['one', 'two']);
  });

  test('a made-up result says that the outcome is unknown', () => {
    expect(messages([assistant(call('A'))])[1]?.content).toMatch(/No result.*Check/);
  });

  test('an id that each reply gives anew is counted up, without counting from the beginning each time', () => {
    const count = 10_000;
    const history = Array.from({ length: count }, () => [assistant(call('call_0')), results(result('call_0'))]).flat();
    const started = performance.now();
    const ids = messages(history).flatMap((message) => message.tool_calls?.map((each) => each.id) ?? []);
    expect([ids[0], ids[1], ids.at(-1), new Set(ids).size]).toEqual(['call_0', 'call_0_2', `call_0_${count}`, count]);
    // Well under a second; counted from the beginning it is some ten.
    expect(performance.now() - started).toBeLessThan(2500);
  });

  test('odd ids and names are made valid, the same way each time', () => {
    const history = [assistant(call('a b/ü', 'my tool!'), call('')), results(result('a b/ü'), result(''))];
    const [reply, ...answers] = messages(history);
    const calls = reply?.tool_calls ?? [];
    expect(calls.map((each) => each.function.name)).toEqual(['my_tool_', 'read']);
    for (const each of calls) expect(each.id).toMatch(/^[\w.:-]{1,64}$/);
    expect(answers.map((answer) => answer.tool_call_id)).toEqual(calls.map((each) => each.id));
    expect(messages(history)).toEqual(messages(history));
  });

  test('short ids where a host takes no others', () => {
    const [reply, answer] = messages([assistant(call('call_1')), results(result('call_1'))], { ...NO_QUIRKS, shortIds: true });
    expect(reply?.tool_calls?.[0]?.id).toMatch(/^[A-Za-z0-9]{9}$/);
    expect(answer?.tool_call_id).toBe(reply?.tool_calls?.[0]?.id);
  });

  test.each([
    ['{"a": 1}', '{"a": 1}'],
    ['', '{}'],
    [' null ', '{}'],
    ['"{\\"a\\":1}"', '{"a":1}'],
    ['["a"]', '{"value":["a"]}'],
    ['5', '{"value":5}'],
    ['{"a": b}', '{"error":"these arguments were no JSON","raw":"{\\"a\\": b}"}'],
  ])('arguments %s', (raw, expected) => {
    expect(toObject(raw)).toBe(expected);
  });

  test('the conversation itself stays as it was', () => {
    const history = [assistant(call('', 'x y', 'bad')), results(result(''))];
    const before = structuredClone(history);
    messages(history);
    expect(history).toEqual(before);
  });
});

/** Whole bodies. A change here is a change of what providers get: look at it before it is accepted. */
describe('bodies', () => {
  const card = (name: string) => ({ name, description: `Does ${name}.`, input: { type: 'object', properties: { path: { type: 'string' } } } });
  const reasons: Block = { type: 'reasoning', text: 'why' };
  const field = item({ reasoningField: 'reasoning_content' });
  const image: Block = { type: 'image', image: { mediaType: 'image/png', data: 'AAAA' } };
  const always: Quirks = { ...NO_QUIRKS, reasoningAlways: true };
  /** As a text, because the order of the fields is part of it. */
  const asSent = (sent: object): string => JSON.stringify(sent, null, 1);

  test.each<[string, Partial<ModelRequest>, Parameters<typeof traits>[0]]>([
    ['minimal', {}, {}],
    [
      'tools, provider and reasoning',
      { system: 'Be kind.', tools: [card('bash'), card('read')], reasoning: 'high', maxOutputTokens: 8192 },
      { baseUrl: 'https://openrouter.ai/api/v1', settings: { only: ['acme'], temperature: 0.2, topP: 0.9 } },
    ],
    ['a limit, a key and reasoning', { maxOutputTokens: 8192, reasoning: 'low' }, { baseUrl: 'https://api.openai.com/v1' }],
    ['no messages', { messages: [] }, {}],
    ['grouped calls', { messages: [user('go'), assistant(call('A')), assistant(call('B')), results(result('A'), result('B')), user('on')] }, {}],
    ['a text, then a call', { messages: [user('go'), assistant(text('I look.'), call('A')), results(result('A'))] }, {}],
    ['a call, then a text', { messages: [user('go'), assistant(call('A'), text('I look.')), results(result('A'))] }, {}],
    ['several calls', { messages: [user('go'), assistant(call('A'), call('B', 'bash', '{"command": "ls"}')), results(result('B'), result('A'))] }, {}],
    ['reasoning and text', { messages: [user('go'), assistant(reasons, text('so'), field), user('on')] }, {}],
    ['reasoning and calls', { messages: [user('go'), assistant(reasons, call('A'), field), results(result('A'))] }, {}],
    ['the placeholder', { messages: [user('go'), assistant(call('A')), results(result('A'))] }, { quirks: always }],
    ['images', { messages: [{ ...user('look'), blocks: [text('look'), image] }, assistant(call('A')), results(result('A'), image)] }, {}],
    ['reminders', { messages: [user('go'), { ...user('<system-reminder>x</system-reminder>'), reminder: true }] }, {}],
  ])('%s', (_name, changes, host) => {
    expect(asSent(wireBody(changes, host))).toMatchSnapshot();
  });

  test.each(DIALECT_NAMES)('reasoning in the dialect %s', (dialect) => {
    const sent = (reasoning: string) => {
      const common = new Set([...Object.keys(wireBody()), 'session_id']);
      return Object.fromEntries(Object.entries(wireBody({ reasoning }, { settings: { dialect } })).filter(([name]) => !common.has(name)));
    };
    expect(['off', 'on', 'low', 'high', 'max'].map((level) => `${level}: ${JSON.stringify(sent(level))}`).join('\n')).toMatchSnapshot();
  });
});
