/** What a bad plugin costs: what its hook's policy says, once named, never the session. */
import { describe, expect, test } from 'vitest';
import { CastError, definePlugin, defineTool, jsonSchema, type HookName, type Plugin, type Scope, type Stage, type TapPort } from 'cast';
import { createTestSession, say, use } from 'cast/testkit';

const bad = (hook: HookName, run: () => unknown, options: { stage?: Stage; onFault?: 'skip'; budgetMs?: number } = {}): Plugin =>
  definePlugin({ name: 'bad', apply: ({ hooks }) => (hooks[hook] as TapPort<() => unknown>).tap('tap', options, run) });
const boom = (): never => {
  throw new Error('oops');
};
const reader = definePlugin({
  name: 'reader',
  apply: ({ registries }) =>
    void registries.tools.add(
      defineTool({ name: 'read', description: 'reads', input: jsonSchema<object>({ type: 'object' }), effect: 'read', run: async () => 'text' }),
    ),
});

describe('a tap that throws', () => {
  const skipped: readonly HookName[] = ['open', 'prepare', 'prompt', 'context', 'result', 'stored', 'settle', 'ended'];
  test.each(skipped)('in %s is as if it were not there', async (hook) => {
    await using session = await createTestSession({ plugins: [reader, bad(hook, boom)], script: [use('read'), say('done')] });
    expect(await session.run('go')).toMatchObject({ reason: 'stop' });
    expect(session.text()).toContain('done');
    expect(session.results()).toMatchObject([{ status: 'ok', content: 'text' }]);
    expect(session.events('tap.fault')[0]).toMatchObject({ plugin: 'bad', hook, label: 'tap', message: 'oops' });
  });

  const failing: readonly HookName[] = ['input', 'offer', 'request', 'stream', 'reply'];
  test.each(failing)('in %s ends the turn and is named', async (hook) => {
    await using session = await createTestSession({ plugins: [bad(hook, boom)], script: [say('one'), say('two')] });
    expect(await session.run('go')).toMatchObject({ reason: 'error', exitCode: 1 });
    expect(session.events('error')).toMatchObject([{ code: 'HOOK_FAULT', message: expect.stringMatching(new RegExp(`bad/tap failed in ${hook}: oops`)) }]);
  });

  const refusing: readonly HookName[] = ['call', 'gate'];
  test.each(refusing)('in %s refuses the call, and the turn goes on', async (hook) => {
    await using session = await createTestSession({ plugins: [reader, bad(hook, boom)], script: [use('read'), say('done')] });
    expect(await session.run('go')).toMatchObject({ reason: 'stop' });
    expect(session.results()).toMatchObject([{ status: 'denied', content: expect.stringMatching(/bad\/tap failed/) }]);
  });
});

describe('time', () => {
  test('a tap that never settles is cut off by its budget', async () => {
    await using session = await createTestSession({ plugins: [bad('prepare', () => new Promise(() => undefined), { budgetMs: 50 })], script: [say('done')] });
    expect(await session.run('go')).toMatchObject({ reason: 'stop' });
    expect(session.events('tap.fault')).toMatchObject([{ plugin: 'bad', message: 'took longer than 50 ms' }]);
  });

  test('a budget over the ceiling is refused when the plugin is applied', async () => {
    await using session = await createTestSession({
      plugins: [bad('request', () => undefined, { budgetMs: 60_000 })],
      script: [say('done')],
      allowRefused: true,
    });
    expect((await session.report()).plugins.find((plugin) => plugin.name === 'bad')).toMatchObject({
      state: 'refused',
      why: expect.stringMatching(/60000 ms is not between 1 and 5000/),
    });
  });

  test('the clock stands still while the kernel works for the tap', async () => {
    const asking = definePlugin({
      name: 'asking',
      capabilities: ['model'],
      apply: ({ hooks, powers }) =>
        hooks.prepare.tap('ask', { budgetMs: 150 }, async (step) => void (await powers.model.ask({ purpose: 'hook', prompt: 'x' }, step.signal))),
    });
    await using session = await createTestSession({
      plugins: [asking],
      script: [say('done')],
      aux: async function* () {
        await new Promise((resolve) => setTimeout(resolve, 400));
        yield { type: 'text', text: 'slow' };
        yield { type: 'end', reason: 'stop' };
      },
    });
    expect(await session.run('go')).toMatchObject({ reason: 'stop' });
    expect(session.events('tap.fault')).toEqual([]);
  });

  test.each<HookName>(['context', 'input', 'reply', 'prepare'])('an abort releases a tap that hangs in %s at once and is no fault of its own', async (hook) => {
    let entered: (() => void) | undefined;
    const isIn = new Promise<void>((resolve) => {
      entered = resolve;
    });
    const hanging = bad(hook, () => {
      entered?.();
      return new Promise(() => undefined);
    });
    await using session = await createTestSession({ plugins: [hanging], script: [say('done')] });
    void isIn.then(() => session.client.abort());
    const startedAt = performance.now();
    expect(await session.run('go')).toMatchObject({ reason: 'aborted' });
    expect(performance.now() - startedAt).toBeLessThan(1500);
    expect(session.events('tap.fault')).toEqual([]);
  });
});

