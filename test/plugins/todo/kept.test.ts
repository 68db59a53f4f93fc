/** What becomes of the list when the conversation is shortened, left, taken up again or turned back. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { definePlugin, type ModelRequest, type Plugin } from '../../../kernel/index.ts';
import { type Beat, say, use } from '../../../kernel/testkit/index.ts';
import { type Home, makeHome, type Started } from '../../home.ts';

let home: Home;
beforeEach(() => {
  home = makeHome();
});
afterEach(() => home.remove());

const write = (...todos: readonly (readonly [content: string, status: string])[]): Beat =>
  use('todo_write', { todos: todos.map(([content, status]) => ({ content, status, priority: 'high' })) });
const stops: readonly Beat[] = [say('1'), say('2'), say('3')];

/** `/shorten` leaves the newest prompt and what follows it. */
const shortener = definePlugin({
  name: 'shortener',
  apply({ hooks, registries }) {
    hooks.compact.tap('keep the newest', ({ cuts }) => ({ summary: 'It began.', keepFrom: cuts.at(-1) ?? '' }));
    registries.commands.add({ name: 'shorten', summary: 'Compacts.', run: async (_, { session, signal }) => void (await session.compact('command', signal)) });
  },
}) as Plugin;
const plugins = [shortener];

const notes = (request: ModelRequest | undefined): readonly string[] =>
  (request?.messages ?? []).flatMap(({ origin, blocks }) => (origin === 'todo' ? blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])) : []));
const lists = (request: ModelRequest | undefined): readonly string[] => notes(request).filter((text) => text.includes('Your todo list'));
const shown = async ({ client }: Started): Promise<string> => JSON.stringify(await client.command('todo', ''));

test('B057: a compaction does not take the open todos away, and the done ones are not listed as open', async () => {
  const session = await home.start([write(['Read it', 'completed'], ['Write it', 'pending']), ...stops, ...stops, ...stops, ...stops], { plugins });
  await session.run('one');
  await session.run('two');
  expect(lists(session.requests.at(-1))).toEqual([]);
  expect(await session.client.command('shorten', '')).toMatchObject({ ok: true });
  await session.run('three');
  const first = session.requests.find((request) => JSON.stringify(request.messages).includes('three'));
  expect(lists(first)).toEqual([
    '<system-reminder>\nYour todo list, 1 of 2 done. These are open:\n- [ ] (high) Write it\nKeep it up to date with todo_write.\n</system-reminder>',
  ]);
  // Once, and in force from then on.
  await session.run('four');
  expect(lists(session.requests.at(-1))).toHaveLength(1);
});

test('of many open todos eight are named, and the number of the others', async () => {
  const many = Array.from({ length: 11 }, (_, index) => [`Step ${index + 1}`, 'pending'] as const);
  const session = await home.start([write(...many), ...stops, ...stops, ...stops], { plugins });
  await session.run('one');
  await session.run('two');
  await session.client.command('shorten', '');
  await session.run('three');
  const [text = ''] = lists(session.requests.at(-1));
  expect(text.match(/- \[ \]/g)).toHaveLength(8);
  expect(text).toContain('- [ ] (high) Step 8\n(3 more)\n');
});

test('nothing is told of a list on which nothing is open', async () => {
  const session = await home.start([write(['Read it', 'completed']), say('1'), say('2'), say('3')], { plugins });
  await session.run('one');
  await session.run('two');
  await session.client.command('shorten', '');
  await session.run('three');
  expect(notes(session.requests.at(-1))).toEqual([]);
});

describe('after a restart', () => {
  test('B050: the list is as it was, and nothing is written by opening', async () => {
    const before = await home.start([write(['Read it', 'in_progress']), ...stops]);
    await before.run('one');
    const [list, entries] = [await shown(before), await before.entries()];
    await before.stop();
    const session = await home.start([...stops], { session: before.id });
    expect(await shown(session)).toBe(list);
    expect(await session.entries()).toEqual(entries);
    expect((await session.client.snapshot()).panels).toMatchObject([{ name: 'todo', sketch: { text: 'Read it', done: 0, total: 1 } }]);
    await session.run('two');
    // The call is still in view, so the model is told nothing.
    expect(lists(session.requests[0])).toEqual([]);
    expect(session.requests[0]?.system).toBe(before.requests[0]?.system);
  });

  test('the model is told when its call is no longer in view', async () => {
    const before = await home.start([write(['Read it', 'in_progress']), ...stops, ...stops], { plugins });
    await before.run('one');
    await before.run('two');
    await before.client.command('shorten', '');
    await before.stop();
    const session = await home.start([...stops, ...stops], { plugins, session: before.id });
    await session.run('three');
    await session.run('four');
    expect(lists(session.requests[0])).toHaveLength(1);
    expect(lists(session.requests.at(-1))).toHaveLength(1);
  });
});

describe('the branch decides', () => {
  test('a rewind brings back the list of before, and surfaces learn of it', async () => {
    const session = await home.start([write(['Read it', 'pending']), ...stops, write(['Write it', 'completed']), say('x')]);
    await session.run('one');
    await session.run('two');
    expect(await shown(session)).toContain('Write it');
    await session.client.rewind({ turn: 2 });
    expect(await shown(session)).toContain('[ ] (high) Read it');
    await session.client.rewind({ turn: 1 });
    expect(await shown(session)).toContain('There are no todos.');
    const updates = (): readonly unknown[] =>
      session.log.of('plugin').flatMap(({ plugin, name, data }) => (plugin === 'todo' && name === 'todos_updated' ? [data] : []));
    const todo = (content: string, status: string) => ({ todos: [{ content, status, priority: 'high' }] });
    const expected = [todo('Read it', 'pending'), todo('Write it', 'completed'), todo('Read it', 'pending'), { todos: [] }];
    await vi.waitFor(() => expect(updates()).toEqual(expected));
  });

  test('a rewind to where the list is out of view tells the model', async () => {
    const session = await home.start([write(['Read it', 'pending']), ...stops, ...stops, write(['Write it', 'pending']), ...stops, ...stops], {
      plugins,
    });
    await session.run('one');
    await session.run('two');
    await session.client.command('shorten', '');
    await session.run('three');
    await session.client.rewind({ turn: 3 });
    await session.run('four');
    expect(lists(session.requests.at(-1))).toMatchObject([expect.stringContaining('- [ ] (high) Read it')]);
  });
});
