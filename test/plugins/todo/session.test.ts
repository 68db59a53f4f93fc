import { describe, expect, test } from 'vitest';
import { definePlugin, type CastEvent, type ModelRequest } from '../../../kernel/index.ts';
import { createTestSession, say, type TestSession, use } from '../../../kernel/testkit/index.ts';
import { LIMITS } from '../../../plugins/todo/limits.ts';
import plugin from '../../../plugins/todo/index.ts';

type Given = readonly object[];
const todo = (content: string, status = 'pending', priority = 'medium'): object => ({ content, status, priority });
const write = (...todos: Given) => use('todo_write', { todos });
/** Each stop of a model with open todos costs two nudges. */
const stops = (text: string) => [say(text), say(text), say(text)];

const LIST: Given = [
  todo('Read the code', 'completed', 'high'),
  todo('Write the test', 'in_progress', 'high'),
  todo('Ship', 'pending', 'low'),
  todo('Dance', 'cancelled'),
];

const named = (session: TestSession, name: string): readonly unknown[] =>
  session.all().flatMap((event: CastEvent) => (event.type === 'plugin' && event.data.plugin === 'todo' && event.data.name === name ? [event.data.data] : []));
const listIn = async (session: TestSession): Promise<unknown> => session.client.command('todo', '');

describe('todo_write', () => {
  test('keeps the list, answers with it, and shows it everywhere', async () => {
    await using session = await createTestSession({ plugins: [plugin as never], script: [write(...LIST), ...stops('done')] });
    await session.run('go');
    const [ended] = session.events('tool.ended');
    expect(JSON.parse(ended?.content ?? '')).toEqual({ todos: LIST, remaining: 2 });
    const lines = '- [x] (high) Read the code\n- [~] (high) Write the test\n- [ ] (low) Ship\n- [-] (medium) Dance';
    const progress = { kind: 'progress', text: 'Write the test', done: 1, total: 3 };
    const sketch = { kind: 'rows', rows: [progress, { kind: 'text', text: lines }] };
    expect(ended?.view).toEqual(sketch);
    expect(await listIn(session)).toEqual({ ok: true, result: sketch });
    expect(named(session, 'todos_updated')).toEqual([{ todos: LIST }]);
    expect((await session.client.snapshot()).panels).toEqual([{ name: 'todo', place: 'above-input', sketch: progress }]);
    expect(named(session, 'panel.redraw')).toEqual([{ panel: 'todo' }]);
    // Nothing of it stands in the prefix, which would change with it.
    expect(session.requests.map(({ system }) => system).join()).not.toContain('Ship');
    expect(new Set(session.requests.map(({ tools }) => JSON.stringify(tools))).size).toBe(1);
  });

  test('replaces all of the list, in one line a todo, of middle priority unless something else is said', async () => {
    const script = [write(...LIST), write({ content: ' Two\n lines ', status: 'completed' }), say('done')];
    await using session = await createTestSession({ plugins: [plugin as never], script });
    await session.run('go');
    expect(JSON.parse(session.events('tool.ended')[1]?.content ?? '')).toEqual({ todos: [todo('Two lines', 'completed')], remaining: 0 });
    // A list on which nothing is left takes no room.
    expect((await session.client.snapshot()).panels).toEqual([]);
  });

  test('holds nothing that steers a terminal', async () => {
    await using session = await createTestSession({ plugins: [plugin as never], script: [write(todo('\u001b[2JRead\u0000 it\u0007')), ...stops('done')] });
    await session.run('go');
    expect(named(session, 'todos_updated')).toEqual([{ todos: [todo('[2JRead it')] }]);
  });

  test('is empty when it is told so', async () => {
    await using session = await createTestSession({ plugins: [plugin as never], script: [write(...LIST), write(), say('done')] });
    await session.run('go');
    expect(session.events('tool.ended')[1]?.content).toBe('{"todos":[],"remaining":0}');
    expect(await listIn(session)).toMatchObject({ result: { text: 'There are no todos.' } });
  });

  test.each<[string, Given, RegExp]>([
    ['a status that there is not', [todo('A'), todo('B', 'done')], /todos\[1\]\.status.*"pending"/],
    ['a priority that there is not', [todo('A', 'pending', 'urgent')], /todos\[0\]\.priority.*"high"/],
    ['no status', [todo('A'), { content: 'B' }], /todos\[1\].*status/],
    ['no text', [todo('A'), { status: 'pending' }], /todos\[1\].*content/],
    ['an empty text', [todo('A'), todo('B'), todo(' \n\u0000')], /todos\[2\]\.content is empty/],
    ['a text that is no text', [{ content: 7, status: 'pending' }], /todos\[0\]\.content/],
    ['the same text twice', [todo('A b'), todo('C'), todo('A\n b', 'completed')], /todos\[2\] has the same text as todos\[0\] \("A b"\)/],
    ['two in progress', [todo('A', 'in_progress'), todo('B'), todo('C', 'in_progress')], /todos\[2\] is in_progress, and so is todos\[0\]/],
    ['a long text', [todo('A'), todo('x'.repeat(LIMITS.contentChars + 1))], /todos\[1\]\.content.*500/],
    ['too many', Array.from({ length: LIMITS.todos + 1 }, (_, index) => todo(`${index}`)), /todos: .*100/],
  ])('%s changes nothing, and the error says where', async (_, todos, problem) => {
    await using session = await createTestSession({ plugins: [plugin as never], script: [write(...LIST), write(...todos), ...stops('sorry')] });
    await session.run('go');
    const result = session.events('tool.ended')[1];
    expect(result).toMatchObject({ status: 'error', error: { code: 'INVALID_ARGUMENT' } });
    expect(result?.content).toMatch(problem);
    expect(JSON.stringify(await listIn(session))).toContain('Write the test');
    expect(named(session, 'todos_updated')).toHaveLength(1);
  });

  test('is not stopped by a line break that stands in its JSON', async () => {
    const raw = '{"todos":[{"content":"one\nline","status":"completed","priority":"high"}]}';
    await using session = await createTestSession({ plugins: [plugin as never], script: [use('todo_write', raw), say('done')] });
    await session.run('go');
    expect(session.events('tool.ended')[0]?.content).toContain('"content":"one line"');
  });
});

