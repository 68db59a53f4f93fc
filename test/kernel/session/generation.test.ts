/** Plugins in and out: options, order, triggers, renewal, state, what a report says. */
import { expect, test } from 'vitest';
import { definePlugin, defineTool, jsonSchema, z, type Plugin } from 'cast';
import { createTestSession, say, use } from 'cast/testkit';

const tool = (name: string) => defineTool({ name, description: name, effect: 'read', input: jsonSchema<object>({ type: 'object' }), run: async () => name });

test('options go through the schema of the plugin; wrong ones name key and layer', async () => {
  let seen: unknown;
  const plugin = definePlugin({ name: 'opts', options: z.object({ depth: z.number().default(3) }), apply: ({ options }) => void (seen = options) });
  await using session = await createTestSession({ plugins: [plugin as Plugin], script: [say('x')] });
  expect(seen).toEqual({ depth: 3 });
  expect(Object.isFrozen(seen)).toBe(true);
  await session.close();
  await using given = await createTestSession({ plugins: [plugin.with({ depth: 5 }) as Plugin], script: [] });
  expect([given.id !== '', seen]).toEqual([true, { depth: 5 }]);
  await expect(createTestSession({ plugins: [plugin as Plugin], config: { plugins: { opts: { depth: 'deep' } } } })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringMatching(/^plugins\.opts\.depth: .*\(from flags\)$/),
  });
  const bare = definePlugin({ name: 'bare' });
  await expect(createTestSession({ plugins: [bare], config: { plugins: { bare: { x: 1 } } } })).rejects.toMatchObject({
    message: expect.stringMatching(/plugins\.bare\.x: plugin bare takes no options/),
  });
});

test('an unknown plugin in the configuration is named with the nearest known one', async () => {
  await expect(createTestSession({ plugins: [definePlugin({ name: 'search' })], config: { plugins: { serch: false } } })).rejects.toMatchObject({
    code: 'CONFIG_UNKNOWN_PLUGIN',
    message: expect.stringMatching(/search/),
  });
});

test('order comes from stage and manifests, not from the time of loading', async () => {
  const seen: string[] = [];
  const tapper = (name: string, stage: 'normal' | 'policy', more: object = {}) =>
    definePlugin({ name, ...more, apply: ({ hooks }) => hooks.prepare.tap('note', { stage }, () => void seen.push(name)) });
  const late = definePlugin({
    name: 'aaa-late',
    activation: ['command:wake'],
    commands: [{ name: 'wake', summary: 'wakes it' }],
    apply: ({ hooks, registries }) => {
      hooks.prepare.tap('note', () => void seen.push('aaa-late'));
      registries.commands.add({ name: 'wake', summary: 'wakes it', run: () => 'awake' });
    },
  });
  await using session = await createTestSession({
    plugins: [tapper('zzz', 'policy'), tapper('mmm', 'normal', { after: ['nnn'] }), tapper('nnn', 'normal'), late],
    script: [say('1'), say('2')],
  });
  await session.run('a');
  expect(seen).toEqual(['zzz', 'nnn', 'mmm']);
  expect((await session.report()).plugins.find((plugin) => plugin.name === 'aaa-late')).toMatchObject({ state: 'waiting', why: 'waits for command:wake' });
  expect((await session.client.snapshot()).commands).toContainEqual({ name: 'wake', summary: 'wakes it', whileRunning: false });
  expect(await session.client.command('wake', '')).toEqual({ ok: true, result: 'awake' });
  seen.length = 0;
  await session.run('b');
  expect(seen).toEqual(['zzz', 'aaa-late', 'nnn', 'mmm']);
});

test('a resumed session wakes exactly the plugins that left state in it', async () => {
  const mode = definePlugin({
    name: 'mode',
    activation: ['command:mode', 'entry:mode'],
    commands: [{ name: 'mode', summary: 'x' }],
    apply: ({ registries, state }) => {
      const slice = state({ name: 'on', data: z.boolean(), initial: false, fold: (_, on) => on });
      registries.commands.add({ name: 'mode', summary: 'x', run: async (args) => (args === 'on' && (await slice.record(true)), String(slice.value)) });
    },
  });
  const first = await createTestSession({ plugins: [mode], script: [say('x')] });
  await first.run('hi');
  await using untouched = await createTestSession({ plugins: [mode], store: first.store, session: first.id });
  expect((await untouched.report()).plugins.find((plugin) => plugin.name === 'mode')?.state).toBe('waiting');
  await first.client.command('mode', 'on');
  await using next = await createTestSession({ plugins: [mode], store: first.store, session: first.id });
  expect((await next.report()).plugins.find((plugin) => plugin.name === 'mode')).toMatchObject({ state: 'active', why: 'because of entry:mode' });
  expect(await next.client.command('mode', '')).toEqual({ ok: true, result: 'true' });
  await first.close();
});

test('entries that the schema of a slice refuses are passed over with a warning', async () => {
  const withSchema = (data: Parameters<typeof definePlugin>[0]['options'], value: unknown) =>
    definePlugin({
      name: 'slice',
      apply: ({ registries, state }) => {
        const slice = state({ name: 's', data: data ?? z.unknown(), initial: 'none' as unknown, fold: (_, next) => next });
        registries.commands.add({ name: 'set', summary: 'x', run: () => slice.record(value) });
        registries.commands.add({ name: 'get', summary: 'x', run: () => JSON.stringify(slice.value) });
      },
    });
  const first = await createTestSession({ plugins: [withSchema(z.number(), 7)] });
  await first.client.command('set', '');
  expect(await first.client.command('get', '')).toEqual({ ok: true, result: '7' });
  await using next = await createTestSession({ plugins: [withSchema(z.string(), 7)], store: first.store, session: first.id });
  expect(await next.client.command('get', '')).toEqual({ ok: true, result: '"none"' });
  expect(await next.client.command('set', '')).toMatchObject({ ok: false, code: 'PLUGIN_INVALID' });
  await first.close();
});

