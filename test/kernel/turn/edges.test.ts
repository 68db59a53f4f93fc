/** Places where two things happen at once, or where code of a plugin is no tap. Each has gone wrong before. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { definePlugin, defineTool, jsonSchema, z, type Effect, type Store, type ToolCall } from 'cast';
import { createMemoryStore, createTestSession, fail, manualClock, say, use, type Beat } from 'cast/testkit';

const tool = (name: string, effect: Effect, run: (input: Record<string, unknown>, call: ToolCall) => Promise<string>) =>
  defineTool({ name, description: name, input: jsonSchema<Record<string, unknown>>({ type: 'object' }), effect, run });
const toolbox = (...tools: ReturnType<typeof tool>[]) =>
  definePlugin({
    name: 'toolbox',
    apply: ({ registries }) => {
      for (const each of tools) registries.tools.add(each);
    },
  });
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const texts = (messages: readonly { blocks: readonly { type: string; text?: string }[] }[] = []) =>
  messages.map((message) => message.blocks.map((block) => block.text ?? block.type).join());

/** A store that takes its time. */
const slowStore = (ms: number): Store => {
  const store = createMemoryStore(manualClock());
  return {
    ...store,
    append: async (...args) => {
      await pause(ms);
      return store.append(...args);
    },
  };
};

describe('writing', () => {
  test('a record that is under way does not turn a prompt away, nor the end of a turn a record', async () => {
    const noter = definePlugin({
      name: 'noter',
      apply: ({ state, registries, hooks }) => {
        const notes = state({ name: 'n', data: z.number(), initial: 0, fold: (sum, n) => sum + n });
        registries.commands.add({ name: 'note', summary: 'x', run: () => notes.record(1) });
        registries.commands.add({ name: 'sum', summary: 'x', run: () => String(notes.value) });
        hooks.ended.tap('late', () => void notes.record(10));
      },
    });
    await using session = await createTestSession({ plugins: [noter], script: [say('one'), say('two')], store: slowStore(20) });
    const noting = session.client.command('note', '');
    expect(await session.run('go')).toMatchObject({ reason: 'stop' });
    expect(await noting).toEqual({ ok: true });
    expect(await session.run('on')).toMatchObject({ reason: 'stop' });
    await pause(100);
    expect(await session.client.command('sum', '')).toEqual({ ok: true, result: '21' });
  });

  test('a fold that throws leaves the state as it was and the session open', async () => {
    const broken = (throws: boolean) =>
      definePlugin({
        name: 'broken',
        apply: ({ state, registries }) => {
          const slice = state({
            name: 's',
            data: z.number(),
            initial: 0,
            fold: (_, n) => {
              if (throws) throw new Error('fold broke');
              return n;
            },
          });
          registries.commands.add({ name: 'set', summary: 'x', run: () => slice.record(5) });
        },
      });
    const first = await createTestSession({ plugins: [broken(true)], script: [say('x')] });
    expect(await first.client.command('set', '')).toEqual({ ok: true });
    expect(first.events('warning')).toMatchObject([{ text: expect.stringMatching(/plugin broken.*fold broke/) }]);
    expect(await first.run('go')).toMatchObject({ reason: 'stop' });
    await using next = await createTestSession({ plugins: [broken(true)], script: [say('y')], store: first.store, session: first.id });
    expect(await next.run('on')).toMatchObject({ reason: 'stop' });
    await first.close();
  });

  test('a reminder from apply is kept', async () => {
    const early = definePlugin({ name: 'early', apply: ({ remind }) => void remind('first of all') });
    await using session = await createTestSession({ plugins: [early], script: [say('x')] });
    await session.run('go');
    expect(texts(session.requests[0]?.messages)).toEqual([expect.stringContaining('first of all'), 'go']);
  });
});

test('an answer that is none of the choices allows nothing', async () => {
  let runs = 0;
  const odd = definePlugin({
    name: 'odd',
    apply: ({ hooks }) => {
      hooks.gate.tap('ask', () => ({ ask: 'sure?' }));
      hooks.ask.tap('answer', () => ({ choice: 'deny', by: 'odd' }));
    },
  });
  await using session = await createTestSession({ plugins: [toolbox(tool('x', 'exec', async () => `run ${++runs}`)), odd], script: [use('x'), say('done')] });
  await session.run('go');
  expect([session.results()[0]?.status, runs]).toEqual(['denied', 0]);
  expect(session.events('warning')).toMatchObject([{ text: expect.stringMatching(/none of the choices/) }]);
});

