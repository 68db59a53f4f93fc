/** Configuration layers as one: nearest wins, key by key, and each key remembers where it was set. */
import { CastError } from '../errors.ts';
import type { ConfigLayer, ConfigView, LayerName, Origin } from '../contracts/config.ts';
import { isPlugin } from '../plugin.ts';
import { describeOrigin } from './config-shape.ts';
import { nearest, suggestion } from '../nearest.ts';

export { checkConfig, describeOrigin } from './config-shape.ts';

/** Something a layer asked for that it may not have. */
export interface Refusal {
  readonly key: string;
  readonly reason: string;
  readonly origin: Origin;
}
/** In `value.plugins` each plugin is `false` (off), `true` (on) or its options (on). */
export interface MergedConfig extends ConfigView {
  readonly refusals: readonly Refusal[];
}

type Bag = Record<string, unknown>;
interface PluginState {
  isOn: boolean;
  readonly bag: Bag;
}

const PROJECT_LAYERS: ReadonlySet<LayerName> = new Set(['project-settings', 'project-local', 'project']);
export const isProjectLayer = (layer: LayerName): boolean => PROJECT_LAYERS.has(layer);
/** Lists to which each layer adds; every other list is replaced by the nearer one. */
export const ADDING: ReadonlySet<string> = new Set(['permissions.allow', 'permissions.deny']);
/** Assigning it would change what an object is made of. */
const FORBIDDEN = '__proto__';

/** Merges layers, the farthest first. A layer of a project may neither switch off nor change the plugins named in `locked`. */
export const mergeLayers = (layers: readonly ConfigLayer[], locked: ReadonlySet<string> = new Set()): MergedConfig => {
  const merge = new Merge(locked);
  for (const layer of layers) merge.add(layer);
  return merge.view();
};

/** Options of a plugin over all layers; empty when it has none or is off. */
export const optionsOf = (view: ConfigView, name: string): Readonly<Record<string, unknown>> => {
  const entry = view.value.plugins?.[name];
  return isBag(entry) ? entry : {};
};

/** A plugin given in place, or where to load it from: it takes the place of whatever farther layers said. */
export const isPluginSource = (entry: unknown): boolean => typeof entry === 'string' || isPlugin(entry) || (isBag(entry) && typeof entry['from'] === 'string');

/** Throws CONFIG_UNKNOWN_PLUGIN for a name that is none of `known`; returns warnings. */
export const checkPluginNames = (layers: readonly ConfigLayer[], known: readonly string[]): readonly string[] => {
  const names = new Set(known);
  const warnings: string[] = [];
  for (const layer of layers) {
    for (const [name, entry] of Object.entries(layer.data.plugins ?? {})) {
      if (names.has(name)) continue;
      const where = describeOrigin(originOf(layer));
      // A file shared between versions of cast, or "always off" said in one project, must not stop where that plugin does not exist.
      if (entry === false && nearest(name, names) === undefined) {
        warnings.push(`plugins.${name} turns off a plugin that is not here (${where}).`);
        continue;
      }
      throw new CastError('CONFIG_UNKNOWN_PLUGIN', `plugins.${name}: there is no plugin of this name (${where}).${suggestion(name, names)}`, {
        fix: `Correct the name, remove the entry, or give a plugin to load: plugins.${name} = './my-plugin.ts'. \`cast plugins list\` shows all names.`,
      });
    }
  }
  return warnings;
};

/** As it stands in views and messages. */
export const originOf = (layer: ConfigLayer): Origin => ({ layer: layer.name, ...(layer.file === undefined ? {} : { file: layer.file }) });

