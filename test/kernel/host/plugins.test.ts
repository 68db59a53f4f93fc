/** Plugins of the process: loaded once by what they are, held to their time, without the powers of a session. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { definePlugin, type Capability, type Host, type Plugin } from 'cast';
import { silentLog, systemClock } from '../../../kernel/host/clock.ts';
import { manifestOf } from '../../../kernel/host/manifest.ts';
import { PluginHost } from '../../../kernel/host/plugins.ts';
import { SavedSecrets } from '../../../kernel/host/secrets.ts';
import { countingIds } from '../../../kernel/testkit/clock.ts';

const homes: string[] = [];
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true });
});
const homeWith = (secrets: object): string => {
  const home = mkdtempSync(join(tmpdir(), 'cast-plugins-'));
  homes.push(home);
  writeFileSync(join(home, 'secrets.json'), JSON.stringify(secrets));
  return home;
};
const hostIn = (home = homeWith({}), secrets = new SavedSecrets(home)): PluginHost =>
  new PluginHost({ home, clock: systemClock, ids: countingIds(), log: silentLog, secrets });
const ref = (plugin: Plugin, more: { source?: string; key?: string; name?: string } = {}) => ({
  manifest: manifestOf(more.name ?? 'mine', plugin.spec),
  builtin: false,
  source: more.source ?? 'a',
  load: async () => plugin,
  ...(more.key === undefined ? {} : { key: more.key }),
});

describe('a plugin is loaded once', () => {
  test.each([
    ['for one ref', {}, {}, true, 1],
    ['for each ref without a key', {}, {}, false, 2],
    ['for refs of one source, name and key', { key: 'k' }, { key: 'k' }, false, 1],
    ['again when its content is another', { key: 'k' }, { key: 'l' }, false, 2],
    ['again when it comes from elsewhere', { key: 'k' }, { key: 'k', source: 'b' }, false, 2],
  ])('%s', async (_, first, second, isSame, setups) => {
    let count = 0;
    const plugin = definePlugin({ setup: () => void (count += 1) });
    const host = hostIn();
    const one = ref(plugin, first);
    await Promise.all([host.load(one), host.load(isSame ? one : ref(plugin, second))]);
    expect(count).toBe(setups);
  });

  test('and two of one name share no pool', async () => {
    const made: string[] = [];
    const pooling = (what: string): Plugin => definePlugin({ setup: ({ pool }) => void made.push(pool('shared', () => what)) });
    const host = hostIn();
    await host.load(ref(pooling('one'), { source: 'a' }));
    await host.load(ref(pooling('two'), { source: 'b' }));
    expect(made).toEqual(['one', 'two']);
  });
});

describe('time', () => {
  test('a set-up that never settles fails by name', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const loading = hostIn().load(ref(definePlugin({ setup: () => new Promise(() => undefined) }), { name: 'sleeper' }));
    const failed = expect(loading).rejects.toMatchObject({
      code: 'PLUGIN_FAILED',
      plugin: 'sleeper',
      message: 'the set-up of plugin sleeper failed: took longer than 30000 ms (a)',
    });
    await vi.advanceTimersByTimeAsync(30_000);
    await failed;
  });

  test('what never settles at the end is named and passed over', async () => {
    const closed: string[] = [];
    const plugin = definePlugin({
      setup: ({ onDispose, pool }) => {
        onDispose(() => void closed.push('first'));
        onDispose(() => new Promise(() => undefined));
        pool(
          'hanging',
          () => 1,
          () => new Promise(() => undefined),
        );
      },
    });
    const host = hostIn();
    await host.load(ref(plugin, { name: 'sleeper' }));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const faults: string[] = [];
    const disposing = host.dispose((from, error) => void faults.push(`${from}: ${(error as Error).message}`));
    await vi.advanceTimersByTimeAsync(4_000);
    await disposing;
    expect([faults, closed]).toEqual([['sleeper: took longer than 2000 ms', 'sleeper: took longer than 2000 ms'], ['first']]);
  });
});

describe('outside of a session', () => {
  const handed = async (host: PluginHost, capabilities: readonly Capability[]): Promise<Host<Capability>> => {
    let given: Host<Capability> | undefined;
    await host.load(ref(definePlugin<never, Capability>({ capabilities, setup: (each) => void (given = each) }) as Plugin));
    if (!given) throw new Error('not set up');
    return given;
  };

  test('no process is started, because no `spawn` hook would see it', async () => {
    const { powers } = await handed(hostIn(), ['process']);
    const options = { cwd: '/', purpose: 'test', signal: new AbortController().signal };
    for (const start of [powers.process.run, powers.process.spawn])
      await expect(start(['true'], options)).rejects.toMatchObject({
        code: 'PLUGIN_INVALID',
        plugin: 'mine',
        fix: expect.stringContaining('scope.powers.process'),
      });
  });

  test('secrets are the saved ones, never those of the process, and known from then on', async () => {
    vi.stubEnv('CAST_API_KEY', 'sk-of-the-daemon');
    const home = homeWith({ GITHUB: 'saved-github-key' });
    const saved = new SavedSecrets(home);
    const { powers } = await handed(hostIn(home, saved), ['secrets']);
    expect([await powers.secrets.get('CAST_API_KEY'), await powers.secrets.get('GITHUB')]).toEqual([undefined, 'saved-github-key']);
    expect([...saved.values]).toEqual(['saved-github-key']);
  });
});

test('a module that calls process.exit while it is loaded is refused by name', async () => {
  const { guardExit } = await import('../../../kernel/host/exit-guard.ts');
  guardExit();
  const quitter = { ...ref(definePlugin({})), load: async () => process.exit(3) };
  await expect(hostIn().load(quitter)).rejects.toMatchObject({ code: 'PLUGIN_EXIT', plugin: 'mine' });
});
