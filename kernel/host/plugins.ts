/** Plugins of the process: their code loaded once, set up once, their options read once a generation. */
import type { ConfigView } from '../contracts/config.ts';
import type { PluginRef } from '../contracts/kernel.ts';
import type { Store } from '../contracts/store.ts';
import { CastError, isCastError, messageOf } from '../errors.ts';
import { runAs, runAsKernel, within } from '../hooks/running.ts';
import { LIMITS } from '../limits.ts';
import { isPlugin, type Capability, type Clock, type Dispose, type Host, type Ids, type Log, type Plugin, type PluginSpec } from '../plugin.ts';
import { defaultsOf, pathOf, validate, type Schema } from '../schema.ts';
import { withoutCredentials } from './child-environment.ts';
import { describeOrigin, optionsOf } from './config.ts';
import { dispose } from '../session/dispose.ts';
import { createCredentials } from './credentials.ts';
import { createPowers } from './powers.ts';
import type { SavedSecrets } from './secrets.ts';

export interface LoadedPlugin {
  readonly ref: PluginRef;
  readonly spec: PluginSpec<Schema, Capability>;
  readonly host: Host<Capability>;
  readonly loadMs: number;
}

export interface PluginHostOptions {
  readonly home: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly secrets: SavedSecrets;
}

interface Release {
  /** The plugin that it belongs to. */
  readonly from: string;
  readonly run: Dispose;
}
interface Pooled {
  readonly from: string;
  readonly value: unknown;
  readonly dispose: ((value: never) => void | Promise<void>) | undefined;
}

export class PluginHost {
  readonly stores: Store[] = [];
  readonly #loaded = new Map<PluginRef | string, Promise<LoadedPlugin>>();
  readonly #disposals: Release[] = [];
  readonly #pool = new Map<string, Pooled>();
  readonly #at: PluginHostOptions;

  constructor(options: PluginHostOptions) {
    this.#at = options;
  }

  /** Same code, loaded once: `setup` has run exactly once when this resolves. */
  load(ref: PluginRef): Promise<LoadedPlugin> {
    const key = identityOf(ref);
    let loading = this.#loaded.get(key);
    if (!loading) {
      // It is for the whole process, whichever plugin's command or tap happened to need it first.
      loading = runAsKernel(() => this.#load(ref, this.#loaded.size));
      this.#loaded.set(key, loading);
    }
    return loading;
  }

  async #load(ref: PluginRef, serial: number): Promise<LoadedPlugin> {
    const { name } = ref.manifest;
    const startedAt = performance.now();
    const { spec } = pluginIn(await imported(ref), ref);
    const host = this.#hostFor(ref, serial);
    try {
      await within(LIMITS.setupMs, () => runAs({ plugin: name, where: 'setup', label: 'setup' }, () => spec.setup?.(host as never)));
    } catch (error) {
      throw new CastError('PLUGIN_FAILED', `the set-up of plugin ${name} failed: ${messageOf(error)} (${ref.source})`, {
        cause: error,
        plugin: name,
        fix: `Mend it, or switch it off with --plugin ${name}=off.`,
      });
    }
    return { ref, spec: spec as LoadedPlugin['spec'], host, loadMs: performance.now() - startedAt };
  }