test('services: provided, found, missing', async () => {
  const shell = { parts: () => [], isReadOnly: () => true, dangers: () => [] };
  const provider = definePlugin({ name: 'provider', provides: ['shell'], apply: ({ services }) => services.provide('shell', shell) });
  let got: unknown;
  const user = definePlugin({ name: 'user', uses: ['shell'], apply: ({ services, hooks }) => hooks.open.tap('get', () => void (got = services.get('shell'))) });
  await using session = await createTestSession({ plugins: [user, provider] });
  expect(got).toBe(shell);
  expect((await session.report()).plugins.find((plugin) => plugin.name === 'provider')?.brings.services).toEqual(['shell']);
  await session.close();
  await using without = await createTestSession({ plugins: [user, provider], config: { plugins: { provider: false } }, allowRefused: true });
  expect((await without.report()).plugins.map(({ name, state, why }) => [name, state, why])).toContainEqual([
    'user',
    'refused',
    'it uses the service shell, which no plugin that is on provides',
  ]);
  expect((await without.report()).plugins.map(({ name, state, why }) => [name, state, why])).toContainEqual(['provider', 'off', 'switched off by flags']);
});

test('setup runs once, apply once a generation; what they opened is closed in reverse', async () => {
  const log: string[] = [];
  const plugin = definePlugin({
    name: 'life',
    setup: ({ onDispose }) => {
      log.push('setup');
      onDispose(() => void log.push('host closed'));
    },
    apply: ({ onDispose, registries }) => {
      log.push('apply');
      onDispose(() => void log.push('first closed'));
      onDispose(() => void log.push('second closed'));
      registries.commands.add({ name: 'renew', summary: 'x', run: (_, at) => at.renew() });
    },
  });
  const session = await createTestSession({ plugins: [plugin], script: [say('x')] });
  await session.client.command('renew', '');
  expect(log).toEqual(['setup', 'apply', 'apply', 'second closed', 'first closed']);
  await session.close();
  expect(log.slice(5)).toEqual(['second closed', 'first closed', 'host closed']);
});

test('a report names every tap with place, stage and source line, and counts what it did', async () => {
  const plugin = definePlugin({
    name: 'counted',
    apply: ({ hooks, registries }) => {
      registries.tools.add(tool('x'));
      hooks.gate.tap('only x', { stage: 'policy', when: { tool: ['x', 'y'] } }, () => undefined);
      hooks.result.tap('shorten', () => ({ content: 'short' }));
    },
  });
  await using session = await createTestSession({ plugins: [plugin], script: [use('x'), use('x'), say('done')] });
  await session.run('go');
  const hooks = (await session.report()).hooks;
  expect(hooks.map((hook) => hook.name)).toHaveLength(21);
  expect(hooks.find((hook) => hook.name === 'gate')?.taps).toMatchObject([
    {
      place: 1,
      plugin: 'counted',
      label: 'only x',
      stage: 'policy',
      when: ['x', 'y'],
      calls: 2,
      changed: 0,
      faults: 0,
      state: 'open',
      source: expect.stringMatching(/generation\.test\.ts:\d+:\d+$/),
    },
  ]);
  expect(hooks.find((hook) => hook.name === 'result')?.taps).toMatchObject([{ calls: 2, changed: 2 }]);
});

test('storage outlives sessions and is parsed on the way back', async () => {
  const keeper = definePlugin({
    name: 'keeper',
    apply: ({ storage, registries }) => {
      registries.commands.add({ name: 'keep', summary: 'x', run: async (value) => storage.project.set('key', value) });
      registries.commands.add({
        name: 'kept',
        summary: 'x',
        run: async () =>
          JSON.stringify([
            await storage.project.get('key', z.string()),
            await storage.user.get('key', z.string()),
            await storage.project.get('key', z.number()),
          ]),
      });
    },
  });
  await using session = await createTestSession({ plugins: [keeper] });
  await session.client.command('keep', 'this');
  expect(await session.client.command('kept', '')).toEqual({ ok: true, result: '["this",null,null]' });
});

test('credentials appear in nothing that leaves the kernel', async () => {
  const leaky = definePlugin({
    name: 'leaky',
    capabilities: ['secrets'],
    apply: ({ registries, powers, environment, notice }) => {
      registries.tools.add(
        defineTool({
          name: 'leak',
          description: 'x',
          effect: 'read',
          input: jsonSchema<object>({ type: 'object' }),
          run: async () => {
            notice(`key is ${(await powers.secrets.get('CAST_API_KEY')) ?? ''}`);
            return `${(await powers.secrets.get('CAST_API_KEY')) ?? ''} ${environment['CAST_API_KEY'] ?? 'not there'}`;
          },
        }),
      );
    },
  });
  await using session = await createTestSession({
    plugins: [leaky],
    script: [use('leak'), say('done')],
    environment: { CAST_API_KEY: 'sk-very-secret-value' },
  });
  await session.run('go');
  expect(session.results()).toMatchObject([{ content: '[redacted] not there' }]);
  expect(JSON.stringify([session.all(), await session.entries()])).not.toContain('sk-very-secret-value');
});
