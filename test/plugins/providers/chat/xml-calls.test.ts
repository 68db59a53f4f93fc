import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ToolCard } from '../../../../kernel/index.ts';
import { XmlCalls } from '../../../../plugins/providers/chat/xml-calls.ts';
import { answering, chatProvider, gather, request } from '../replies.ts';

const card = (name: string, properties: object = {}): ToolCard => ({ name, description: '', input: { type: 'object', properties } });
const TOOLS: readonly ToolCard[] = [
  card('read', { path: { type: 'string' }, limit: { type: 'integer' } }),
  card('set', {
    text: { type: 'string' },
    maybe: { type: ['string', 'null'] },
    either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
    word: { enum: ['1', '2'] },
    count: { type: 'number' },
    flag: { type: 'boolean' },
    list: { type: 'array' },
    map: { type: 'object' },
  }),
  card('now'),
];
const READ = '<function=read><parameter=path>a.txt</parameter></function>';
const READ_CALL = { tool: 'read', arguments: '{"path":"a.txt"}' };

const read = (pieces: readonly string[]): { readonly text: string; readonly calls: XmlCalls['calls'] } => {
  const xml = new XmlCalls(TOOLS);
  const text = pieces.map((piece) => xml.push(piece)).join('') + xml.end();
  return { text, calls: xml.calls };
};

describe('calls', () => {
  test.each<[string, string, string, readonly object[]]>([
    ['alone', READ, '', [READ_CALL]],
    ['behind text', `Let me look.\n\n${READ}`, 'Let me look.\n\n', [READ_CALL]],
    ['before text', `${READ}\n\nThat is it.`, 'That is it.', [READ_CALL]],
    ['wrapped', `<tool_call>\n${READ}\n</tool_call>`, '', [READ_CALL]],
    ['with the closing wrap only', `${READ}\n</tool_call>\nso`, 'so', [READ_CALL]],
    ['several', `${READ}\n${READ}`, '', [READ_CALL, READ_CALL]],
    ['several in one wrap', `<tool_call>${READ}${READ}</tool_call>`, '', [READ_CALL, READ_CALL]],
    ['several in wraps of their own', `<tool_call>\n${READ}\n</tool_call>\n<tool_call>\n${READ}\n</tool_call>`, '', [READ_CALL, READ_CALL]],
    ['without parameters', '<function=now>\n</function>', '', [{ tool: 'now', arguments: '{}' }]],
    [
      'on lines of their own',
      '<function=read>\n<parameter=path>\na.txt\n</parameter>\n<parameter=limit>\n5\n</parameter>\n</function>',
      '',
      [{ tool: 'read', arguments: '{"path":"a.txt","limit":5}' }],
    ],
    [
      'a value that holds tags',
      '<function=set><parameter=text>a</parameter> b</function> c\n</parameter></function>',
      '',
      [{ tool: 'set', arguments: '{"text":"a</parameter> b</function> c"}' }],
    ],
    ['behind code that was closed', `\`\`\`js\nlet a\n\`\`\`\n${READ}`, '```js\nlet a\n```\n', [READ_CALL]],
    [
      'a name that is none of an object',
      '<function=read><parameter=__proto__>{}</parameter></function>',
      '',
      [{ tool: 'read', arguments: '{"__proto__":{}}' }],
    ],
  ])('%s', (_name, content, text, calls) => {
    expect(read([content])).toEqual({ text, calls });
    expect(read([...content])).toEqual({ text, calls });
  });

  test.each([
    ['in a sentence', `Write ${READ} to read.`],
    ['in backquotes', `\`${READ}\` reads.`],
    ['in fenced code', `\`\`\`\n${READ}\n\`\`\`\n`],
    ['in code fenced by tildes', `~~~~ xml\n~~~\n${READ}\n~~~~\n`],
    ['in code that is never closed', `Like this:\n\`\`\`xml\n${READ}\n`],
    ['indented like code', `    ${READ}`],
    ['of a tool that was not offered', '<function=write><parameter=path>a</parameter></function>'],
    ['the tag at the start of a line', '<function=read> is how it begins.\n<tool_call> is around it.\n'],
    ['a parameter spoken of', '<function=read>\n<parameter=path> is the path.\nThat is all.'],
    ['JSON between the tags', '<tool_call>\n{"name":"read","arguments":{}}\n</tool_call>'],
    ['one that is cut off', '<function=read>\n<parameter=path>a.txt</para'],
    ['one without its end', '<function=read>\n<parameter=path>a.txt</parameter>\n'],
    ['a closing tag alone', '</tool_call>\n</function>'],
    ['other tags', '<div>\n<p>a < b</p>\n</div>\n<'],
    ['a name without an end', `<function=${'r'.repeat(300)}`],
  ])('none: %s', (_name, content) => {
    expect(read([content])).toEqual({ text: content, calls: [] });
    expect(read([...content])).toEqual({ text: content, calls: [] });
  });

  test('a call behind one that is none', () => {
    expect(read([`<function=read> opens.\n<function=nothing>\n${READ}`])).toEqual({ text: '<function=read> opens.\n<function=nothing>\n', calls: [READ_CALL] });
  });
});

