/** What the kernel keeps whatever plugins choose. */
import { describe, expect, test } from 'vitest';
import { definePlugin, defineTool, jsonSchema, ToolError, type Effect, type ToolCall, type ViewMessage } from 'cast';
import { createMemoryStore, createTestSession, hang, manualClock, say, use } from 'cast/testkit';

const tool = (name: string, effect: Effect, run: (input: Record<string, unknown>, call: ToolCall) => Promise<string>) =>
  defineTool({ name, description: name, input: jsonSchema<Record<string, unknown>>({ type: 'object' }), effect, run });
const toolbox = (...tools: ReturnType<typeof tool>[]) =>
  definePlugin({ name: 'toolbox', apply: ({ registries }) => tools.forEach((each) => registries.tools.add(each)) });
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** What a strict provider would refuse. */
const pairing = (messages: readonly ViewMessage[] | readonly { role: string; blocks: ViewMessage['blocks'] }[]): string | undefined => {
  const open = new Set<string>();
  for (const message of messages) {
    const results = message.blocks.flatMap((block) => (block.type === 'result' ? [block.id] : []));
    if (message.role !== 'tool' && open.size > 0) return `calls without result: ${[...open].join()}`;
    for (const id of results) if (!open.delete(id)) return `a result without call: ${id}`;
    for (const block of message.blocks) if (block.type === 'call') open.add(block.id);
  }
  return open.size > 0 ? `calls without result: ${[...open].join()}` : undefined;
};

describe('each call has exactly one result, in the order issued', () => {
  test('whatever finishes first', async () => {
    const wait = tool('wait', 'read', async ({ ms }) => (await pause(Number(ms)), `waited ${String(ms)}`));
    await using session = await createTestSession({
      plugins: [toolbox(wait)],
      script: [use(['wait', { ms: 60 }], ['wait', { ms: 1 }], ['wait', { ms: 30 }]), say('done')],
    });
    await session.run('go');
    expect(session.results().map((result) => result.content)).toEqual(['waited 60', 'waited 1', 'waited 30']);
    expect(session.events('tool.ended').map((event) => event.content)).toEqual(['waited 1', 'waited 30', 'waited 60']);
  });

  test('ids that are missing or repeated become unique', async () => {
    const echo = tool('echo', 'read', async ({ n }) => `echo ${String(n)}`);
    await using session = await createTestSession({
      plugins: [toolbox(echo)],
      script: [use(['echo', { n: 1 }, 'same'], ['echo', { n: 2 }, 'same'], ['echo', { n: 3 }, '']), say('done')],
    });
    await session.run('go');
    const results = session.results();
    expect(results.map((result) => result.content)).toEqual(['echo 1', 'echo 2', 'echo 3']);
    expect(new Set(results.map((result) => result.id)).size).toBe(3);
  });

  test.each([
    ['arguments that are no JSON', '{"path": a.txt}', /not valid JSON/, 'INVALID_ARGUMENT'],
    ['arguments that are a list', '["a"]', /not a JSON object/, 'INVALID_ARGUMENT'],
  ])('%s never run', async (_, raw, wording, code) => {
    let runs = 0;
    await using session = await createTestSession({
      plugins: [toolbox(tool('read', 'read', async () => `run ${++runs}`))],
      script: [use('read', raw), say('done')],
    });
    await session.run('go');
    expect(session.results()).toMatchObject([{ status: 'error', content: expect.stringMatching(wording), error: { code } }]);
    expect(session.events('tool.started')).toMatchObject([{ input: raw }]);
    expect(runs).toBe(0);
  });

  test.each(['', 'null', '"{}"', '{}'])('arguments %j mean none', async (raw) => {
    await using session = await createTestSession({
      plugins: [toolbox(tool('ls', 'read', async (input) => JSON.stringify(input)))],
      script: [use('ls', raw), say('done')],
    });
    await session.run('go');
    expect(session.results()).toMatchObject([{ status: 'ok', content: '{}' }]);
  });

  test('a number that came as a text is read as a number, a wrong one names the field', async () => {
    const count = definePlugin({
      name: 'count',
      apply: ({ registries }) =>
        void registries.tools.add(
          defineTool({
            name: 'count',
            description: 'x',
            effect: 'read',
            input: jsonSchema<{ limit: number }>({ type: 'object', properties: { limit: { type: 'integer', minimum: 1 } }, required: ['limit'] }),
            run: async ({ limit }) => typeof limit,
          }),
        ),
    });
    await using session = await createTestSession({
      plugins: [count],
      script: [use(['count', { limit: '5' }], ['count', { limit: 'many' }], ['count', {}]), say('done')],
    });
    await session.run('go');
    expect(session.results()).toMatchObject([
      { status: 'ok', content: 'number' },
      { status: 'error', content: expect.stringMatching(/limit/), error: { code: 'INVALID_ARGUMENT' } },
      { status: 'error', content: expect.stringMatching(/limit/) },
    ]);
  });

  test('one failing tool takes nobody with it', async () => {
    const bad = tool('bad', 'exec', async () => {
      throw new Error('ENOENT: no such file');
    });
    const odd = tool('odd', 'exec', async () => 7 as unknown as string);
    await using session = await createTestSession({
      plugins: [
        toolbox(
          bad,
          odd,
          tool('good', 'read', async () => 'fine'),
        ),
      ],
      script: [use(['bad'], ['odd'], ['nope'], ['good']), say('done')],
    });
    expect(await session.run('go')).toMatchObject({ reason: 'stop', toolCalls: 4 });
    expect(session.results()).toMatchObject([
      { status: 'error', error: { code: 'NOT_FOUND' } },
      { status: 'error', error: { code: 'INTERNAL_ERROR' } },
      { status: 'error', content: expect.stringMatching(/no tool named "nope".*bad, odd, good/) },
      { status: 'ok', content: 'fine' },
    ]);
  });
});

