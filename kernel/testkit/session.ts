/** A real session on a scripted provider and a memory store: what a plugin's tests are written against. */
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '../contracts/client.ts';
import type { CastConfig } from '../contracts/config.ts';
import type { PluginRef } from '../contracts/kernel.ts';
import type { Report } from '../contracts/report.ts';
import type { Store } from '../contracts/store.ts';
import type { Entry, ModelRequest, ResultBlock } from '../data.ts';
import type { CastEvent, EventMap, EventType } from '../events.ts';
import { CastError } from '../errors.ts';
import { createIds, systemClock } from '../host/clock.ts';
import { createKernel } from '../host/kernel.ts';
import { manifestOf } from '../host/manifest.ts';
import { definePlugin, type Clock, type Plugin } from '../plugin.ts';
import { createMemoryStore } from '../session/memory-store.ts';
import { scriptedProvider, type Beat } from './script.ts';

export interface TestSessionOptions {
  /** Plugins by name, or in a list when each has a name of its own. */
  readonly plugins?: readonly Plugin[] | Readonly<Record<string, Plugin>>;
  readonly script?: readonly Beat[];
  /** For requests that are not the conversation's own: judge, summary, title. */
  readonly aux?: Beat;
  readonly config?: CastConfig;
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
  readonly answer?: (question: EventMap['question.asked']['question']) => string | undefined;
}

export interface TestSession extends AsyncDisposable {
  readonly id: string;
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

const named = (plugins: TestSessionOptions['plugins'] = []): readonly PluginRef[] => {
  const pairs = Array.isArray(plugins)
    ? (plugins as readonly Plugin[]).map((plugin, index) => [plugin.spec.name ?? `plugin-${index + 1}`, plugin] as const)
    : Object.entries(plugins as Record<string, Plugin>);
  return pairs.map(([name, plugin]) => ({ manifest: manifestOf(name, plugin.spec), builtin: true, source: 'test', load: async () => plugin }));
};
const givenOptions = (plugins: TestSessionOptions['plugins'] = []): Record<string, unknown> => {
  const pairs = Array.isArray(plugins)
    ? (plugins as readonly Plugin[]).map((plugin) => [plugin.spec.name, plugin] as const)
    : Object.entries(plugins as Record<string, Plugin>);
  return Object.fromEntries(pairs.flatMap(([name, plugin]) => (name !== undefined && plugin.given !== undefined ? [[name, plugin.given]] : [])));
};

export const createTestSession = async (options: TestSessionOptions = {}): Promise<TestSession> => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'cast-test-')));
  const cwd = options.cwd ?? folder;
  const clock = options.clock ?? systemClock;
  const provider = scriptedProvider(options.script ?? [], options.aux);
  const store = options.store ?? createMemoryStore(clock);
  const host = definePlugin({
    name: 'testkit',
    activation: ['start'],
    setup: ({ stores }) => stores.add({ ...bound(store), close: () => undefined }),
    apply: ({ registries }) => void registries.providers.add(provider),
  });
  const kernel = createKernel({
    home: join(folder, 'home'),
    version: '0.0.0-test',
    builtins: named([host]).concat(named(options.plugins)),
    clock,
    ids: createIds(systemClock),
  });
  const { plugins: configured = {}, ...config } = options.config ?? {};
  const { id, client, close } = await kernel.open({
    cwd,
    root: options.root ?? cwd,
    environment: { PATH: process.env['PATH'], HOME: folder, ...options.environment },
    interactive: options.interactive ?? false,
    layers: [{ name: 'flags', data: { provider: 'script', model: 'script-model', ...config, plugins: { ...givenOptions(options.plugins), ...configured } } }],
    plugins: [],
    ...(options.flags ? { flags: options.flags } : {}),
    ...(options.session === undefined ? {} : { session: { id: options.session } }),
  });
  const refused = (await client.report()).plugins.find((plugin) => plugin.state === 'refused');
  if (refused && !options.allowRefused) throw new CastError('PLUGIN_REFUSED', `plugin ${refused.name}: ${refused.why}`, { plugin: refused.name });
  const log: CastEvent[] = [];
  const watchers = new Set<(event: CastEvent) => void>();
  const pump = (async () => {
    for await (const event of client.events()) {
      log.push(event);
      for (const watcher of watchers) watcher(event);
      if (event.type !== 'question.asked') continue;
      const choice = options.answer?.(event.data.question);
      if (choice !== undefined) await client.answer(event.data.question.id, choice);
    }
  })();
  const until: TestSession['until'] = (type, fits = () => true) =>
    new Promise((resolve) => {
      const watcher = (event: CastEvent): void => {
        if (event.type !== type || !fits(event.data as never)) return;
        watchers.delete(watcher);
        resolve(event.data as never);
      };
      watchers.add(watcher);
    });
  let submitted = 0;
  const closeAll = async (): Promise<void> => {
    await close('test over');
    await pump;
    await kernel.shutdown('test over');
    await rm(folder, { recursive: true, force: true });
  };
  return {
    id,
    cwd,
    client,
    store,
    requests: provider.requests,
    run: async (text) => {
      const clientId = `test-${++submitted}`;
      const ended = until('turn.ended', (data) => data.clientId === clientId);
      await client.submit({ text, clientId });
      return ended;
    },
    events: (type) => log.flatMap((event) => (event.type === type ? [event.data as never] : [])),
    all: () => log,
    until,
    results: () => (provider.requests.at(-1)?.messages ?? []).flatMap((message) => message.blocks.filter((block) => block.type === 'result')),
    entries: async () => store.branch(id),
    text: () => log.flatMap((event) => (event.type === 'reply.accepted' ? [event.data.visible] : [])).join('\n'),
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
  branch: (id, head) => store.branch(id, head),
  read: (id, query) => store.read(id, query),
  remove: (id) => store.remove(id),
  close: () => store.close(),
});