describe('values', () => {
  const argument = (key: string, value: string): unknown => {
    const [call] = read([`<function=set><parameter=${key}>${value}</parameter></function>`]).calls;
    return (JSON.parse(call?.arguments ?? '{}') as Record<string, unknown>)[key];
  };
  test.each<[string, string, unknown]>([
    ['text', '5', '5'],
    ['text', 'None', 'None'],
    ['text', 'true', 'true'],
    ['text', '\n  kept\n\n', '  kept\n'],
    ['text', '', ''],
    ['maybe', 'None', null],
    ['maybe', '5', '5'],
    ['either', '5', '5'],
    ['word', '1', '1'],
    ['count', '5', 5],
    ['count', ' -0.5 ', -0.5],
    ['count', 'null', null],
    ['count', 'five', 'five'],
    ['flag', 'True', true],
    ['flag', 'false', false],
    ['list', '["a", 1]', ['a', 1]],
    ['list', '[a', '[a'],
    ['map', '{"a": {"b": null}}', { a: { b: null } }],
    ['unknown', 'None', null],
    ['unknown', '7', 7],
    ['unknown', 'seven', 'seven'],
  ])('%s, %j: %j', (key, value, expected) => {
    expect(argument(key, value)).toEqual(expected);
  });
});

describe('streaming', () => {
  test('the cuts between pieces change nothing', () => {
    const word = fc.constantFrom(
      READ,
      '<function=',
      '<function=read>',
      '<parameter=path>',
      'a.txt',
      '</parameter>',
      '</function>',
      '<tool_call>',
      '</tool_call>',
      '\n',
      ' ',
      '```',
      '~~~',
      'text',
      '<',
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 16 }), fc.array(fc.nat(400), { maxLength: 20 }), (words, cuts) => {
        const content = words.join('');
        const edges = [0, ...cuts.map((cut) => Math.min(cut, content.length)).sort((a, b) => a - b), content.length];
        const pieces = edges.slice(1).map((edge, index) => content.slice(edges[index], edge));
        expect(read(pieces)).toEqual(read([content]));
      }),
      { numRuns: 500 },
    );
  });

  test('only what may become a call is held back', () => {
    const xml = new XmlCalls(TOOLS);
    const said = ['a <', 'b>\n', '<', 'i>\n  <func', 'tion=', 'no>'].map((piece) => xml.push(piece));
    expect(said).toEqual(['a <', 'b>\n', '', '<i>\n  ', '', '<function=no>']);
  });

  test('the end of a call is seen at once, also when it comes in pieces', () => {
    const xml = new XmlCalls(TOOLS);
    expect(xml.push('<function=read><parameter=path>a</parameter></func')).toBe('');
    expect(xml.push('tion>so')).toBe('so');
  });

  test('a long call costs no more than its length, and one that is too long is text', () => {
    const line = 'x'.repeat(63);
    const xml = new XmlCalls(TOOLS);
    const started = performance.now();
    xml.push('<function=set><parameter=text>');
    let shown = '';
    for (let count = 0; count < 50_000; count++) shown += xml.push(line);
    expect(shown).toBe('');
    xml.push('</parameter></function>');
    expect(performance.now() - started).toBeLessThan(3000);
    expect(JSON.parse(xml.calls[0]?.arguments ?? '')).toEqual({ text: line.repeat(50_000) });
    const endless = new XmlCalls(TOOLS);
    endless.push('<function=set><parameter=text>');
    expect(endless.push('y'.repeat(5 * 1024 * 1024)).length).toBeGreaterThan(5 * 1024 * 1024);
  });

  test('a value full of ends is given up', () => {
    const content = `<function=set><parameter=text>${'</function>'.repeat(5000)}`;
    expect(read([content]).text).toBe(content);
    expect(read(content.split(/(?<=>)/)).text).toBe(content);
  });
});

describe('in a reply', () => {
  const reply = async (content: string, calls: readonly object[] = [], tools = TOOLS, finish = 'stop') => {
    const delta = { content, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
    const body = `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\ndata: [DONE]\n\n`;
    const got = await gather(chatProvider({ fetch: answering([Buffer.from(body)]) }).stream(request({ tools }), new AbortController().signal));
    return { text: got.text, calls: got.calls.map(({ id, tool, arguments: text }) => [id, tool, text]), end: got.end };
  };
  const structured = (name: string, text: string): object => ({ index: 0, id: 'A', function: { name, arguments: text } });

  test('recovered where there are no structured ones', async () => {
    expect(await reply(`So.\n${READ}`)).toEqual({ text: 'So.\n', calls: [['', 'read', '{"path":"a.txt"}']], end: 'calls' });
  });
  test('recovered where the structured ones are of no use', async () => {
    for (const bad of [structured('', '{}'), structured('reed', '{}'), structured('read', '{"path": a}'), structured('read', '["a"]')])
      expect((await reply(READ, [bad])).calls).toEqual([['', 'read', '{"path":"a.txt"}']]);
  });
  test('only taken out of the text where the structured ones are good', async () => {
    expect(await reply(`So.\n${READ}`, [structured('read', '{"path":"b"}')])).toEqual({ text: 'So.\n', calls: [['A', 'read', '{"path":"b"}']], end: 'calls' });
    expect((await reply(READ, [structured('now', '')])).calls).toEqual([['A', 'now', '']]);
  });
  test('text where no tools are offered', async () => {
    expect(await reply(READ, [], [])).toEqual({ text: READ, calls: [], end: 'stop' });
  });
  test('a reply that was cut off shows what it had begun', async () => {
    expect(await reply('<function=read><parameter=path>a', [], TOOLS, 'length')).toEqual({
      text: '<function=read><parameter=path>a',
      calls: [],
      end: 'length',
    });
  });
  test('behind thinking', async () => {
    expect(await reply(`<think>hm\n${READ}</think>\n\n${READ}`)).toMatchObject({ text: '', calls: [['', 'read', '{"path":"a.txt"}']] });
  });
});