describe('compaction', () => {
  const cutting = (pick: (cuts: readonly string[]) => string | undefined) =>
    definePlugin({
      name: 'cutting',
      apply: ({ hooks }) => {
        hooks.failure.tap('room', async (failure, at) =>
          failure.kind === 'overflow' && (await at.session.compact('overflow', at.signal)) ? { retry: { reason: 'cut' } } : undefined,
        );
        hooks.compact.tap('cut', (job) => {
          const keepFrom = pick(job.cuts);
          return keepFrom === undefined ? { cancel: 'nothing' } : { summary: 'SUM', keepFrom };
        });
      },
    });
  const reader = toolbox(tool('read', 'read', async () => 'text'));

  test('goes on cutting in one long turn, the prompt carried along each time', async () => {
    const script: Beat[] = [use('read'), use('read'), fail('overflow'), use('read'), use('read'), fail('overflow'), say('end')];
    await using session = await createTestSession({ plugins: [reader, cutting((cuts) => cuts.at(-1))], script });
    expect(await session.run('the prompt')).toMatchObject({ reason: 'stop' });
    expect(session.events('compacted')).toHaveLength(2);
    expect(texts(session.requests.at(-1)?.messages)).toEqual([expect.stringContaining('SUM'), 'the prompt', 'call', 'result']);
  });

  test('a plugin’s wish to go on does not take the place of the person’s prompt', async () => {
    let wishes = 0;
    const going = definePlugin({
      name: 'going',
      apply: ({ hooks }) => hooks.settle.tap('on', () => (wishes++ === 0 ? { continue: 'todos are open' } : undefined)),
    });
    await using session = await createTestSession({
      plugins: [reader, going, cutting((cuts) => cuts.at(-1))],
      script: [say('done?'), use('read'), fail('overflow'), say('end')],
    });
    expect(await session.run('<system-reminder> is a tag of mine')).toMatchObject({ reason: 'stop' });
    expect(texts(session.requests.at(-1)?.messages)).toContain('<system-reminder> is a tag of mine');
  });
});

describe('the working directory', () => {
  const mover = definePlugin({
    name: 'mover',
    apply: ({ registries, session }) => {
      registries.tools.add(tool('move', 'exec', async (input) => (session.moveTo(String(input['to'])), 'moved')));
      registries.tools.add(tool('where', 'exec', async (_, call) => call.cwd));
      registries.tools.add(
        tool('long', 'exec', (_, call) => new Promise((_resolve, reject) => call.signal.addEventListener('abort', () => reject(new Error('stopped'))))),
      );
    },
  });

  test('follows a move whose batch was aborted, for the result says so', async () => {
    await using session = await createTestSession({ plugins: [mover], script: [use(['move', { to: '/' }], ['long']), use('where'), say('x')] });
    void session.until('tool.ended').then(() => session.client.abort());
    expect(await session.run('go')).toMatchObject({ reason: 'aborted' });
    await session.run('on');
    expect(session.results().at(-1)?.content).toBe('/');
  });

  test('goes back with a rewind, and tells', async () => {
    await using session = await createTestSession({ plugins: [mover], script: [say('x'), use('move', { to: '/' }), say('y'), use('where'), say('z')] });
    await session.run('a');
    await session.run('b');
    expect((await session.client.snapshot()).cwd).toBe('/');
    await session.client.rewind({ turn: 2 });
    expect(session.events('workspace.moved')).toEqual([
      { from: session.cwd, to: '/' },
      { from: '/', to: session.cwd },
    ]);
    await session.run('c');
    expect(session.results().at(-1)?.content).toBe(session.cwd);
  });

  test('that is gone when a session is resumed is said, and the one of the start is taken', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cast-gone-'));
    const first = await createTestSession({ plugins: [mover], script: [use('move', { to: folder }), say('x')] });
    await first.run('a');
    rmSync(folder, { recursive: true });
    await using next = await createTestSession({ plugins: [mover], script: [use('where'), say('y')], store: first.store, session: first.id, cwd: tmpdir() });
    await next.run('b');
    expect(next.results().at(-1)?.content).toBe(tmpdir());
    expect(next.events('warning')).toMatchObject([{ code: 'FOLDER_GONE', text: expect.stringContaining(folder) }]);
    await first.close();
  });
});

describe('stopping', () => {
  test('between the yes and the start, nothing is begun', async () => {
    let runs = 0;
    const stop: { abort?: () => void } = {};
    const inner = createMemoryStore(manualClock());
    const store: Store = {
      ...inner,
      append: async (id, batch, how) => {
        if (batch.some((entry) => entry.kind === 'started')) stop.abort?.();
        return inner.append(id, batch, how);
      },
    };
    await using session = await createTestSession({
      plugins: [toolbox(tool('write', 'write', async () => `run ${++runs}`))],
      script: [use('write'), say('x')],
      store,
    });
    stop.abort = () => void session.client.abort();
    expect(await session.run('go')).toMatchObject({ reason: 'aborted' });
    expect(runs).toBe(0);
  });

  test('reaches past a provider that does not listen', async () => {
    const deaf: Beat = async function* () {
      yield { type: 'text', text: 'so' };
      await new Promise(() => undefined);
    };
    await using session = await createTestSession({ script: [deaf, say('next')] });
    void session.until('text.delta').then(() => session.client.abort());
    const startedAt = performance.now();
    expect(await session.run('go')).toMatchObject({ reason: 'aborted' });
    expect(performance.now() - startedAt).toBeLessThan(1000);
    expect(await session.run('on')).toMatchObject({ reason: 'stop' });
  });

  test('leaves no timer behind', async () => {
    const before = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const session = await createTestSession({ plugins: [toolbox(tool('x', 'read', async () => 'x'))], script: [use('x'), say('y')] });
    await session.run('go');
    await session.close();
    await pause(20);
    expect(process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length).toBeLessThanOrEqual(before);
  });
});

