/** Generations that cannot be built, plugins that come late, and what a scope hands out for both. */
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { definePlugin, defineTool, jsonSchema, z, type Plugin, type Scope } from 'cast';
import { createTestSession, say, use } from 'cast/testkit';

/** Becomes a plugin that cannot be applied when it is told to. */
const breakable = (isBroken: () => boolean): Plugin =>
  definePlugin({
    name: 'zz-guard',
    locked: true,
    apply: () => {
      if (isBroken()) throw new Error('broken');
    },
  });

describe('a generation that cannot be built', () => {
  test('at the opening disposes of what had been applied', async () => {
    const log: string[] = [];
    const early = definePlugin({ name: 'early', apply: ({ onDispose }) => onDispose(() => void log.push('disposed')) });
    await expect(createTestSession({ plugins: [early, breakable(() => true)] })).rejects.toThrow('broken');
    expect(log).toEqual(['disposed']);
  });

  test('at a renewal leaves the old one alone, and nothing listens twice', async () => {
    let isBroken = false;
    const heard: number[] = [];
    let generations = 0;
    const early = definePlugin({
      name: 'early',
      apply: ({ events, registries }) => {
        const own = ++generations;
        events.on('turn.started', () => void heard.push(own));
        registries.commands.add({ name: 'renew', summary: 'x', run: (_, at) => at.renew() });
      },
    });
    await using session = await createTestSession({ plugins: [early, breakable(() => isBroken)], script: [say('done')] });
    isBroken = true;
    await session.client.command('renew', '');
    await session.run('go');
    expect([generations, heard]).toEqual([2, [1]]);
    expect(session.events('warning')).toMatchObject([{ code: 'RENEW_FAILED' }]);
  });
});

describe('a state whose schema answers with nonsense', () => {
  test.each([undefined, 5, {}, { issues: 5 }, { issues: [null] }])('%j: its entry is passed over, and the session opens', async (outcome) => {
    const stated = (validate: (value: unknown) => unknown): Plugin =>
      definePlugin({
        name: 'stated',
        apply: ({ state, hooks }) => {
          const slice = state({
            name: 'x',
            data: { '~standard': { version: 1, vendor: 'test', validate } } as never,
            initial: 'initial',
            fold: (_, data) => String(data),
          });
          hooks.prepare.tap('record', async () => (slice.value === 'initial' ? slice.record('recorded' as never) : undefined));
        },
      });
    const first = await createTestSession({ plugins: [stated((value) => ({ value }))], script: [say('x')] });
    await first.run('go');
    await using again = await createTestSession({ plugins: [stated(() => outcome)], store: first.store, session: first.id, script: [say('y')] });
    await again.until('warning', ({ text }) => text.includes('an entry of x is passed over'));
    await first.close();
  });
});

