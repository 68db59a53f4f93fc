/** Two sessions of one process: what the one has found out, the other knows. */
import { expect, test } from 'vitest';
import { createKernel } from '../../../kernel/host/kernel.ts';
import { manifestOf } from '../../../kernel/host/manifest.ts';
import { type CastConfig, type CastEvent, definePlugin, type PluginRef, type ProviderConfig } from '../../../kernel/index.ts';
import { fail, manualClock, say, scriptedProvider } from '../../../kernel/testkit/index.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fallback from '../../../plugins/fallback/index.ts';

const CONFIG: CastConfig = { provider: 'a', model: 'm', fallback: ['b/m'] };

const openKernel = () => {
  const folder = mkdtempSync(join(tmpdir(), 'cast-fallback-'));
  const clock = manualClock();
  const a = { ...scriptedProvider([fail('quota', 'empty'), say('from a')]), name: 'a' };
  const b = { ...scriptedProvider([say('b1'), say('b2'), say('b3')]), name: 'b' };
  const bring = definePlugin({ name: 'bring', apply: ({ registries }) => void [a, b].map((provider) => registries.providers.add(provider)) });
  const builtins = [bring, fallback].map((plugin): PluginRef => {
    const each = plugin as never as typeof bring;
    return { manifest: manifestOf(each.spec.name ?? '', each.spec), builtin: true, source: 'test', load: async () => each };
  });
  const kernel = createKernel({ home: join(folder, 'home'), version: '0.0.0', builtins, clock });
  /** One turn of a new session: its answer, and what was said beside it. */
  const ask = async (config: CastConfig): Promise<{ text: string; lines: readonly string[] }> => {
    const options = { cwd: folder, root: folder, interactive: false, ephemeral: true, environment: {}, plugins: [] };
    const { client, close } = await kernel.open({ ...options, layers: [{ name: 'flags', data: config }] });
    await client.submit({ text: 'go', clientId: 'c' });
    const events: CastEvent[] = [];
    for await (const event of client.events()) {
      events.push(event);
      if (event.type === 'turn.ended') break;
    }
    await close('over');
    const lines = events.flatMap(({ type, data }) => (type === 'retry' ? [data.reason] : type === 'notice' ? [data.text] : []));
    return { text: events.flatMap(({ type, data }) => (type === 'reply.accepted' ? [data.visible] : [])).join(), lines };
  };
  const end = async (): Promise<void> => {
    await kernel.shutdown('over');
    rmSync(folder, { recursive: true, force: true });
  };
  return { ask, clock, [Symbol.asyncDispose]: end };
};

test('a second session does not ask what is away, and says so in one line', async () => {
  await using at = openKernel();
  expect(await at.ask(CONFIG)).toEqual({ text: 'b1', lines: ['b/m takes over from a/m for 60 min: empty'] });
  await at.clock.advance(20 * 60_000);
  expect(await at.ask(CONFIG)).toEqual({ text: 'b2', lines: ['b/m is asked in place of a/m, which is left alone for 40 min.'] });
  await at.clock.advance(40 * 60_000);
  expect(await at.ask(CONFIG)).toEqual({ text: 'from a', lines: [] });
});

test.each([{ baseUrl: 'http://127.0.0.1:2/v1' }, { baseUrl: 'http://127.0.0.1:1/v1', key: 'OTHER_KEY' }])(
  'a session with another provider under the same name knows nothing of it: %j',
  async (other) => {
    await using at = openKernel();
    const configOf = (a: ProviderConfig): CastConfig => ({ ...CONFIG, providers: { a } });
    await at.ask(configOf({ baseUrl: 'http://127.0.0.1:1/v1' }));
    expect((await at.ask(configOf({ baseUrl: 'http://127.0.0.1:1/v1', temperature: 0 }))).text).toBe('b2');
    expect(await at.ask(configOf(other))).toEqual({ text: 'from a', lines: [] });
  },
);