describe('garbage', () => {
  test.each<[HookName, unknown, RegExp]>([
    ['prepare', 'stop', /`stop` is expected/],
    ['gate', { denied: 'x' }, /`deny` or a text `ask`/],
    ['call', { input: 'text' }, /an object `input`/],
    ['context', { messages: [] }, /a list is expected/],
    ['result', { status: 'great' }, /`status` must be/],
    ['settle', 7, /`continue` is expected/],
    ['open', 'hello', /takes no answer/],
  ])('from %s counts as a fault', async (hook, answer, message) => {
    await using session = await createTestSession({ plugins: [reader, bad(hook, () => answer)], script: [use('read'), say('done')] });
    await session.run('go');
    expect(session.events('tap.fault')[0]).toMatchObject({ plugin: 'bad', hook, message: expect.stringMatching(message) });
  });

  test('null from a gate is no opinion and does not end the voting', async () => {
    const no = definePlugin({ name: 'no', apply: ({ hooks }) => hooks.gate.tap('no', { stage: 'policy' }, () => ({ deny: 'never' })) });
    await using session = await createTestSession({ plugins: [reader, bad('gate', () => null, { stage: 'mode' }), no], script: [use('read'), say('done')] });
    await session.run('go');
    expect(session.results()).toMatchObject([{ status: 'denied', content: 'never' }]);
  });

  test('a promise from a synchronous hook is a fault', async () => {
    await using session = await createTestSession({ plugins: [bad('offer', async () => undefined)], script: [say('done')] });
    expect(await session.run('go')).toMatchObject({ reason: 'error' });
    expect(session.events('tap.fault')[0]).toMatchObject({ message: expect.stringMatching(/synchronous/) });
  });
});