test('what a tool throws as its answer keeps its code, and passes the result hook', async () => {
  const foreign = Object.assign(new Error('from another copy'), { name: 'ToolError', result: new ToolError('CONFLICT', 'from another copy').result });
  const plugin = definePlugin({
    name: 'stamp',
    apply: ({ hooks }) => hooks.result.tap('stamp', (result) => ({ ...result, content: `${result.content} (seen)` })),
  });
  await using session = await createTestSession({
    plugins: [
      plugin,
      toolbox(
        tool('shut', 'read', async () => {
          throw new ToolError('UNAVAILABLE', 'not found today', { fix: 'Come back tomorrow.', retryable: true });
        }),
        tool('long', 'read', () => {
          throw new ToolError('TIMEOUT', 'x'.repeat(5_000));
        }),
        tool('copy', 'read', async () => {
          throw foreign;
        }),
      ),
    ],
    script: [use(['shut'], ['long'], ['copy']), say('done')],
  });
  await session.run('go');
  expect(session.results()).toMatchObject([
    {
      status: 'error',
      content: 'not found today\nCome back tomorrow. (seen)',
      error: { code: 'UNAVAILABLE', retryable: true, suggestedFix: 'Come back tomorrow.' },
    },
    { status: 'error', content: `${'x'.repeat(3_000)}… (seen)`, error: { code: 'TIMEOUT', retryable: false } },
    { status: 'error', content: 'from another copy (seen)', error: { code: 'CONFLICT' } },
  ]);
});

describe('order', () => {
  test('adjacent readers overlap, everything else has the workspace to itself', async () => {
    const log: string[] = [];
    const logged = (name: string, effect: Effect) =>
      tool(name, effect, async () => {
        log.push(`+${name}`);
        await pause(20);
        log.push(`-${name}`);
        return name;
      });
    await using session = await createTestSession({
      plugins: [toolbox(logged('r1', 'read'), logged('r2', 'read'), logged('w', 'write'), logged('r3', 'read'))],
      script: [use(['r1'], ['r2'], ['w'], ['r3']), say('done')],
    });
    await session.run('go');
    expect(log.join(' ')).toBe('+r1 +r2 -r1 -r2 +w -w +r3 -r3');
  });

  test('judges see the input that will run, and so do events and paths', async () => {
    const seen: unknown[] = [];
    const plugin = definePlugin({
      name: 'rewriter',
      apply: ({ hooks, registries }) => {
        registries.tools.add(
          defineTool({
            name: 'write',
            description: 'x',
            effect: 'write',
            input: jsonSchema<{ path: string }>({ type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }),
            paths: ({ path }) => [path],
            run: async ({ path }) => `wrote ${path}`,
          }),
        );
        hooks.call.tap('elsewhere', { when: { tool: 'write' } }, () => ({ input: { path: 'safe.txt', content: '' } }));
        hooks.gate.tap('look', (call) => void seen.push(call.input, call.paths));
      },
    });
    await using session = await createTestSession({ plugins: [plugin], script: [use('write', { path: 'evil.txt' }), say('done')] });
    await session.run('go');
    expect(seen).toEqual([{ path: 'safe.txt', content: '' }, [`${session.cwd}/safe.txt`]]);
    expect(session.events('tool.started')).toMatchObject([{ input: { path: 'safe.txt' } }]);
    expect(session.results()).toMatchObject([{ content: 'wrote safe.txt' }]);
  });

  test('a denial wins over an ask, and no tap behind it is asked', async () => {
    const later: string[] = [];
    const plugin = definePlugin({
      name: 'voters',
      apply: ({ hooks, registries }) => {
        registries.tools.add(tool('exec', 'exec', async () => 'ran'));
        hooks.gate.tap('asks', { stage: 'mode' }, () => ({ ask: 'sure?' }));
        hooks.gate.tap('denies', { stage: 'policy' }, () => ({ deny: 'never' }));
        hooks.gate.tap('late', { stage: 'late' }, () => void later.push('called'));
      },
    });
    await using session = await createTestSession({ plugins: [plugin], script: [use('exec'), say('done')], interactive: true, answer: () => 'once' });
    await session.run('go');
    expect(session.results()).toMatchObject([{ status: 'denied', content: 'never', error: { code: 'PERMISSION_DENIED' } }]);
    expect([later, session.events('question.asked')]).toEqual([[], []]);
  });

  test.each([
    [false, undefined, 'denied'],
    [true, 'once', 'ok'],
    [true, 'reject', 'denied'],
  ] as const)('an ask: interactive %s, answer %s → %s', async (interactive, choice, status) => {
    const plugin = definePlugin({
      name: 'asker',
      apply: ({ hooks, registries }) => {
        registries.tools.add(tool('exec', 'exec', async () => 'ran'));
        hooks.gate.tap('asks', () => ({ ask: 'sure?', rule: 'exec' }));
      },
    });
    await using session = await createTestSession({ plugins: [plugin], script: [use('exec'), say('done')], interactive, answer: () => choice });
    await session.run('go');
    expect(session.results()).toMatchObject([{ status }]);
    expect(session.events('question.answered')).toMatchObject([{ choice: choice ?? 'reject', by: interactive ? 'user' : 'nobody', rules: ['exec'] }]);
  });
});

