/** A real session on a scripted provider and a memory store: what a plugin's tests are written against. */
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '../contracts/client.ts';
import type { CastConfig, ConfigLayer } from '../contracts/config.ts';
import type { OpenOptions, PluginRef, Settings } from '../contracts/kernel.ts';
import type { Report } from '../contracts/report.ts';
import type { Store } from '../contracts/store.ts';
import type { Entry, ModelRequest, ResultBlock } from '../data.ts';
import type { CastEvent, EventMap, EventType } from '../events.ts';
import { CastError } from '../errors.ts';
import { createIds, systemClock } from '../host/clock.ts';
import { createKernel } from '../host/kernel.ts';
import { manifestOf } from '../host/manifest.ts';
import type { FieldValues } from '../hooks/subjects.ts';
import { definePlugin, type Clock, type Plugin } from '../plugin.ts';
import { createMemoryStore } from '../session/memory-store.ts';
import { followEvents, type EventLog } from './event-log.ts';
import { scriptedProvider, type Beat } from './script.ts';

export interface TestSessionOptions {
  /** Plugins by name, or in a list when each has a name of its own. */
  readonly plugins?: readonly Plugin[] | Readonly<Record<string, Plugin>>;
  readonly script?: readonly Beat[];
  /** For requests that are not the conversation's own: judge, summary, title. */
  readonly aux?: Beat;
  readonly config?: CastConfig;
  /** What `settings.json` holds at first; a renewal reads it again. With it the scripted model is not chosen by itself. */
  readonly settings?: CastConfig;
  readonly cwd?: string;
  /** Default: `cwd`. */
  readonly root?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly interactive?: boolean;
  readonly clock?: Clock;
  /** To go on with a session of an earlier test session. */
  readonly store?: Store;
  readonly session?: string;
  readonly flags?: Readonly<Record<string, boolean | string>>;
  /** Plugins that cannot run make the test fail at once, unless that is what is tested. */
  readonly allowRefused?: boolean;
  /** Answers questions as they come; undefined leaves one open. */
  readonly answer?: (question: EventMap['question.asked']['question']) => string | FieldValues | undefined;
}

export interface TestSession extends AsyncDisposable {
  readonly id: string;
  /** `$CAST_HOME`. */
  readonly home: string;
  readonly cwd: string;
  readonly client: Client;
  readonly store: Store;
  readonly requests: readonly ModelRequest[];
  /** Submits and waits for the end of that turn. */
  run(text: string): Promise<EventMap['turn.ended']>;
  /** Data of every event of a type, so far. */
  events<K extends EventType>(type: K): readonly EventMap[K][];
  all(): readonly CastEvent[];
  /** Resolves with the first event of a type that is not yet there, or that fits. */
  until<K extends EventType>(type: K, fits?: (data: EventMap[K]) => boolean): Promise<EventMap[K]>;
  /** Results of tool calls in the order of the calls, of the newest request's view. */
  results(): readonly ResultBlock[];
  entries(): Promise<readonly Entry[]>;
  /** Visible text of all replies. */
  text(): string;
  report(): Promise<Report>;
  close(): Promise<void>;
}

const pairsOf = (plugins: TestSessionOptions['plugins'] = []): readonly (readonly [string, Plugin])[] =>
  Array.isArray(plugins) ? (plugins as readonly Plugin[]).map((plugin, index) => [plugin.spec.name ?? `plugin-${index + 1}`, plugin]) : Object.entries(plugins);
const refsOf = (plugins: TestSessionOptions['plugins']): readonly PluginRef[] =>
  pairsOf(plugins).map(([name, plugin]) => ({ manifest: manifestOf(name, plugin.spec), builtin: true, source: 'test', load: async () => plugin }));

/** What `.with(…)` was given stands where a configuration would have it. */
const configOf = ({ plugins, config = {}, settings }: TestSessionOptions): CastConfig => {
  const given = pairsOf(plugins).flatMap(([name, plugin]) => (plugin.given === undefined ? [] : [[name, plugin.given] as const]));
  const model = settings === undefined ? { provider: 'script', model: 'script-model' } : {};
  return { ...model, ...config, plugins: { ...Object.fromEntries(given), ...config.plugins } };
};