describe('quarantine', () => {
  test('a tap that only helps is skipped after three faults, with one event that says so', async () => {
    let calls = 0;
    await using session = await createTestSession({
      plugins: [
        bad('context', () => {
          calls += 1;
          throw new Error('oops');
        }),
      ],
      script: Array.from({ length: 5 }, () => say('fine')),
    });
    for (let turn = 1; turn <= 5; turn++) expect(await session.run('x')).toMatchObject({ reason: 'stop' });
    expect(calls).toBe(3);
    expect(session.events('tap.fault').map((fault) => fault.quarantined)).toEqual([false, false, true]);
    expect((await session.report()).plugins.find((plugin) => plugin.name === 'bad')).toMatchObject({
      state: 'quarantined',
      why: expect.stringMatching(/failed 3 times in context: oops/),
    });
  });

  test('a closed guard never waves through: headless the turn fails and names it', async () => {
    let runs = 0;
    const counted = definePlugin({
      name: 'counted',
      apply: ({ registries }) =>
        void registries.tools.add(
          defineTool({ name: 'write', description: 'x', input: jsonSchema<object>({ type: 'object' }), effect: 'write', run: async () => `run ${++runs}` }),
        ),
    });
    await using session = await createTestSession({
      plugins: [counted, bad('gate', boom)],
      script: Array.from({ length: 4 }, () => use('write')).concat(say('done')),
    });
    expect(await session.run('go')).toMatchObject({ reason: 'error', exitCode: 1 });
    expect(runs).toBe(0);
    expect(session.events('error')).toMatchObject([{ code: 'PLUGIN_QUARANTINED', message: expect.stringMatching(/bad\/tap guards gate/) }]);
  });

  test.each(['retry', 'off', 'stop'] as const)('interactive, a person decides: %s', async (choice) => {
    let calls = 0;
    await using session = await createTestSession({
      plugins: [
        reader,
        bad('gate', () => {
          calls += 1;
          if (calls <= 3) throw new Error('oops');
        }),
      ],
      script: Array.from({ length: 4 }, () => use('read')).concat(say('done')),
      interactive: true,
      answer: (question) => (question.kind === 'quarantine' ? choice : undefined),
    });
    const end = await session.run('go');
    expect(session.events('question.asked')).toHaveLength(1);
    expect(end.reason).toBe(choice === 'stop' ? 'error' : 'stop');
    if (choice !== 'stop') expect(session.results().map((result) => result.status)).toEqual(['denied', 'denied', 'denied', 'ok']);
    expect(calls).toBe(choice === 'retry' ? 4 : 3);
  });

  test('onFault: skip costs only the tap, also in gate', async () => {
    await using session = await createTestSession({
      plugins: [reader, bad('gate', boom, { stage: 'late', onFault: 'skip' })],
      script: Array.from({ length: 4 }, () => use('read')).concat(say('done')),
    });
    expect(await session.run('go')).toMatchObject({ reason: 'stop' });
    expect(session.results().map((result) => result.status)).toEqual(['ok', 'ok', 'ok', 'ok']);
  });

  test('onFault: skip is refused for guards', async () => {
    await using session = await createTestSession({
      plugins: [bad('gate', boom, { stage: 'policy', onFault: 'skip' })],
      script: [say('done')],
      allowRefused: true,
    });
    expect((await session.report()).plugins.find((plugin) => plugin.name === 'bad')).toMatchObject({
      state: 'refused',
      why: expect.stringMatching(/stage policy guards/),
    });
  });
});

