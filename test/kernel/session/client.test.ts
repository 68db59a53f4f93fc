/** The client contract in-process. The suite is a function, so that a remote client can be held to the same. */
import { describe, expect, test } from 'vitest';
import { definePlugin, defineTool, jsonSchema } from 'cast';
import { createTestSession, hang, say, use, type Beat, type TestSessionOptions } from 'cast/testkit';

const commands = definePlugin({
  name: 'commands',
  apply: ({ registries, state }) => {
    const notes = state({
      name: 'notes',
      data: jsonSchema<{ text: string }>({ type: 'object', required: ['text'] }),
      initial: [] as string[],
      fold: (list, { text }) => [...list, text],
    });
    registries.commands.add({
      name: 'note',
      summary: 'adds a note',
      args: 'TEXT',
      run: async (text) => (await notes.record({ text }), `${notes.value.length} notes`),
    });
    registries.commands.add({ name: 'notes', summary: 'lists them', whileRunning: true, run: () => notes.value.join(', ') });
    registries.commands.add({ name: 'fail', summary: 'fails', run: () => Promise.reject(new Error('no luck')) });
    registries.panels.add({ name: 'count', place: 'status', draw: () => ({ kind: 'text', text: `${notes.value.length}` }) });
    registries.tools.add(defineTool({ name: 'x', description: 'x', effect: 'read', input: jsonSchema<object>({ type: 'object' }), run: async () => 'x' }));
  },
});
const open = (script: readonly Beat[], more: TestSessionOptions = {}) => createTestSession({ plugins: [commands], script, ...more });
const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

