/** A model that is chosen in a session: in force from the next turn, kept for the next start, and in the record. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type CastConfig, type Command, definePlugin } from '../../../kernel/index.ts';
import { createTestSession, hang, say, type TestSessionOptions } from '../../../kernel/testkit/index.ts';

/** `/choose` saves what its arguments say, as JSON, and renews. */
const chooser = definePlugin<never, 'settings'>({
  name: 'chooser',
  capabilities: ['settings'],
  apply: ({ registries, powers }) => {
    const choose: Command = {
      name: 'choose',
      summary: 'Saves settings.',
      whileRunning: (args) => args.startsWith('{'),
      run: async (args, at) => {
        const { shadowed } = await powers.settings.set(JSON.parse(args) as CastConfig & Record<string, unknown>);
        await at.renew();
        return shadowed.map(({ key }) => key).join(', ');
      },
    };
    registries.commands.add(choose);
  },
});
const SETTINGS: CastConfig = { provider: 'script', model: 'first' };
const open = (more: TestSessionOptions = {}) =>
  createTestSession({ plugins: [chooser as never], settings: SETTINGS, script: [say('a'), say('b'), say('c')], ...more });

test('answers from the next turn on, and the record says so', async () => {
  await using session = await open();
  await session.run('one');
  expect(await session.client.command('choose', '{"model":"second"}')).toMatchObject({ ok: true });
  await session.run('two');
  expect(session.requests.map(({ model }) => model)).toEqual(['first', 'second']);
  expect(await session.client.snapshot()).toMatchObject({ model: 'second' });
  expect(await session.store.get(session.id)).toMatchObject({ model: 'second', provider: 'script' });
  expect(session.events('notice')).toMatchObject([{ code: 'MODEL_CHANGED', text: expect.stringMatching(/first.*second/) }]);
  const file = join(session.home, 'settings.json');
  expect([statSync(file).mode & 0o777, JSON.parse(readFileSync(file, 'utf8'))]).toMatchObject([0o600, { provider: 'script', model: 'second' }]);
});

test('counts as well when a resumed session used another', async () => {
  const first = await open();
  await first.run('one');
  const { store, id } = first;
  await using session = await open({ store, session: id, settings: { ...SETTINGS, model: 'other' } });
  await session.run('two');
  await session.client.command('choose', '{"model":"other"}');
  await session.run('three');
  expect(session.requests.map(({ model }) => model)).toEqual(['first', 'other']);
  await first.close();
});

test('who only looks at a session with another model leaves its record as it is, until a turn uses it', async () => {
  const first = await open();
  await first.run('one');
  await first.close();
  const { store, id } = first;
  await using session = await open({ store, session: id, settings: { provider: 'other', model: 'second' } });
  expect(await session.client.snapshot()).toMatchObject({ model: 'second' });
  expect(await store.get(id)).toMatchObject({ model: 'first', provider: 'script' });
  await session.run('two').catch(() => undefined);
  expect(await store.get(id)).toMatchObject({ model: 'second', provider: 'other' });
});

test('another setting leaves the model of the session as it is', async () => {
  const first = await open();
  await first.run('one');
  await using session = await open({ store: first.store, session: first.id, settings: { ...SETTINGS, model: 'other' } });
  await session.client.command('choose', '{"reasoning":"high"}');
  await session.run('two');
  expect(session.requests).toMatchObject([{ model: 'first', reasoning: 'high' }]);
  await first.close();
});

test('flags win, and whoever chose is told', async () => {
  await using session = await open({ config: { model: 'asked' } });
  expect(await session.client.command('choose', '{"model":"second"}')).toEqual({ ok: true, result: 'model' });
  await session.run('one');
  expect(session.requests).toMatchObject([{ model: 'asked' }]);
});

test('a command may run beside a turn by what it is asked to do', async () => {
  await using session = await open({ script: [hang()] });
  const ended = session.run('one');
  await session.until('turn.started');
  expect((await session.client.snapshot()).commands).toMatchObject([{ name: 'choose', whileRunning: false }]);
  expect(await session.client.command('choose', 'x')).toMatchObject({ ok: false, code: 'SESSION_BUSY' });
  expect(await session.client.command('choose', '{"model":"second"}')).toMatchObject({ ok: true });
  expect(await session.client.snapshot()).toMatchObject({ model: 'first' });
  await session.client.abort();
  await ended;
});
