/** What the kernel does for every tool alike: arguments mended, names understood, failures with a code, a view for surfaces. */
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { definePlugin, defineTool, jsonSchema, type Sketch, type ToolCall, type ToolResult } from 'cast';
import { createTestSession, say, use, type Beat } from 'cast/testkit';
import { repairObject } from '../../../kernel/call/repair.ts';

type Input = Readonly<Record<string, unknown>>;
interface Made {
  readonly name?: string;
  readonly repair?: boolean;
  readonly synonyms?: readonly string[];
  readonly run: (input: Input, call: ToolCall) => Promise<string | Partial<ToolResult>>;
}
const toolbox = (...made: readonly Made[]) =>
  definePlugin({
    name: 'toolbox',
    apply: ({ registries }) => {
      for (const { name = 'put', ...more } of made)
        registries.tools.add(defineTool({ name, description: name, input: jsonSchema<Input>({ type: 'object' }), effect: 'write', ...more }));
    },
  });
const calling = (text: string, tool = 'put'): Beat =>
  function* () {
    yield { type: 'call', id: 'c1', tool, arguments: text };
    yield { type: 'end', reason: 'calls' };
  };

describe('arguments that are no JSON', () => {
  const inputOf = async (text: string, repair: boolean): Promise<unknown> => {
    const seen: unknown[] = [];
    const watching = definePlugin({ name: 'watching', apply: ({ hooks }) => hooks.gate.tap('see', (call) => void seen.push(call.input)) });
    await using session = await createTestSession({ plugins: [toolbox({ repair, run: async () => 'done' }), watching], script: [calling(text), say('ok')] });
    await session.run('go');
    return seen[0] ?? session.results()[0]?.error?.code;
  };

  test.each<[name: string, text: string, input: unknown]>([
    ['a raw line feed in a text', '{"content":"one\ntwo"}', { content: 'one\ntwo' }],
    ['raw tabs, carriage returns and other controls', '{"a":"\t\r\u0001\u001f"}', { a: '\t\r\u0001\u001f' }],
    ['in a name', '{"a\nb":1}', { 'a\nb': 1 }],
    ['something behind the object', '{"a":1}\n```', { a: 1 }],
    ['the object twice', '{"a":{"b":[1]}}{"a":2}', { a: { b: [1] } }],
    ['both at once', '{"a":"x\ny"} trailing', { a: 'x\ny' }],
    ['a bracket and an escaped quote in a text', '{"a":"\\"}\n"}}', { a: '"}\n' }],
  ])('%s is mended for a tool that allows it, and guards see what runs', async (_name, text, input) => {
    expect(await inputOf(text, true)).toEqual(input);
    expect(await inputOf(text, false)).toBe('INVALID_ARGUMENT');
  });

  test.each([
    ['quotes are not guessed', `{'a':1}`],
    ['names without quotes', '{a:1}'],
    ['a comma too many', '{"a":1,}'],
    ['no object', '[1] x'],
    ['an unfinished text', '{"a":"x\n'],
    ['words before it', 'Here: {"a":1}'],
  ])('%s: refused all the same', async (_name, text) => {
    expect(await inputOf(text, true)).toBe('INVALID_ARGUMENT');
  });

  test('mending changes nothing that JSON would have read, whatever stands behind it', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), fc.string(), (value, rest) => {
        const text = JSON.stringify(value);
        expect(repairObject(text + rest)).toBe(text);
        // As a model writes it that forgets to escape.
        const careless = text.replaceAll('\\\\', '\u0000').replace(/\\([nrt])/g, (_, name: 'n' | 'r' | 't') => ({ n: '\n', r: '\r', t: '\t' })[name]);
        expect(JSON.parse(repairObject(careless.replaceAll('\u0000', '\\\\')) ?? '')).toEqual(JSON.parse(text));
      }),
    );
  });
});

test('what is wrong with arguments is said in sentences', async () => {
  const typed = definePlugin({
    name: 'typed',
    apply: ({ registries }) => {
      const input = jsonSchema<{ a: string }>({ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] });
      registries.tools.add(defineTool({ name: 'typed', description: 'typed', input, effect: 'write', run: async () => 'done' }));
    },
  });
  await using session = await createTestSession({ plugins: [typed], script: [use('typed', { a: 5 }), say('ok')] });
  await session.run('go');
  expect(session.results()[0]?.content).toMatch(/^The arguments of typed are not right: a: [^.]+\. Expected "string"\. Call typed again with `a`\.$/);
});

describe('names', () => {
  test('a synonym is a call of the tool, under its own name to everybody', async () => {
    const names: string[] = [];
    const watching = definePlugin({ name: 'watching', apply: ({ hooks }) => hooks.gate.tap('see', (call) => void names.push(call.tool)) });
    await using session = await createTestSession({
      plugins: [toolbox({ name: 'glob', synonyms: ['find'], run: async () => 'found' }), watching],
      script: [use(['find', {}], ['Find', {}]), say('ok')],
    });
    await session.run('go');
    expect(names).toEqual(['glob', 'glob']);
    expect(session.events('tool.started').map(({ tool }) => tool)).toEqual(['glob', 'glob']);
    expect(session.results().map(({ content }) => content)).toEqual(['found', 'found']);
  });

  test.each(['find', 'Find', ' FIND '])('no synonym stands in for a tool of the name %j, also when that is withheld', async (called) => {
    const withholding = definePlugin({
      name: 'withholding',
      apply: ({ hooks }) => hooks.offer.tap('no', (offer) => offer.keep(({ name }) => name !== 'find', 'not now')),
    });
    const tools = toolbox({ name: 'glob', synonyms: ['find'], run: async () => 'glob' }, { name: 'find', run: async () => 'find' });
    await using open = await createTestSession({ plugins: [tools], script: [use([called, {}]), say('ok')] });
    await open.run('go');
    expect(open.results()[0]?.content).toBe('find');
    await using closed = await createTestSession({ plugins: [tools, withholding], script: [use([called, {}]), say('ok')] });
    await closed.run('go');
    expect(closed.results()[0]).toMatchObject({ status: 'denied', content: expect.stringMatching(/^find is not available: not now/) });
  });
});