describe('client contract', () => {
  test('everything it gives can be written as JSON', async () => {
    await using session = await open([use('x'), say('done')]);
    await session.run('go');
    const { client } = session;
    for (const value of [await client.snapshot(), await client.page(), await client.report(), ...session.all()]) expect(plain(value)).toEqual(value);
  });

  test('a snapshot says what a surface needs to draw', async () => {
    await using session = await open([say('done')]);
    await session.run('go');
    expect(await session.client.snapshot()).toMatchObject({
      session: session.id,
      status: 'idle',
      turn: 1,
      model: 'script-model',
      tools: ['x'],
      queue: [],
      questions: [],
      panels: [{ name: 'count', place: 'status', sketch: { text: '0' } }],
    });
    expect((await session.client.snapshot()).commands.map((each) => each.name)).toEqual(['note', 'notes', 'fail']);
  });

  test('events rise by one, say where they belong, and can be read from any point', async () => {
    await using session = await open([use('x'), say('done')]);
    await session.run('go');
    const all = session.all();
    expect(all.map((event) => event.seq)).toEqual(all.map((_, index) => index + 1));
    expect(all.find((event) => event.type === 'reply.accepted')).toMatchObject({ turn: 1, step: 1, session: session.id });
    const later: number[] = [];
    const controller = new AbortController();
    for await (const event of session.client.events(5, controller.signal)) {
      later.push(event.seq);
      if (event.seq === all.length) controller.abort();
    }
    expect(later).toEqual(all.slice(5).map((event) => event.seq));
  });

  test('pages go back from the newest, oldest first', async () => {
    await using session = await open([say('one'), say('two'), say('three')]);
    for (const text of ['a', 'b', 'c']) await session.run(text);
    const newest = await session.client.page(undefined, 4);
    expect(newest.items.map((item) => (item.kind === 'message' ? item.message.blocks[0] : item))).toMatchObject([
      { text: 'b' },
      { text: 'two' },
      { text: 'c' },
      { text: 'three' },
    ]);
    const older = await session.client.page(newest.before ?? 0, 4);
    expect(older.items).toHaveLength(2);
    expect(older.before).toBeNull();
  });

  test('the same client id again is the same submission', async () => {
    await using session = await open([say('one'), say('two')]);
    const ended = session.until('turn.ended');
    expect(await session.client.submit({ text: 'go', clientId: 'c1' })).toEqual({ state: 'started', turn: 1 });
    await ended;
    expect(await session.client.submit({ text: 'go', clientId: 'c1' })).toEqual({ state: 'repeated' });
    expect(session.requests).toHaveLength(1);
  });

  test('an empty prompt is refused', async () => {
    await using session = await open([say('one')]);
    await expect(session.client.submit({ text: '  ', clientId: 'c' })).rejects.toMatchObject({ code: 'INPUT_EMPTY' });
  });

  test('a second submission waits for its turn; queued items can be edited and removed', async () => {
    await using session = await open([
      async function* () {
        await new Promise((resolve) => setTimeout(resolve, 150));
        yield* say('one')(undefined as never, undefined as never) as Iterable<never>;
      },
      say('two'),
      say('three'),
    ]);
    const first = session.run('a');
    await session.until('input.accepted');
    const { client } = session;
    const b = await client.queue('b', 'b');
    const c = await client.submit({ text: 'c', clientId: 'c' });
    const d = await client.queue('d', 'd');
    expect([b, c, d].map((outcome) => outcome.state)).toEqual(['queued', 'queued', 'queued']);
    const ids = (await client.snapshot()).queue.map((item) => item.id);
    expect(await client.editQueued(ids[0] ?? '', 'B')).toBe(true);
    expect(await client.removeQueued(ids[1] ?? '')).toBe(true);
    expect(await client.removeQueued(ids[1] ?? '')).toBe(false);
    await first;
    await session.until('turn.ended', (end) => end.turn === 3);
    const prompts = session.requests.map((request) => request.messages.filter((message) => message.role === 'user').at(-1)?.blocks[0]);
    expect(prompts).toMatchObject([{ text: 'a' }, { text: 'B' }, { text: 'd' }]);
  });

  test('steered text reaches the running turn at its next step, before what is queued', async () => {
    await using session = await open([
      async function* () {
        await new Promise((resolve) => setTimeout(resolve, 100));
        yield* say('one')(undefined as never, undefined as never) as Iterable<never>;
      },
      say('two'),
      say('three'),
    ]);
    const first = session.run('x');
    await session.until('input.accepted');
    await session.client.queue('later', 'q');
    await session.client.steer('wait', 's');
    expect(await first).toMatchObject({ turn: 1, steps: 2 });
    await session.until('turn.ended', (end) => end.turn === 2);
    expect(JSON.stringify(session.requests[1]?.messages.at(-1))).toContain('wait');
    expect(JSON.stringify(session.requests[2]?.messages.at(-1))).toContain('later');
  });

  test('an abort keeps the queue and does not run it', async () => {
    await using session = await open([hang(), say('two')]);
    const first = session.run('x');
    await session.until('input.accepted');
    await session.client.queue('later', 'q');
    await session.client.steer('also', 's');
    await session.client.abort();
    expect(await first).toMatchObject({ reason: 'aborted' });
    expect((await session.client.snapshot()).queue.map((item) => item.text)).toEqual(['also', 'later']);
    expect(session.requests.length).toBeLessThanOrEqual(1);
    expect((await session.client.snapshot()).status).toBe('idle');
  });

  test('B016: two prompts ten milliseconds apart: one turn at a time, the second behind the first, and the history alternates', async () => {
    await using session = await open([
      async function* () {
        await new Promise((resolve) => setTimeout(resolve, 150));
        yield* say('one')(undefined as never, undefined as never) as Iterable<never>;
      },
      say('two'),
      say('three'),
    ]);
    const { client } = session;
    const first = await client.submit({ text: 'a', clientId: 'a' });
    await new Promise((resolve) => setTimeout(resolve, 10));
    const second = await client.submit({ text: 'b', clientId: 'b' });
    expect([first.state, second.state]).toEqual(['started', 'queued']);
    await session.until('turn.ended', (end) => end.turn === 2);
    // What the first one leaves behind must not end or release what came after it.
    expect(await session.run('c')).toMatchObject({ turn: 3, reason: 'stop' });
    const turns = session.all().flatMap(({ type }) => (type === 'turn.started' || type === 'turn.ended' ? [type] : []));
    expect(turns).toEqual(['turn.started', 'turn.ended', 'turn.started', 'turn.ended', 'turn.started', 'turn.ended']);
    const said = session.requests.at(-1)?.messages.map(({ role }) => role);
    expect(said).toEqual(['user', 'assistant', 'user', 'assistant', 'user']);
  });

  test('B017: of three that are queued one is removed; an abort consumes none, and the others come in order', async () => {
    await using session = await open([hang(), say('one'), say('two'), say('three')]);
    const { client } = session;
    const running = session.run('x');
    await expect.poll(() => session.requests.length).toBe(1);
    for (const text of ['A', 'B', 'C']) await client.queue(text, text);
    const [, b] = (await client.snapshot()).queue;
    expect(await client.removeQueued(b?.id ?? '')).toBe(true);
    await client.abort();
    expect(await running).toMatchObject({ reason: 'aborted' });
    expect((await client.snapshot()).queue.map(({ text }) => text)).toEqual(['A', 'C']);
    await client.submit({ text: 'next', clientId: 'next' });
    await session.until('turn.ended', (end) => end.turn === 4);
    const prompts = session.requests.map(({ messages }) => (messages.findLast(({ role }) => role === 'user')?.blocks[0] as { text: string } | undefined)?.text);
    expect(prompts.filter((text) => text !== 'x')).toEqual(['next', 'A', 'C']);
    expect(JSON.stringify(session.requests)).not.toContain('"B"');
  });

  test('B017: one that is being edited is delivered as it was last saved, and never twice', async () => {
    await using session = await open([hang(), say('one'), say('two')]);
    const { client } = session;
    const running = session.run('x');
    await expect.poll(() => session.requests.length).toBe(1);
    await client.queue('draft', 'd');
    const [item] = (await client.snapshot()).queue;
    expect(await client.editQueued(item?.id ?? '', 'final')).toBe(true);
    await client.abort();
    await running;
    await client.submit({ text: 'next', clientId: 'next' });
    await session.until('turn.ended', (end) => end.turn === 3);
    expect(await client.editQueued(item?.id ?? '', 'too late')).toBe(false);
    const sent = JSON.stringify(session.requests.at(-1)?.messages);
    expect(sent.match(/final/g)).toHaveLength(1);
    expect(sent).not.toMatch(/draft|too late/);
  });

  test('commands answer, fail with a code, and wait while a turn runs unless they need not', async () => {
    await using session = await open([hang()]);
    const { client } = session;
    expect(await client.command('note', 'milk')).toEqual({ ok: true, result: '1 notes' });
    expect(await client.command('nope', '')).toMatchObject({ ok: false, code: 'CLI_USAGE' });
    expect(await client.command('fail', '')).toMatchObject({ ok: false, message: 'no luck' });
    const running = session.run('x');
    await session.until('input.accepted');
    expect(await client.command('note', 'eggs')).toMatchObject({ ok: false, code: 'SESSION_BUSY' });
    expect(await client.command('notes', '')).toEqual({ ok: true, result: 'milk' });
    await client.abort();
    await running;
  });

  test('rewind takes turns out of the view and state, and leaves them in the store', async () => {
    await using session = await open([say('one'), say('two'), say('three')]);
    await session.run('a');
    await session.client.command('note', 'kept?');
    await session.run('b');
    await session.client.rewind({ turn: 2 });
    expect(await session.client.command('notes', '')).toEqual({ ok: true, result: 'kept?' });
    await session.client.rewind({ turn: 1 });
    expect(await session.client.command('notes', '')).toEqual({ ok: true, result: '' });
    await session.run('c');
    expect(session.requests[2]?.messages.map((message) => message.blocks[0])).toMatchObject([{ text: 'c' }]);
    expect(JSON.stringify(await session.store.read(session.id, { limit: 100 }))).toContain('two');
    await expect(session.client.rewind({ turn: 9 })).rejects.toMatchObject({ code: 'HISTORY_BAD_MOVE' });
  });

  test('a question is answered once: the first answer wins', async () => {
    const asker = definePlugin({ name: 'asker', apply: ({ hooks }) => hooks.gate.tap('ask', () => ({ ask: 'sure?', rule: 'x' })) });
    await using session = await open([use('x'), say('done')], { plugins: [commands, asker], interactive: true });
    const running = session.run('go');
    const { question } = await session.until('question.asked');
    expect(await session.client.snapshot()).toMatchObject({ status: 'waiting', questions: [{ id: question.id, text: 'sure?' }] });
    expect(question.choices.map((choice) => choice.value)).toEqual(['once', 'session', 'project', 'reject']);
    expect(await session.client.answer(question.id, 'no such choice')).toBe(false);
    expect(await session.client.answer(question.id, 'once')).toBe(true);
    expect(await session.client.answer(question.id, 'reject')).toBe(false);
    await running;
    expect(session.results()).toMatchObject([{ status: 'ok' }]);
    expect((await session.client.snapshot()).questions).toEqual([]);
  });

  test('an abort withdraws an open question', async () => {
    const asker = definePlugin({ name: 'asker', apply: ({ hooks }) => hooks.gate.tap('ask', () => ({ ask: 'sure?' })) });
    await using session = await open([use('x'), say('done')], { plugins: [commands, asker], interactive: true });
    const running = session.run('go');
    await session.until('question.asked');
    await session.client.abort();
    expect(await running).toMatchObject({ reason: 'aborted' });
    expect((await session.client.snapshot()).questions).toEqual([]);
  });
});