describe('/todo', () => {
  test('clears the list, and the model is told', async () => {
    await using session = await createTestSession({ plugins: [plugin as never], script: [write(...LIST), ...stops('done'), say('fine')] });
    await session.run('go');
    expect(await session.client.command('todo', ' clear ')).toEqual({ ok: true, result: 'The todo list is empty.' });
    expect(named(session, 'todos_updated').at(-1)).toEqual({ todos: [] });
    expect((await session.client.snapshot()).panels).toEqual([]);
    await session.run('next');
    const texts = textsOf(session.requests.at(-1));
    expect(texts.at(-2)).toMatch(/user has cleared the todo list/);
    expect(texts.at(-1)).toBe('next');
    // Nothing to clear is nothing to tell.
    const before = (await session.entries()).length;
    await session.client.command('todo', 'clear');
    expect(await session.entries()).toHaveLength(before);
  });

  test('knows no other word', async () => {
    await using session = await createTestSession({ plugins: [plugin as never] });
    expect(await session.client.command('todo', 'drop')).toMatchObject({ ok: false, code: 'CLI_USAGE', suggestedFix: '/todo [clear]' });
  });

  test('shows the list beside a turn, but does not clear it there', async () => {
    const outcomes: unknown[] = [];
    const looking = definePlugin({
      name: 'looking',
      apply: ({ hooks }) =>
        hooks.reply.tap('look', async () => {
          outcomes.push(await session.client.command('todo', ''), await session.client.command('todo', 'clear'));
        }),
    });
    await using session = await createTestSession({ plugins: [plugin as never, looking as never], script: [say('done')] });
    await session.run('go');
    expect(outcomes).toMatchObject([{ ok: true }, { ok: false, code: 'SESSION_BUSY' }]);
  });
});

const textsOf = (request: ModelRequest | undefined): readonly string[] =>
  (request?.messages ?? []).flatMap((message) => message.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])));
