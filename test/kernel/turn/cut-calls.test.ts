/** Replies that end in the middle of a call, or at the end of the context window. */
import { describe, expect, test } from 'vitest';
import { definePlugin, defineTool, jsonSchema, type Delta, type ModelInfo } from 'cast';
import { createTestSession, say, use, type Beat } from 'cast/testkit';

const runs: unknown[] = [];
const tools = definePlugin({
  name: 'tools',
  apply: ({ registries }) => {
    for (const name of ['put', 'look'])
      registries.tools.add(
        defineTool({
          name,
          description: name,
          effect: 'read',
          input: jsonSchema<object>({ type: 'object' }),
          run: async (input) => (runs.push([name, input]), 'done'),
        }),
      );
  },
});
type Call = readonly [tool: string, text: string];
const calling = (reason: 'length' | 'calls', ...calls: readonly Call[]): Beat =>
  function* () {
    for (const [index, [tool, text]] of calls.entries()) yield { type: 'call', id: `c${index}`, tool, arguments: text };
    yield { type: 'end', reason };
  };
const open = (...script: readonly Beat[]) => {
  runs.length = 0;
  return createTestSession({ plugins: [tools], script });
};

describe('a call whose arguments end in the middle', () => {
  test.each<[name: string, reason: 'length' | 'calls', text: string]>([
    ['of a text', 'length', '{"path":"a.txt","content":"one {'],
    ['of a text, with another reason given', 'calls', '{"path":"a.txt","content":"one'],
    ['of an escape', 'length', '{"path":"a\\'],
    ['behind an escaped quote', 'length', '{"path":"a\\"'],
    ['of a list', 'length', '{"edits":[{"a":"b"}'],
    ['behind the first bracket', 'length', '{'],
    ['with a closing bracket in a text', 'length', '{"content":"}'],
  ])('%s is not run, and the model is told to send less', async (_name, reason, text) => {
    await using session = await open(calling(reason, ['put', text]), say('smaller then'));
    expect(await session.run('go')).toMatchObject({ reason: 'stop', exitCode: 0 });
    expect(runs).toEqual([]);
    expect(session.results()).toMatchObject([{ status: 'error', content: expect.stringMatching(/cut off.*not run.*Send less/) }]);
  });

  test('is told from one that is merely no JSON', async () => {
    await using session = await open(calling('calls', ['put', '{"path": a.txt}']), say('ok'));
    await session.run('go');
    expect(session.results()[0]?.content).toContain('not valid JSON');
  });

  test('costs the whole calls before it nothing', async () => {
    await using session = await open(calling('length', ['look', '{"at":1}'], ['put', '{"pa']), say('ok'));
    await session.run('go');
    expect(runs).toEqual([['look', { at: 1 }]]);
    expect(session.results().map(({ status }) => status)).toEqual(['ok', 'error']);
  });

  test('three times in a row ends the turn, with every call answered', async () => {
    const cut = calling('calls', ['put', '{"content":"on']);
    await using session = await open(cut, cut, cut, say('never'));
    expect(await session.run('go')).toMatchObject({ reason: 'cut_off', exitCode: 1, steps: 3 });
    expect(session.events('error')).toMatchObject([
      { code: 'CUT_OFF', message: expect.stringContaining('put'), suggestedFix: expect.stringContaining('maxOutputTokens') },
    ]);
    expect(session.events('tool.ended')).toHaveLength(3);
  });

  test('counts anew behind a call that is whole, and in the next turn', async () => {
    const cut = calling('length', ['put', '{"content":"on']);
    await using session = await open(cut, cut, use('look', {}), cut, cut, say('done'), cut, say('done'));
    expect((await session.run('go')).reason).toBe('stop');
    expect((await session.run('go on')).reason).toBe('stop');
  });
});

describe('a reply at its limit whose last call has no arguments yet', () => {
  test('has no such call', async () => {
    await using session = await open(calling('length', ['look', '{"at":1}'], ['put', '']), say('ok'));
    await session.run('go');
    expect(runs).toEqual([['look', { at: 1 }]]);
    expect(session.results()).toHaveLength(1);
  });
  test('and nothing else is no reply', async () => {
    await using session = await open(calling('length', ['put', ' ']));
    expect(await session.run('go')).toMatchObject({ exitCode: 1 });
    expect(session.events('error')).toMatchObject([{ code: 'EMPTY_REPLY' }]);
    expect(runs).toEqual([]);
  });
  test('runs it where the reply was complete', async () => {
    await using session = await open(calling('calls', ['put', '']), say('ok'));
    await session.run('go');
    expect(runs).toEqual([['put', {}]]);
  });
});

describe('a reply at the end of the context window', () => {
  const provider = (deltas: readonly Delta[], info?: Partial<ModelInfo>) =>
    definePlugin({
      name: 'own',
      apply: ({ registries }) =>
        void registries.providers.add({
          name: 'own',
          async *stream() {
            yield* deltas;
          },
          ...(info ? { info: (id: string) => ({ id, ...info }) } : {}),
        }),
    });
  const usage = (promptTokens: number, completionTokens = 0): Delta => ({ type: 'usage', promptTokens, completionTokens });
  const stop: Delta = { type: 'end', reason: 'stop' };
  const length: Delta = { type: 'end', reason: 'length' };
  const text: Delta = { type: 'text', text: 'half of an' };
  const WINDOW = { contextWindow: 4_096 };
  const LONG = 'word '.repeat(4_000);

  test.each<[name: string, deltas: readonly Delta[], prompt: string, code: string, info?: Partial<ModelInfo>]>([
    ['empty, by the count of the provider', [usage(4_096), stop], 'go', 'MODEL_OVERFLOW', WINDOW],
    ['empty, by an estimate', [stop], LONG, 'MODEL_OVERFLOW', WINDOW],
    ['cut, by the count of the provider', [text, usage(4_000, 96), length], 'go', 'MODEL_OVERFLOW', WINDOW],
    ['empty with room left', [usage(4_000), stop], 'go', 'EMPTY_REPLY', WINDOW],
    ['cut with room left', [text, usage(3_000, 96), length], 'go', 'CUT_OFF', WINDOW],
    ['cut, with no count', [text, length], LONG, 'CUT_OFF', WINDOW],
    ['empty, in a window that nobody knows', [usage(200_000), stop], 'go', 'EMPTY_REPLY'],
  ])('%s', async (_name, deltas, prompt, code, info) => {
    await using session = await createTestSession({ plugins: [provider(deltas, info)], config: { provider: 'own' } });
    await session.run(prompt);
    expect(session.events('error')).toMatchObject([{ code }]);
  });
  test('is measured by the window that is configured, when nobody else knows it', async () => {
    await using session = await createTestSession({ plugins: [provider([usage(2_000), stop])], config: { provider: 'own', limits: { contextWindow: 2_000 } } });
    await session.run('go');
    expect(session.events('error')).toMatchObject([{ code: 'MODEL_OVERFLOW', message: expect.stringContaining('2000') }]);
  });
});