describe('failures', () => {
  test.each<[said: string, code: string, retryable: boolean]>([
    ['it was cancelled', 'ABORTED', false],
    ['the request timed out', 'TIMEOUT', true],
    ['timeout of 5 s', 'TIMEOUT', true],
    ['blocked by a rule', 'PERMISSION_DENIED', false],
    ['no background task bg-7', 'NOT_FOUND', false],
    ['path is required', 'INVALID_ARGUMENT', false],
    ['unknown tool x', 'INVALID_ARGUMENT', false],
    ['tavily is not configured', 'UNAVAILABLE', false],
    ['it already exists', 'CONFLICT', false],
    ['fetch error: 500', 'EXTERNAL_ERROR', true],
    ['search error', 'EXTERNAL_ERROR', true],
    ['mcp server went away', 'EXTERNAL_ERROR', true],
    ['whatever', 'INTERNAL_ERROR', false],
  ])('%s: %s', async (said, code, retryable) => {
    const ways = [async () => ({ status: 'error' as const, content: said }), () => Promise.reject(new Error(said))];
    for (const run of ways) {
      await using session = await createTestSession({ plugins: [toolbox({ run })], script: [use(['put', {}]), say('ok')] });
      await session.run('go');
      expect(session.results()).toMatchObject([{ status: 'error', content: said, error: { code, retryable } }]);
    }
  });

  test('whatever a tool throws passes the hook for results', async () => {
    const seen: unknown[] = [];
    const watching = definePlugin({
      name: 'watching',
      apply: ({ hooks }) =>
        hooks.result.tap('see', ({ status, content }) => {
          seen.push([status, content]);
          return { content: `${content}, alas` };
        }),
    });
    await using session = await createTestSession({
      plugins: [toolbox({ run: () => Promise.reject(new Error('it broke')) }), watching],
      script: [use(['put', {}]), say('ok')],
    });
    await session.run('go');
    expect(seen).toEqual([['error', 'it broke']]);
    expect(session.results()[0]?.content).toBe('it broke, alas');
  });
});

describe('an answer that is no result is an error of that call alone', () => {
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['a list', ['a']],
    ['content that is no text', { content: 5 }],
    ['an unknown status', { content: 'x', status: 'fine' }],
    ['a failure without a code', { content: 'x', status: 'error', error: 'oops' }],
    ['images that are no list', { content: 'x', images: 5 }],
    ['an image without data', { content: 'x', images: [null] }],
    ['notes that are none', { content: 'x', notes: [null] }],
  ])('%s', async (_name, answer) => {
    const odd: Made = { name: 'odd', run: async () => answer as Partial<ToolResult> };
    await using session = await createTestSession({
      plugins: [toolbox(odd, { run: async () => 'done' })],
      script: [use(['odd', {}], ['put', {}]), say('ok')],
    });
    expect(await session.run('go')).toMatchObject({ reason: 'stop' });
    expect(session.results()).toMatchObject([
      { status: 'error', content: expect.stringMatching(/^The tool answered with something that is no result: ./), error: { code: 'INTERNAL_ERROR' } },
      { status: 'ok', content: 'done' },
    ]);
  });

  test('what is there and undefined counts as left out', async () => {
    const run = async () => ({ content: 'x', status: undefined }) as unknown as Partial<ToolResult>;
    await using session = await createTestSession({ plugins: [toolbox({ run })], script: [use(['put', {}]), say('ok')] });
    await session.run('go');
    expect(session.events('tool.ended')).toMatchObject([{ status: 'ok', content: 'x' }]);
  });
});

describe('the view of a result', () => {
  const view: Sketch = { kind: 'diff', path: 'a.ts', text: '@@ -1 +1 @@\n-a\n+b' };
  const open = (given: unknown, run = async () => ({ content: 'plain words', view: given as Sketch })) =>
    createTestSession({ plugins: [toolbox({ run })], script: [use(['put', {}]), say('ok')] });

  test('reaches surfaces as it happens and later, and never the model', async () => {
    await using session = await open(view);
    await session.run('go');
    expect(session.events('tool.ended')).toMatchObject([{ content: 'plain words', view }]);
    const page = await session.client.page();
    expect(page.items.filter((item) => item.kind === 'result')).toMatchObject([{ content: 'plain words', view }]);
    expect(session.requests.at(-1)?.messages.at(-1)?.blocks[0]).toMatchObject({ content: 'plain words' });
  });

  test('that is none, or larger than any content, costs only itself', async () => {
    const endless: Record<string, unknown> = { kind: 'text' };
    endless['text'] = endless;
    for (const odd of [endless, 'a text', null, { kind: 'text', text: 'x'.repeat(300_000) }]) {
      await using session = await open(odd);
      await session.run('go');
      expect(session.events('tool.ended')[0]).toMatchObject({ status: 'ok', content: 'plain words' });
      expect(session.events('tool.ended')[0]?.view).toBeUndefined();
    }
  });
});
