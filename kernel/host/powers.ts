/** What a capability gives. Disclosure and accident prevention: what is not declared is not there. */
import type { ConfigView } from '../contracts/config.ts';
import type { Powers } from '../contracts/powers.ts';
import type { Store } from '../contracts/store.ts';
import type { CastEvent } from '../events.ts';
import type { Capability } from '../plugin.ts';
import { CastError } from '../errors.ts';
import { asPlugin } from '../hooks/as-plugin.ts';
import type { SpawnSpec } from '../hooks/subjects.ts';
import { offTheClock } from '../hooks/running.ts';
import { Aborted, type Session } from '../session/session.ts';
import type { Generation } from '../session/generation.ts';
import { canonicalPath } from '../paths.ts';
import type { Credentials } from './credentials.ts';
import type { Spawner } from './spawn.ts';

export interface PowerSource {
  readonly credentials: Credentials;
  /** Null where there is no session: in `setup`, and for whatever `host` is used for. */
  readonly session: Session | null;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** `$CAST_HOME`. */
  readonly home: string;
  /** Of the generation; absent where there is none. */
  readonly config?: ConfigView;
  readonly generation?: Generation;
}

export const createPowers = (plugin: string, capabilities: readonly Capability[], source: PowerSource): Powers => {
  const makers: { readonly [K in Capability]: () => Powers[K] } = {
    fs: () => ({ canonical: (path, cwd) => canonicalPath(path, cwd) }),
    process: () => (source.session ? processPower(plugin, source.credentials, source.session) : noProcesses(plugin)),
    net: () => ({ fetch: lazyFetch(source.environment) }),
    model: () => ({ ask: (request, signal) => offTheClock(async () => (await import('./ask-model.ts')).askModel(plugin, source.session, request, signal)) }),
    secrets: () => ({ get: (name) => source.credentials.get(name), set: (name, value) => source.credentials.set(name, value) }),
    sessions: () => sessionsPower(plugin, source.session),
    children: () => childrenPower(plugin, source.session),
    settings: () => settingsPower(source),
    boundary: () => boundaryPower(plugin, source),
  };
  const powers = Object.fromEntries(capabilities.map((capability) => [capability, makers[capability]()]));
  return new Proxy(powers as unknown as Powers, {
    get: (target, name) => {
      if (typeof name !== 'string' || name in target) return Reflect.get(target, name) as unknown;
      if (!(name in makers)) return undefined;
      throw new CastError('PLUGIN_INVALID', `plugin ${plugin} uses powers.${name} without declaring it`, { plugin, fix: `Add '${name}' to \`capabilities\`.` });
    },
  });
};

/** The modules behind it are loaded by the first child process or request. */
const processPower = (plugin: string, credentials: Credentials, session: Session): Powers['process'] => {
  let spawner: Promise<Spawner> | undefined;
  const prepare = (spec: SpawnSpec, signal: AbortSignal): Promise<SpawnSpec> => session.hooks.waterfall('spawn', spec, { session: session.face, signal });
  const get = (): Promise<Spawner> => {
    spawner ??= import('./spawn.ts').then(({ createSpawner, scrubEnvironment }) =>
      createSpawner({ environment: scrubEnvironment(credentials.environment), plugin, prepare }),
    );
    return spawner;
  };
  return {
    run: (argv, options) => offTheClock(async () => (await get()).run(argv, options)),
    spawn: (argv, options) => offTheClock(async () => (await get()).spawn(argv, options)),
  };
};

/** Outside of a session there is no `spawn` hook, so whoever guards processes would be passed by. */
const noProcesses = (plugin: string): Powers['process'] => {
  const refuse = (): Promise<never> =>
    Promise.reject(
      new CastError('PLUGIN_INVALID', `plugin ${plugin} starts a process outside of a session`, {
        plugin,
        fix: 'Use `scope.powers.process`, which `apply` is given: it passes the `spawn` hook.',
      }),
    );
  return { run: refuse, spawn: refuse };
};

const sessionsPower = (plugin: string, session: Session | null): Powers['sessions'] => {
  const store = (): Store => {
    if (session) return session.store;
    throw new CastError('PLUGIN_INVALID', `plugin ${plugin} reads sessions outside of a session`, { plugin, fix: 'Use `scope.powers.sessions`.' });
  };
  return { get: async (id) => store().get(id), list: async (query) => store().list(query) };
};

const childrenPower = (plugin: string, session: Session | null): Powers['children'] => ({
  run: (order, signal) =>
    offTheClock(async () => {
      if (!session)
        throw new CastError('PLUGIN_INVALID', `plugin ${plugin} opens child sessions outside of a session`, { plugin, fix: 'Use `scope.powers.children`.' });
      const { runChild } = await import('../session/children.ts');
      const { watch } = order;
      const told = (event: CastEvent): void =>
        asPlugin(
          { plugin, where: 'event', label: 'child' },
          () => watch?.(event),
          (message) => session.pluginFault(plugin, 'children', 'watch', message),
        );
      const next = () => runChild(session, { ...order, watch: told }, signal);
      return session.generation.boundary?.child?.(order, signal, next) ?? next();
    }),
});

const settingsPower = ({ home, session, config }: PowerSource): Powers['settings'] => ({
  set: async (changes, where = 'user') => {
    const { saveSettings } = await import('./settings-file.ts');
    const saved = await saveSettings({ home, root: session?.root, where, config }, changes);
    if (saved.keys.some((key) => key === 'model' || key === 'provider')) session?.takeConfiguredModel();
    return saved;
  },
});

const boundaryPower = (plugin: string, { session, generation }: PowerSource): Powers['boundary'] => {
  const here = (): Session => {
    if (session) return session;
    throw new CastError('PLUGIN_INVALID', `plugin ${plugin} uses powers.boundary outside of a session`, { plugin, fix: 'Use `scope.powers.boundary`.' });
  };
  return {
    stand: (boundary) => generation?.stand(plugin, boundary),
    redact: (value) => here().exits.redact(value),
    plugins: () => [...here().generation.plugins.values()].map(({ name, version, state }) => ({ name, version, state })),
    used: (usage) => here().used(usage),
    append: async (batch) => void (await here().append(batch)),
    bring: (input) => here().turns.bring(input),
    abort: (reason) => here().abort(new Aborted(reason)),
  };
};

const lazyFetch = (environment: PowerSource['environment']): Powers['net']['fetch'] => {
  let made: Promise<Powers['net']['fetch']> | undefined;
  return async (input, init) => {
    made ??= import('./fetch.ts').then(({ createFetch }) => createFetch(environment));
    return (await made)(input, init);
  };
};