test('an abort reaches a command that is running', async () => {
  const waiting = definePlugin({
    name: 'waiting',
    apply: ({ registries }) =>
      void registries.commands.add({
        name: 'wait',
        summary: 'x',
        surfaces: ['tui'],
        run: (_, at) => new Promise<string>((resolve) => at.signal.addEventListener('abort', () => resolve('stopped'), { once: true })),
      }),
  });
  await using session = await createTestSession({ plugins: [waiting] });
  const running = session.client.command('wait', '');
  await new Promise((resolve) => setTimeout(resolve, 20));
  await session.client.abort();
  expect(await running).toEqual({ ok: true, result: 'stopped' });
  expect((await session.client.snapshot()).commands).toMatchObject([{ name: 'wait', surfaces: ['tui'] }]);
});

test('an error of ours in a provider keeps its own code and is not retried', async () => {
  const { CastError } = await import('cast');
  await using session = await createTestSession({
    plugins: [definePlugin({ name: 'retrying', apply: ({ hooks }) => hooks.failure.tap('again', () => ({ retry: { reason: 'again' } })) })],
    script: [
      () => {
        throw new CastError('REPLAY_INVALID', 'no such recording');
      },
    ],
  });
  expect(await session.run('go')).toMatchObject({ exitCode: 3 });
  expect(session.events('error')).toMatchObject([{ code: 'REPLAY_INVALID', message: 'no such recording' }]);
});