test('an ended tap that never settles is counted, and the taps behind it run', async () => {
  let heard = 0;
  const hanging = definePlugin({ name: 'hanging', apply: ({ hooks }) => hooks.ended.tap('hang', { budgetMs: 100 }, () => new Promise<void>(() => undefined)) });
  const behind = definePlugin({ name: 'late', apply: ({ hooks }) => hooks.ended.tap('count', { stage: 'late' }, () => void heard++) });
  await using session = await createTestSession({ plugins: [hanging, behind], script: [say('1'), say('2')] });
  await session.run('a');
  await session.run('b');
  expect(heard).toBe(2);
  expect(session.events('tap.fault')).toMatchObject([{ plugin: 'hanging' }, { plugin: 'hanging' }]);
});

test('what a listener emits comes behind what it heard, for everybody', async () => {
  const echo = definePlugin({ name: 'echo', apply: ({ events, notice }) => void events.on('turn.started', () => notice('heard it')) });
  await using session = await createTestSession({ plugins: [echo], script: [say('x')] });
  await session.run('go');
  const seqs = session.all().map((event) => event.seq);
  expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
  const types = session.all().map((event) => event.type);
  expect(types.indexOf('notice')).toBeGreaterThan(types.indexOf('turn.started'));
});

test('a fatal fault still leaves one result for each call of the batch', async () => {
  const guard = definePlugin({
    name: 'guard',
    apply: ({ hooks }) =>
      hooks.gate.tap('boom', () => {
        throw new Error('oops');
      }),
  });
  const writes = Array.from({ length: 5 }, (_, n) => ['write', { n }, `w${n}`] as const);
  await using session = await createTestSession({ plugins: [toolbox(tool('write', 'write', async () => 'wrote')), guard], script: [use(...writes), say('x')] });
  expect(await session.run('go')).toMatchObject({ reason: 'error' });
  expect(session.events('tool.ended')).toHaveLength(5);
  const stored = (await session.entries()).filter((entry) => entry.kind === 'message' && entry.data.role === 'tool');
  expect(stored).toHaveLength(5);
  expect(JSON.stringify(stored.at(-1))).toContain('Not run');
});

describe('submitting', () => {
  test('from a command while a turn runs is queued, not lost', async () => {
    const slow: Beat = async function* () {
      await pause(80);
      yield { type: 'text', text: 'one' };
      yield { type: 'end', reason: 'stop' };
    };
    const more = definePlugin({
      name: 'more',
      apply: ({ registries }) => void registries.commands.add({ name: 'more', summary: 'x', whileRunning: true, run: (_, at) => at.submit('and more') }),
    });
    await using session = await createTestSession({ plugins: [more], script: [slow, say('two')] });
    const first = session.run('go');
    await session.until('input.accepted');
    expect(await session.client.command('more', '')).toEqual({ ok: true });
    await first;
    await session.until('turn.ended', (end) => end.turn === 2);
    expect(texts(session.requests[1]?.messages).at(-1)).toBe('and more');
  });

  test('at the very end of a turn is neither lost nor stuck', async () => {
    await using session = await createTestSession({ script: [fail('auth'), say('two')] });
    const second = session.until('turn.ended').then(() => session.client.submit({ text: 'again', clientId: 'again' }));
    await session.run('go');
    expect(await second).toMatchObject({ state: 'started' });
    await session.until('turn.ended', (end) => end.clientId === 'again');
  });

  test('the snapshot has the title of the store', async () => {
    await using session = await createTestSession({ script: [say('x')] });
    await session.run('name me');
    expect((await session.client.snapshot()).title).toBe('name me');
  });
});

describe('failures of the provider', () => {
  test('are counted over the turn', async () => {
    const seen: number[] = [];
    const counting = definePlugin({
      name: 'counting',
      apply: ({ hooks }) => hooks.failure.tap('again', (failure) => (seen.push(failure.seen), { retry: { reason: 'x' } })),
    });
    await using session = await createTestSession({
      plugins: [counting, toolbox(tool('x', 'read', async () => 'x'))],
      script: [fail('overflow'), use('x'), fail('overflow'), say('y')],
    });
    await session.run('go');
    expect(seen).toEqual([1, 2]);
  });
  test('that never stop end the turn as what they are', async () => {
    const stubborn = definePlugin({ name: 'stubborn', apply: ({ hooks }) => hooks.failure.tap('again', () => ({ retry: { reason: 'x' } })) });
    await using session = await createTestSession({ plugins: [stubborn], script: Array.from({ length: 20 }, () => fail('network', 'no route')) });
    expect(await session.run('go')).toMatchObject({ exitCode: 2 });
    expect(session.events('error')).toMatchObject([{ code: 'MODEL_UNREACHABLE', message: 'no route' }]);
  });
});