describe('a plugin that comes late', () => {
  const late = (log: string[], apply: Parameters<typeof definePlugin>[0]['apply'] = () => undefined): Plugin =>
    definePlugin({
      name: 'late',
      activation: ['command:one', 'command:two'],
      commands: ['one', 'two'].map((name) => ({ name, summary: name })),
      setup: () => wait(20),
      apply: (scope) => {
        log.push('apply');
        scope.hooks.open.tap('note', async (opening) => {
          await wait(5);
          log.push(`open ${opening.resumed}`);
        });
        for (const name of ['one', 'two']) scope.registries.commands.add({ name, summary: name, run: () => name });
        apply(scope as never);
      },
    });

  test('is applied once, however many ask for it at the same time', async () => {
    const log: string[] = [];
    await using session = await createTestSession({ plugins: [late(log)] });
    const [one, two] = await Promise.all([session.client.command('one', ''), session.client.command('two', '')]);
    expect([one, two]).toEqual([
      { ok: true, result: 'one' },
      { ok: true, result: 'two' },
    ]);
    expect(log).toEqual(['apply', 'open false']);
    expect((await session.report()).plugins.find((plugin) => plugin.name === 'late')).toMatchObject({ state: 'active' });
  });

  test('has its own `open` fired, and nobody else again', async () => {
    const log: string[] = [];
    const early = definePlugin({ name: 'early', apply: ({ hooks }) => hooks.open.tap('note', () => void log.push('early')) });
    await using session = await createTestSession({ plugins: [early, late(log)], script: [say('x')] });
    await session.run('go');
    await session.client.command('one', '');
    expect(log).toEqual(['early', 'apply', 'open true']);
  });

  test('and fails takes its states with it', async () => {
    const log: string[] = [];
    const own = (scope: Pick<Scope<unknown, never>, 'state'>) =>
      scope.state({ name: 'own', data: z.string(), initial: '', fold: (_, data) => (log.push(`fold ${data}`), data) });
    const whole = definePlugin({
      name: 'late',
      apply: (scope) => {
        const state = own(scope);
        scope.hooks.prepare.tap('record', () => state.record('first'));
      },
    });
    await using first = await createTestSession({ plugins: [whole], script: [say('x')] });
    await first.run('go');
    expect(log.splice(0)).toEqual(['fold first']);

    const faulty = late(log, (scope) => {
      own(scope);
      throw new Error('half way');
    });
    await using session = await createTestSession({ plugins: [faulty], store: first.store, session: first.id });
    await session.client.command('one', '');
    const report = await session.report();
    expect(report.plugins.find((plugin) => plugin.name === 'late')).toMatchObject({ state: 'refused', why: 'half way' });
    expect(report.hooks.flatMap((hook) => hook.taps).filter((tap) => tap.plugin === 'late')).toEqual([]);
    expect(log).toEqual(['apply']);
  });
});

describe('what a scope hands out', () => {
  test('patterns of a plugin are replaced in entries and events', async () => {
    const plugin = definePlugin({
      name: 'badge',
      apply: ({ redact, registries, notice }) => {
        redact(/badge-\d+/);
        registries.tools.add(
          defineTool({
            name: 'badge',
            description: 'x',
            effect: 'read',
            input: jsonSchema<object>({ type: 'object' }),
            run: async () => (notice('seen badge-77'), 'it is badge-42'),
          }),
        );
      },
    });
    await using session = await createTestSession({ plugins: [plugin], script: [use('badge'), say('done')] });
    await session.run('go');
    expect(session.results()).toMatchObject([{ content: 'it is [redacted]' }]);
    expect(JSON.stringify([session.all(), await session.entries()])).not.toMatch(/badge-\d/);
  });

  test('a secret from the file is replaced once it was got', async () => {
    const { mkdirSync, writeFileSync } = await import('node:fs');
    const plugin = definePlugin({
      name: 'keyed',
      capabilities: ['secrets'],
      apply: ({ hooks, powers, notice, home }) => {
        mkdirSync(home, { recursive: true });
        writeFileSync(`${home}/secrets.json`, JSON.stringify({ OTHER: 'saved-secret-value' }));
        hooks.prepare.tap('get', async () => notice(`got ${await powers.secrets.get('OTHER')}`));
      },
    });
    await using session = await createTestSession({ plugins: [plugin], script: [say('it is saved-secret-value')] });
    await session.run('go');
    expect(session.events('notice')).toMatchObject([{ text: 'got [redacted]' }]);
    expect(JSON.stringify(await session.entries())).not.toContain('saved-secret-value');
  });

  test('a listener that fails later reaches nobody', async () => {
    const plugin = definePlugin({
      name: 'listener',
      apply: ({ events }) => void events.on('turn.started', (async () => Promise.reject(new Error('later'))) as () => void),
    });
    await using session = await createTestSession({ plugins: [plugin], script: [say('done')] });
    expect(await session.run('go')).toMatchObject({ reason: 'stop' });
  });

  test('what hangs at the end is named and passed over', async () => {
    const plugin = definePlugin({ name: 'sleeper', apply: ({ onDispose }) => onDispose(() => new Promise(() => undefined)) });
    const session = await createTestSession({ plugins: [plugin], script: [say('done')] });
    const startedAt = performance.now();
    await session.close();
    expect(performance.now() - startedAt).toBeLessThan(4_000);
    expect(session.events('warning')).toMatchObject([{ text: 'sleeper: took longer than 2000 ms' }]);
  });
});