test('a yes is remembered only when it covers all that was asked', async () => {
  const plugin = definePlugin({
    name: 'askers',
    apply: ({ hooks, registries }) => {
      registries.tools.add(tool('exec', 'exec', async () => 'ran'));
      hooks.gate.tap('with a rule', () => ({ ask: 'sure?', rule: 'exec' }));
      hooks.gate.tap('without', { stage: 'late' }, () => ({ ask: 'really?' }));
    },
  });
  await using session = await createTestSession({ plugins: [plugin], script: [use('exec'), say('done')], interactive: true, answer: () => 'once' });
  await session.run('go');
  expect(session.events('question.asked')).toMatchObject([
    { question: { text: 'sure?\nreally?', rules: [], choices: [{ value: 'once' }, { value: 'reject' }] } },
  ]);
});

describe('the store', () => {
  test('is read again when another process has written the session meanwhile', async () => {
    const store = createMemoryStore(manualClock());
    await using first = await createTestSession({ script: [say('one'), say('three')], store });
    await first.run('a');
    await using second = await createTestSession({ script: [say('two')], store, session: first.id });
    await second.run('b');
    expect(await first.run('c')).toMatchObject({ turn: 3 });
    const sent = first.requests.at(-1)?.messages.map((message) => message.blocks[0]);
    expect(sent).toMatchObject([{ text: 'a' }, { text: 'one' }, { text: 'b' }, { text: 'two' }, { text: 'c' }]);
  });

  test('is told which messages the model no longer gets, and which come back', async () => {
    const moves: (readonly [readonly string[], readonly string[]])[] = [];
    const inner = createMemoryStore(manualClock());
    const store = {
      ...inner,
      append: (id: string, batch: never, how: { leave?: readonly string[]; enter?: readonly string[] }) => {
        if (how.leave?.length || how.enter?.length) moves.push([how.leave ?? [], how.enter ?? []]);
        return inner.append(id, batch, how as never);
      },
    } as unknown as typeof inner;
    const once = definePlugin({
      name: 'once',
      apply: ({ hooks }) =>
        hooks.reply.tap('no', (review) => {
          if (review.raw === 'bad') review.reject('no');
        }),
    });
    await using session = await createTestSession({ plugins: [once], script: [say('bad'), say('good'), say('next')], store });
    await session.run('a');
    const rejected = (await session.entries()).find((entry) => entry.kind === 'rejected');
    expect(moves.at(-1)?.[0]).toContain(rejected?.id);
    await session.run('b');
    await session.client.rewind({ turn: 2 });
    const prompt = (await store.read(session.id, { limit: 50, kinds: ['message'] })).find((entry) => JSON.stringify(entry.data).includes('"b"'));
    expect(moves.at(-1)?.[0]).toContain(prompt?.id);
  });

  test('has the prompt before the request is made, and each result as it ends', async () => {
    const seen: string[][] = [];
    const store = createMemoryStore(manualClock());
    let id = '';
    const kinds = async () => (await store.branch(id)).map((entry) => (entry.kind === 'message' ? entry.data.role : entry.kind));
    const first = tool('first', 'exec', async () => 'one');
    const second = tool('second', 'exec', async () => (seen.push(await kinds()), 'two'));
    await using session = await createTestSession({ plugins: [toolbox(first, second)], script: [use(['first'], ['second']), say('done')], store });
    id = session.id;
    await session.run('go');
    expect(seen).toEqual([['turn', 'user', 'assistant', 'started', 'tool', 'started']]);
    expect(await kinds()).toEqual(['turn', 'user', 'assistant', 'started', 'tool', 'started', 'tool', 'assistant', 'turn']);
  });

  test('gets the end of an aborted turn: persistence never uses a spent signal', async () => {
    await using session = await createTestSession({ script: [hang(), say('next')] });
    void session.until('input.accepted').then(() => session.client.abort('enough'));
    expect(await session.run('go')).toMatchObject({ reason: 'aborted', exitCode: 130 });
    expect((await session.entries()).at(-1)).toMatchObject({ kind: 'turn', data: { phase: 'end', reason: 'aborted' } });
  });

  test('keeps what had been said when a turn is aborted, marked as incomplete', async () => {
    await using session = await createTestSession({
      script: [
        async function* (_, signal) {
          yield { type: 'text', text: 'half an ans' };
          await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
        },
        say('whole'),
      ],
    });
    void session.until('text.delta').then(() => session.client.abort());
    await session.run('go');
    await session.run('again');
    expect(session.requests.at(-1)?.messages.map((message) => [message.role, message.incomplete])).toEqual([
      ['user', undefined],
      ['assistant', true],
      ['user', undefined],
    ]);
  });

  test('a crash at any moment leaves a history that a strict provider takes', async () => {
    const store = createMemoryStore(manualClock());
    const step = tool('step', 'exec', async ({ n }) => `done ${String(n)}`);
    const first = await createTestSession({
      plugins: [toolbox(step)],
      script: [use(['step', { n: 1 }], ['step', { n: 2 }]), use(['step', { n: 3 }]), say('end')],
      store,
    });
    await first.run('go');
    const whole = await store.branch(first.id);
    for (let cut = 1; cut <= whole.length; cut++) {
      const copy = createMemoryStore(manualClock());
      await copy.create({ id: 'again', cwd: '/', root: '/', title: '', model: '', provider: '', parent: null, kind: 'conversation', createdAt: 1 });
      const lease = await copy.claim('again');
      await copy.append('again', whole.slice(0, cut), { epoch: lease.epoch });
      await lease.release();
      await using next = await createTestSession({ plugins: [toolbox(step)], script: [say('back')], store: copy, session: 'again' });
      await next.run('go on');
      const sent = next.requests[0]?.messages ?? [];
      expect(pairing(sent)).toBeUndefined();
      const results = sent.flatMap((message) => message.blocks.flatMap((block) => (block.type === 'result' ? [block.content] : [])));
      const finished = whole.slice(0, cut).filter((entry) => entry.kind === 'message' && entry.data.role === 'tool').length;
      expect(results.filter((content) => content.startsWith('done'))).toHaveLength(finished);
      if (whole[cut - 1]?.kind === 'started') expect(results.at(finished)).toMatch(/outcome is unknown/);
    }
    await first.close();
  });
});