describe('a plugin that cannot be applied', () => {
  const rows: readonly (readonly [string, Plugin, RegExp])[] = [
    ['throws', definePlugin({ name: 'bad', apply: boom }), /oops/],
    ['is asynchronous', definePlugin({ name: 'bad', apply: (async () => undefined) as () => void }), /asynchronous/],
    [
      'taps an unknown hook',
      definePlugin({ name: 'bad', apply: ({ hooks }) => (hooks as unknown as Record<string, TapPort<() => void>>)['gates']?.tap('x', () => undefined) }),
      /no hook; did it mean gate\?/,
    ],
    [
      'taps a hook that its manifest does not name',
      definePlugin({ name: 'bad', taps: ['gate'], apply: ({ hooks }) => hooks.ended.tap('x', () => undefined) }),
      /does not name this hook/,
    ],
    [
      'uses a power that it does not declare',
      definePlugin({ name: 'bad', apply: (scope) => void (scope as unknown as Scope<object, 'net'>).powers.net }),
      /powers\.net without declaring it/,
    ],
    [
      'needs a service that nobody provides',
      definePlugin({ name: 'bad', uses: ['grants'], apply: () => undefined }),
      /uses the service grants, which no plugin that is on provides/,
    ],
    [
      'requires a plugin that is not there',
      definePlugin({ name: 'bad', requires: ['ghost'], apply: () => undefined }),
      /requires the plugin ghost, which is not installed/,
    ],
    ['has a set-up that throws', definePlugin({ name: 'bad', setup: boom }), /set-up of plugin bad failed: oops/],
    [
      'brings a tool twice',
      definePlugin({
        name: 'bad',
        apply: ({ registries }) => ['x', 'x'].forEach((name) => registries.commands.add({ name, summary: '', run: () => undefined })),
      }),
      /brings the command x/,
    ],
  ];
  test.each(rows)('because it %s is refused with the reason, named once, and the rest works', async (_, plugin, why) => {
    await using session = await createTestSession({ plugins: [reader, plugin], script: [use('read'), say('done')], allowRefused: true });
    const report = await session.report();
    expect(report.plugins.find((each) => each.name === 'bad')).toMatchObject({ state: 'refused', why: expect.stringMatching(why) });
    expect(report.hooks.flatMap((hook) => hook.taps).filter((tap) => tap.plugin === 'bad' && tap.state === 'open')).toEqual([]);
    expect(await session.run('go')).toMatchObject({ reason: 'stop' });
    expect(session.events('tap.fault').filter((fault) => fault.plugin === 'bad')).toHaveLength(1);
  });

  test('half way through leaves nothing of it behind', async () => {
    const half = definePlugin({
      name: 'half',
      provides: ['usage'],
      apply: ({ hooks, registries, services, onDispose, events }) => {
        registries.tools.add(
          defineTool({ name: 'half', description: 'x', input: jsonSchema<object>({ type: 'object' }), effect: 'read', run: async () => 'x' }),
        );
        registries.commands.add({ name: 'half', summary: 'x', run: () => 'x' });
        registries.sections.add({ name: 'half', slot: 'conduct', text: () => 'Half a section.' });
        services.provide('usage', { total: () => ({}), byModel: () => ({}), contextTokens: () => 0 } as never);
        hooks.gate.tap('deny', () => ({ deny: 'half' }));
        onDispose(() => void log.push('disposed'));
        events.on('turn.started', () => void log.push('heard'));
        throw new Error('half way');
      },
    });
    const log: string[] = [];
    await using session = await createTestSession({ plugins: [reader, half], script: [use('read'), say('done')], allowRefused: true });
    await session.run('go');
    expect(session.results()).toMatchObject([{ status: 'ok' }]);
    expect(session.requests[0]).toMatchObject({ system: '', tools: [{ name: 'read' }] });
    expect(await session.client.command('half', '')).toMatchObject({ ok: false });
    expect((await session.report()).plugins.find((plugin) => plugin.name === 'half')?.brings).toEqual({
      tools: [],
      commands: [],
      sections: [],
      providers: [],
      services: [],
    });
    expect(log).toEqual(['disposed']);
  });

  test('and is locked keeps the session from opening: a guard that is not there guards nothing', async () => {
    const locked = definePlugin({ name: 'guard', locked: true, apply: boom });
    await expect(createTestSession({ plugins: [locked], script: [] })).rejects.toThrow('oops');
  });
});

describe('process.exit', () => {
  test('in a tap is caught and counted as a fault', async () => {
    await using session = await createTestSession({ plugins: [bad('prepare', () => process.exit(7))], script: [say('done')] });
    expect(await session.run('go')).toMatchObject({ reason: 'stop' });
    expect(session.events('tap.fault')).toMatchObject([{ plugin: 'bad', hook: 'prepare', message: 'plugin bad called process.exit(7) in prepare tap' }]);
  });

  test('in a tool is an error result', async () => {
    const tool = definePlugin({
      name: 'quitter',
      apply: ({ registries }) =>
        void registries.tools.add(
          defineTool({ name: 'quit', description: 'x', input: jsonSchema<object>({ type: 'object' }), effect: 'exec', run: async () => process.exit(1) }),
        ),
    });
    await using session = await createTestSession({ plugins: [tool], script: [use('quit'), say('done')] });
    expect(await session.run('go')).toMatchObject({ reason: 'stop' });
    expect(session.results()).toMatchObject([{ status: 'error', content: expect.stringMatching(/plugin quitter called process\.exit/) }]);
  });
});

test('a listener of events that throws reaches nobody', async () => {
  const listener = definePlugin({ name: 'listener', apply: ({ events }) => void events.on('turn.started', boom) });
  await using session = await createTestSession({ plugins: [listener], script: [say('done')] });
  expect(await session.run('go')).toMatchObject({ reason: 'stop' });
});

test('errors are recognised by name, so a second copy of the class is as good', () => {
  expect(new CastError('INTERNAL', 'x')).toMatchObject({ name: 'CastError', exit: 1, retryable: false });
});