  #hostFor(ref: PluginRef, serial: number): Host<Capability> {
    const { name, capabilities } = ref.manifest;
    // Keys are those of whoever opens a session: the process has saved ones only.
    const credentials = createCredentials({}, this.#at.secrets);
    return {
      home: this.#at.home,
      log: this.#at.log,
      clock: this.#at.clock,
      ids: this.#at.ids,
      powers: createPowers(name, capabilities, { session: null, home: this.#at.home, environment: withoutCredentials(process.env), credentials }),
      stores: { add: (store) => void this.stores.push(store) },
      // By serial number: two projects may have plugins of one name.
      pool: (key, make, dispose) => this.#pooled(name, `${serial}/${key}`, make, dispose),
      onDispose: (run) => void this.#disposals.push({ from: name, run }),
    };
  }

  #pooled<T>(from: string, key: string, make: () => T, dispose?: (value: T) => void | Promise<void>): T {
    const there = this.#pool.get(key);
    if (there) return there.value as T;
    const value = make();
    this.#pool.set(key, { from, value, dispose: dispose as Pooled['dispose'] });
    return value;
  }

  /** In reverse order of registration; one that throws, or never settles, does not keep the others from running. */
  async dispose(onFault: (plugin: string, error: unknown) => void): Promise<void> {
    const pooled = [...this.#pool.values()].map(({ from, value, dispose }): Release => ({ from, run: () => dispose?.(value as never) }));
    const all = [...this.#disposals.splice(0), ...pooled].reverse();
    this.#pool.clear();
    for (const release of all) await dispose(release, onFault);
    for (const store of this.stores) await dispose({ from: store.name, run: () => store.close() }, onFault);
  }
}

/** What may be loaded once for two refs: the same content from the same place, else only the very same ref. */
const identityOf = (ref: PluginRef): PluginRef | string => (ref.key === undefined ? ref : [ref.source, ref.manifest.name, ref.key].join('\n'));

const imported = async (ref: PluginRef): Promise<unknown> => {
  try {
    return await runAs({ plugin: ref.manifest.name, where: 'load', label: ref.source }, () => ref.load());
  } catch (error) {
    if (isCastError(error)) throw error;
    throw new CastError('PLUGIN_INVALID', `plugin ${ref.manifest.name} cannot be loaded: ${messageOf(error)} (${ref.source})`, {
      cause: error,
      plugin: ref.manifest.name,
      fix: `Mend it, or switch it off with --plugin ${ref.manifest.name}=off.`,
    });
  }
};

const pluginIn = (loaded: unknown, ref: PluginRef): Plugin => {
  if (isPlugin(loaded)) return loaded;
  const exported = (loaded as { default?: unknown } | undefined)?.default;
  if (isPlugin(exported)) return exported;
  const what = exported === undefined ? 'has no default export' : `exports ${exported === null ? 'null' : typeof exported}`;
  throw new CastError('PLUGIN_INVALID', `plugin ${ref.manifest.name} ${what}, and a plugin is expected (${ref.source})`, {
    plugin: ref.manifest.name,
    fix: 'Write `export default definePlugin({ … })`.',
  });
};

/** What the configuration says, through the plugin's own schema. Without a word from anybody, no schema library is loaded. */
export const readOptions = async (plugin: LoadedPlugin, config: ConfigView): Promise<unknown> => {
  const { name } = plugin.ref.manifest;
  const given = optionsOf(config, name);
  const { options: schema } = plugin.spec;
  if (!schema) return noOptions(config, name, Object.keys(given)[0]);
  const defaults = Object.keys(given).length === 0 ? defaultsOf(schema) : undefined;
  if (defaults !== undefined) return Object.freeze(defaults);
  const outcome = await validate(schema, given);
  if (!outcome.issues) return Object.freeze(outcome.value);
  const [issue = { message: 'is not right' }] = outcome.issues;
  throw invalidOption(config, ['plugins', name, pathOf(issue)].filter(Boolean).join('.'), issue.message, name);
};

const noOptions = (config: ConfigView, plugin: string, given: string | undefined): unknown => {
  if (given !== undefined) throw invalidOption(config, `plugins.${plugin}.${given}`, `plugin ${plugin} takes no options`, plugin);
  return Object.freeze({});
};

const invalidOption = (config: ConfigView, key: string, what: string, plugin: string): CastError => {
  // The nearest key above it that somebody set says where to look.
  const parts = key.split('.');
  const origin = parts.map((_, i) => config.origin(parts.slice(0, parts.length - i).join('.'))).find((found) => found !== undefined);
  return new CastError('CONFIG_INVALID', `${key}: ${what}${origin ? ` (from ${describeOrigin(origin)})` : ''}`, {
    plugin,
    fix: `Correct ${key}, or take it out to use the default.`,
  });
};