test('a turn ends at its limit of steps', async () => {
  await using session = await createTestSession({
    plugins: [toolbox(tool('x', 'read', async () => 'x'))],
    script: Array.from({ length: 9 }, () => use('x')),
    config: { limits: { maxSteps: 3 } },
  });
  expect(await session.run('go')).toMatchObject({ reason: 'limit', exitCode: 1, steps: 3 });
  expect(session.requests).toHaveLength(3);
});

test('the request begins with the bytes of the one before, also after a resume', async () => {
  const reminding = definePlugin({
    name: 'reminding',
    apply: ({ hooks, remind, registries }) => {
      registries.sections.add({ name: 'who', slot: 'identity', text: () => 'You are a test.' });
      registries.tools.add(tool('b', 'read', async () => 'x'));
      registries.tools.add(tool('a', 'read', async () => 'x'));
      hooks.prepare.tap('note', async (step) => {
        if (step.step === 1) await remind(`turn ${step.turn}`);
      });
    },
  });
  const first = await createTestSession({ plugins: [reminding], script: [use('a'), say('one'), say('two')] });
  await first.run('x');
  await first.run('y');
  await using next = await createTestSession({ plugins: [reminding], script: [say('three')], store: first.store, session: first.id });
  await next.run('z');
  const all = [...first.requests, ...next.requests].map((request) =>
    JSON.stringify([request.system, request.tools, request.messages.map(({ role, blocks }) => ({ role, blocks }))]),
  );
  for (const [index, text] of all.entries()) if (index > 0) expect(text.startsWith((all[index - 1] ?? '').slice(0, -2))).toBe(true);
  await first.close();
});