/** A plain object: instances of classes (schemas, expressions, dates) are values, not containers. */
const isBag = (value: unknown): value is Bag => {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || isPlugin(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

class Merge {
  readonly #locked: ReadonlySet<string>;
  readonly #value: Bag = {};
  readonly #plugins = new Map<string, PluginState>();
  readonly #origins = new Map<string, Origin>();
  readonly #refusals: Refusal[] = [];

  constructor(locked: ReadonlySet<string>) {
    this.#locked = locked;
  }

  add(layer: ConfigLayer): void {
    const origin = originOf(layer);
    for (const [key, value] of Object.entries(layer.data)) {
      if (key === 'plugins' && isBag(value)) this.#addPlugins(value, origin);
      else this.#set(this.#value, key, key, value, origin);
    }
  }

  view(): MergedConfig {
    const value = { ...this.#value };
    if (this.#plugins.size > 0) value['plugins'] = Object.fromEntries([...this.#plugins].map(([name, state]) => [name, outcomeOf(name, state)]));
    const origins = this.#origins;
    return {
      value,
      refusals: this.#refusals,
      origin: (key) => origins.get(key),
      entries: () =>
        leaves(value, '').flatMap((leaf) => {
          const origin = origins.get(leaf.key);
          return origin ? [{ ...leaf, origin }] : [];
        }),
    };
  }

  #addPlugins(entries: Bag, origin: Origin): void {
    this.#origins.set('plugins', origin);
    for (const [name, entry] of Object.entries(entries)) {
      if (entry === undefined || this.#isRefused(name, entry, origin)) continue;
      this.#addPlugin(name, entry, origin);
    }
  }

  #isRefused(name: string, entry: unknown, origin: Origin): boolean {
    const isRefused = this.#locked.has(name) && isProjectLayer(origin.layer) && entry !== true;
    if (isRefused) {
      const reason = `${name} is locked: a project may neither turn it off, nor replace it, nor change its options`;
      this.#refusals.push({ key: `plugins.${name}`, reason, origin });
    }
    return isRefused;
  }

  #addPlugin(name: string, entry: unknown, origin: Origin): void {
    const key = `plugins.${name}`;
    const state = this.#plugins.get(name) ?? { isOn: true, bag: {} };
    this.#plugins.set(name, state);
    this.#origins.set(key, origin);
    state.isOn = entry !== false;
    if (typeof entry === 'boolean') return;
    if (isPluginSource(entry)) {
      this.#forget(key);
      delete state.bag[name];
      this.#set(state.bag, name, key, givenWith(entry), origin);
    } else this.#set(state.bag, name, key, entry, origin);
  }

  #set(bag: Bag, key: string, path: string, value: unknown, origin: Origin): void {
    if (value === undefined || key === FORBIDDEN) return;
    this.#origins.set(path, origin);
    if (isBag(value)) {
      const known = bag[key];
      const below = isBag(known) ? known : {};
      bag[key] = below;
      for (const [name, item] of Object.entries(value)) this.#set(below, name, `${path}.${name}`, item, origin);
    } else if (ADDING.has(path) && Array.isArray(value)) bag[key] = this.#append(bag[key], path, value, origin);
    else {
      this.#forget(path);
      bag[key] = Array.isArray(value) ? [...value] : value;
    }
  }

  /** Each rule keeps its own origin, as `permissions.deny.0`. */
  #append(known: unknown, path: string, added: readonly unknown[], origin: Origin): unknown[] {
    const list: unknown[] = Array.isArray(known) ? known : [];
    for (const item of added) {
      if (list.includes(item)) continue;
      this.#origins.set(`${path}.${list.length}`, origin);
      list.push(item);
    }
    return list;
  }

  #forget(path: string): void {
    for (const key of this.#origins.keys()) if (key.startsWith(`${path}.`)) this.#origins.delete(key);
  }
}

const givenWith = (entry: unknown): unknown => {
  const given = isPlugin(entry) ? entry.given : isBag(entry) ? entry['options'] : undefined;
  return given ?? {};
};

const outcomeOf = (name: string, state: PluginState): unknown => {
  if (!state.isOn) return false;
  const options = state.bag[name];
  return options === undefined || (isBag(options) && Object.keys(options).length === 0) ? true : options;
};

const leaves = (bag: Bag, path: string): { readonly key: string; readonly value: unknown }[] =>
  Object.entries(bag).flatMap(([name, value]) => {
    const key = path === '' ? name : `${path}.${name}`;
    return isBag(value) && Object.keys(value).length > 0 ? leaves(value, key) : [{ key, value }];
  });
