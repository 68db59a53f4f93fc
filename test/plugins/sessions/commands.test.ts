import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { checkedBy, definePlugin, type ModelRequest, type Store } from '../../../kernel/index.ts';
import { createMemoryStore } from '../../../kernel/session/memory-store.ts';
import { createTestSession, manualClock, say, type TestSession, use } from '../../../kernel/testkit/index.ts';
import sessions from '../../../plugins/sessions/index.ts';
import todo from '../../../plugins/todo/index.ts';

const NUMBER = checkedBy<{ readonly add: number }>('a number', ({ add }) => typeof add === 'number');
/** `/add N`, `/sum`, and `/cut`, which compacts before the newest prompt. */
const counting = definePlugin({
  name: 'counting',
  apply: ({ state, registries, session, hooks }) => {
    const sum = state<number, typeof NUMBER>({ name: 'sum', data: NUMBER, initial: 0, fold: (total, { add }) => total + add });
    registries.commands.add({ name: 'add', summary: 'add', run: (args) => sum.record({ add: Number(args) }) });
    registries.commands.add({ name: 'sum', summary: 'sum', run: () => String(sum.value) });
    const cut = async (): Promise<void> => void (await session.compact('command', new AbortController().signal));
    registries.commands.add({ name: 'cut', summary: 'cut', run: cut });
    hooks.compact.tap('cut', ({ cuts }) => ({ summary: 'earlier things', keepFrom: cuts.at(-1) ?? '' }));
  },
});
const open = (store: Store, session?: string): Promise<TestSession> =>
  createTestSession({
    plugins: { sessions, todo, counting },
    store,
    cwd: tmpdir(),
    script: Array.from({ length: 9 }, (_, index) => say(`answer ${index + 1}`)),
    ...(session === undefined ? {} : { session }),
  });
const textsOf = (request: ModelRequest | undefined): readonly string[] =>
  (request?.messages ?? []).flatMap(({ blocks }) => blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])));
const goesTo = async (session: TestSession, command: string): Promise<string | null | undefined> => {
  const outcome = await session.client.command(command, '');
  if (!outcome.ok) throw new Error(outcome.message);
  return outcome.session;
};

test('/fork goes on with what the model sees now; the session it comes from stays as it is', async () => {
  const store = createMemoryStore(manualClock());
  await using first = await open(store);
  await first.run('one');
  await first.client.command('add', '3');
  await first.client.command('cut', '');
  await first.run('two');
  await first.client.command('add', '4');
  const before = await store.branch(first.id);

  const id = (await goesTo(first, 'fork')) ?? '';
  expect(await store.branch(first.id)).toEqual(before);
  const [source, fork] = [await store.get(first.id), await store.get(id)];
  expect(fork).toMatchObject({ title: 'one (fork)', cwd: source?.cwd, root: source?.root, model: source?.model, kind: 'conversation', parent: null });

  await using second = await open(store, id);
  expect(await second.client.command('sum', '')).toMatchObject({ result: '7' });
  await second.run('three');
  await first.run('other');
  expect(textsOf(second.requests[0])).toEqual([expect.stringContaining('earlier things'), 'one', 'answer 1', 'two', 'answer 2', 'three']);
  expect(textsOf(first.requests.at(-1)).at(-1)).toBe('other');
  expect((await store.branch(first.id)).map(({ id: entry }) => entry)).toEqual(expect.arrayContaining(before.map(({ id: entry }) => entry)));
});

test('what was cut away and what was rewound does not come along', async () => {
  const store = createMemoryStore(manualClock());
  await using first = await open(store);
  for (const prompt of ['one', 'two', 'three']) await first.run(prompt);
  await first.client.command('cut', '');
  await first.client.rewind({ turn: 3 });
  await first.run('instead of three');
  await first.client.command('cut', '');
  const id = (await goesTo(first, 'fork')) ?? '';
  const everything = JSON.stringify(await store.read(id, { limit: 1_000 }));
  expect(everything).not.toMatch(/"(?:one|two|three)"/);
  expect(everything).toContain('instead of three');
  await using second = await open(store, id);
  await second.run('on');
  expect(textsOf(second.requests[0])).toEqual([expect.stringContaining('earlier things'), 'instead of three', 'answer 4', 'on']);
  await second.client.rewind({ turn: 4 });
  expect(textsOf(second.requests[0])).toHaveLength(4);
});

test('a list of todos is in the fork as well, and each goes on with its own', async () => {
  const store = createMemoryStore(manualClock());
  const todos = [{ content: 'a', status: 'pending', priority: 'high' }];
  const first = await createTestSession({
    plugins: { sessions, todo },
    store,
    cwd: tmpdir(),
    script: [use(['todo_write', { todos }]), say('ok'), say('ok'), say('ok')],
  });
  await first.run('plan');
  const id = (await goesTo(first, 'fork')) ?? '';
  await using second = await open(store, id);
  await second.client.command('todo', 'clear');
  expect(JSON.stringify(await first.client.command('todo', ''))).toContain('(high) a');
  expect(JSON.stringify(await second.client.command('todo', ''))).not.toContain('(high) a');
  await first.close();
});

test('a fork of a session in which nothing was said is an empty one', async () => {
  const store = createMemoryStore(manualClock());
  await using first = await open(store);
  const id = (await goesTo(first, 'fork')) ?? '';
  await using second = await open(store, id);
  await second.run('hello');
  expect(textsOf(second.requests[0])).toEqual(['hello']);
});

test('/new goes to a new session, /continue to the newest other one of the project', async () => {
  const store = createMemoryStore(manualClock());
  await using first = await open(store);
  expect(await goesTo(first, 'new')).toBeNull();
  expect(await first.client.command('continue', '')).toEqual({ ok: true, result: 'There is no other session of this project.' });
  await first.run('first of all');
  await using second = await open(store);
  await second.run('second');
  expect(await second.client.command('continue', '')).toEqual({ ok: true, result: 'Going on with: first of all', session: first.id });
  expect(await goesTo(first, 'continue')).toBe(second.id);
});

test('/clear leaves the model nothing of what was said, in a later process either, and keeps it all', async () => {
  const store = createMemoryStore(manualClock());
  const first = await open(store);
  await first.run('one');
  expect(await first.client.command('clear', '')).toMatchObject({ ok: true, result: expect.stringContaining('empty') as string });
  await first.run('two');
  expect(textsOf(first.requests.at(-1))).toEqual(['two']);
  await first.close();
  await using second = await open(store, first.id);
  await second.run('three');
  expect(textsOf(second.requests[0])).toEqual(['two', 'answer 2', 'three']);
  const shown = (await second.client.page(undefined, 100)).items;
  expect(shown.flatMap((item) => (item.kind === 'message' ? item.message.blocks : []))).toContainEqual({ type: 'text', text: 'one' });
  await second.client.command('clear', '');
  expect(await second.client.command('clear', '')).toEqual({ ok: true, result: 'There is nothing to clear.' });
});

test('arguments that mean nothing are named', async () => {
  await using session = await open(createMemoryStore(manualClock()));
  for (const name of ['new', 'continue', 'fork', 'clear'])
    expect(await session.client.command(name, 'x')).toMatchObject({ ok: false, code: 'CLI_USAGE', message: `/${name} takes no arguments` });
});