const openOptions = async (options: TestSessionOptions, folder: string, home: string): Promise<OpenOptions> => {
  const { cwd = folder, root = cwd, interactive = false, flags = {}, session } = options;
  const reload = (): Promise<Settings> => readLayers(options, home);
  return {
    cwd,
    root,
    interactive,
    flags,
    environment: { PATH: process.env['PATH'], HOME: folder, ...options.environment },
    ...(await reload()),
    reload,
    ...(session === undefined ? {} : { session: { id: session } }),
  };
};

/** As a start reads them: `settings.json` first, then what the test asks for. */
const readLayers = async (options: TestSessionOptions, home: string): Promise<Settings> => {
  const file = join(home, 'settings.json');
  const text = await readFile(file, 'utf8').catch(() => undefined);
  const saved: readonly ConfigLayer[] = text === undefined ? [] : [{ name: 'user-settings', file, data: JSON.parse(text) as CastConfig }];
  return { layers: [...saved, { name: 'flags', data: configOf(options) }], plugins: [] };
};

export const createTestSession = async (options: TestSessionOptions = {}): Promise<TestSession> => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'cast-test-')));
  const { clock = systemClock, store = createMemoryStore(clock) } = options;
  const provider = scriptedProvider(options.script ?? [], options.aux);
  const host = definePlugin({
    name: 'testkit',
    activation: ['start'],
    setup: ({ stores }) => stores.add({ ...bound(store), close: () => undefined }),
    apply: ({ registries }) => void registries.providers.add(provider),
  });
  const builtins = [...refsOf([host]), ...refsOf(options.plugins)];
  const home = join(folder, 'home');
  if (options.settings) {
    await mkdir(home, { mode: 0o700 });
    await writeFile(join(home, 'settings.json'), JSON.stringify(options.settings), { mode: 0o600 });
  }
  const kernel = createKernel({ home, version: '0.0.0-test', builtins, clock, ids: createIds(systemClock) });
  const remove = async (): Promise<void> => {
    await kernel.shutdown('test over');
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const { id, client, close } = await kernel.open(await openOptions(options, folder, home));
    if (!options.allowRefused) await refuseRefused(client);
    const log = followEvents(client, options.answer);
    const closeAll = async (): Promise<void> => {
      await close('test over');
      await log.ended;
      await remove();
    };
    return sessionOf({ id, home, cwd: options.cwd ?? folder, client, store, log, requests: provider.requests, closeAll });
  } catch (error) {
    await remove();
    throw error;
  }
};

const refuseRefused = async (client: Client): Promise<void> => {
  const refused = (await client.report()).plugins.find((plugin) => plugin.state === 'refused');
  if (refused) throw new CastError('PLUGIN_REFUSED', `plugin ${refused.name}: ${refused.why}`, { plugin: refused.name });
};

interface Parts extends Pick<TestSession, 'id' | 'home' | 'cwd' | 'client' | 'store' | 'requests'> {
  readonly log: EventLog;
  readonly closeAll: () => Promise<void>;
}
const sessionOf = ({ id, home, cwd, client, store, requests, log, closeAll }: Parts): TestSession => {
  let submitted = 0;
  return {
    id,
    home,
    cwd,
    client,
    store,
    requests,
    run: async (text) => {
      const clientId = `test-${++submitted}`;
      const ended = log.until('turn.ended', (data) => data.clientId === clientId);
      await client.submit({ text, clientId });
      return ended;
    },
    events: log.of,
    all: () => log.all,
    until: log.until,
    results: () => (requests.at(-1)?.messages ?? []).flatMap((message) => message.blocks.filter((block) => block.type === 'result')),
    entries: async () => store.branch(id),
    text: () =>
      log
        .of('reply.accepted')
        .map((reply) => reply.visible)
        .join('\n'),
    report: () => client.report(),
    close: closeAll,
    [Symbol.asyncDispose]: closeAll,
  };
};

/** A store's methods as plain functions, so that one of them can be replaced. */
const bound = (store: Store): Store => ({
  name: store.name,
  create: (record) => store.create(record),
  get: (id) => store.get(id),
  list: (query) => store.list(query),
  update: (id, patch) => store.update(id, patch),
  claim: (id) => store.claim(id),
  append: (id, batch, how) => store.append(id, batch, how),
  branch: (id, query) => store.branch(id, query),
  read: (id, query) => store.read(id, query),
  remove: (id) => store.remove(id),
  close: () => store.close(),
});
