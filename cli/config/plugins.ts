/** Third-party plugins that the layers name, as the kernel wants them: a manifest each, and where the code is. */
import { dirname } from 'node:path';
import { CastError, isCastError, isPlugin, messageOf, type ConfigLayer, type Manifest, type Plugin, type PluginRef } from '../../kernel/index.ts';
import { describeOrigin, isPluginSource, isProjectLayer, originOf } from '../../kernel/host/config.ts';
import { bareManifest, manifestOf } from '../../kernel/host/manifest.ts';
import type { ModuleLoader } from './module.ts';
import { isPath, locate, type PackageFolder } from './packages.ts';

export interface FoundPlugins {
  /** As given, but each plugin under its own name, and options given in its file beside its entry. */
  readonly layers: readonly ConfigLayer[];
  readonly plugins: readonly PluginRef[];
}
export interface PluginPlaces {
  readonly loader: ModuleLoader;
  /** Where layers that are no file look for files and packages. */
  readonly cwd: string;
  /** Names that no plugin of a project may take. */
  readonly locked: ReadonlySet<string>;
}

interface Mention {
  readonly key: string;
  readonly entry: unknown;
  readonly layer: ConfigLayer;
  readonly isOff: boolean;
}
interface Found {
  readonly ref: PluginRef;
  /** Options given in the plugin's own file. */
  readonly given?: unknown;
}

/** A plugin that cannot be loaded is listed all the same; its `load` says why. Throws only when two entries bring one name. */
export const findPlugins = async (layers: readonly ConfigLayer[], places: PluginPlaces): Promise<FoundPlugins> => {
  const names = new Map<string, string>();
  const givenBy = new Map<Mention, unknown>();
  const plugins: PluginRef[] = [];
  for (const mention of mentionsOf(layers, places.locked)) {
    const { ref, given } = unlocked(mention, await find(mention, places));
    const twin = [...names].find(([, name]) => name === ref.manifest.name)?.[0];
    if (twin !== undefined) {
      throw new CastError('CONFIG_INVALID', `plugins.${twin} and plugins.${mention.key} both bring a plugin named ${ref.manifest.name} (${whereOf(mention)})`, {
        fix: 'Remove one of them.',
      });
    }
    names.set(mention.key, ref.manifest.name);
    // Under that name its entry is refused when the layers are merged.
    if (places.locked.has(ref.manifest.name) && isProjectLayer(mention.layer.name)) continue;
    if (given !== undefined) givenBy.set(mention, given);
    plugins.push(ref);
  }
  return { layers: layers.map((layer) => rewrite(layer, names, givenBy)), plugins };
};

/** Per key the nearest entry that says where the plugin comes from. */
const mentionsOf = (layers: readonly ConfigLayer[], locked: ReadonlySet<string>): readonly Mention[] => {
  const mentions = new Map<string, Mention>();
  for (const layer of layers) {
    for (const [key, entry] of Object.entries(layer.data.plugins ?? {})) {
      if (locked.has(key) && isProjectLayer(layer.name)) continue;
      const known = mentions.get(key);
      if (isPluginSource(entry)) mentions.set(key, { key, entry, layer, isOff: false });
      else if (known && entry !== undefined) mentions.set(key, { ...known, isOff: entry === false });
    }
  }
  return [...mentions.values()];
};

const rewrite = (layer: ConfigLayer, names: ReadonlyMap<string, string>, givenBy: ReadonlyMap<Mention, unknown>): ConfigLayer => {
  const { plugins } = layer.data;
  if (plugins === undefined) return layer;
  const given = new Map([...givenBy].flatMap(([mention, options]) => (mention.layer === layer ? [[mention.key, options] as const] : [])));
  const entries = Object.entries(plugins).map(([key, entry]) => {
    const options = given.get(key);
    return [
      names.get(key) ?? key,
      options === undefined ? entry : { from: fromOf(entry), options: { ...(options as object), ...optionsGiven(entry) } },
    ] as const;
  });
  return { ...layer, data: { ...layer.data, plugins: Object.fromEntries(entries) } };
};

/** What a project brings may be switched off by that project, whatever its author says. */
const unlocked = ({ layer }: Mention, found: Found): Found => {
  const { locked, ...manifest } = found.ref.manifest;
  return locked && isProjectLayer(layer.name) ? { ...found, ref: { ...found.ref, manifest } } : found;
};

const find = async (mention: Mention, places: PluginPlaces): Promise<Found> => {
  const { key, entry } = mention;
  try {
    if (isPlugin(entry)) return { ref: inline(mention, entry) };
    return await fromElsewhere(mention, places);
  } catch (error) {
    const problem = isCastError(error) ? error : invalid(key, messageOf(error), error);
    return { ref: { manifest: bareManifest(key), builtin: false, source: fromOf(entry) ?? whereOf(mention), load: () => Promise.reject(problem) } };
  }
};

const inline = (mention: Mention, plugin: Plugin): PluginRef => ({
  manifest: manifestOf(mention.key, plugin.spec),
  builtin: false,
  source: mention.layer.file ?? mention.layer.name,
  load: async () => plugin,
});

const fromElsewhere = async (mention: Mention, { loader, cwd }: PluginPlaces): Promise<Found> => {
  const { key, layer, isOff } = mention;
  const from = fromOf(mention.entry) ?? '';
  const base = layer.file === undefined ? cwd : dirname(layer.file);
  const place = locate(from, base);
  if (!place) throw missing(mention, from, base);
  const stated = place.folder && statedManifest(key, place.folder);
  const load = once(async () => {
    const plugin = await loadPlugin(loader, key, place.file);
    if (stated) compare(stated, manifestOf(stated.name, plugin.spec));
    return plugin;
  });
  const source = place.package === undefined ? from : `package ${place.package}${versionOf(place.folder)}`;
  // Nobody's code runs only to be listed as off.
  if (stated || isOff) return { ref: { manifest: stated ?? bareManifest(key), builtin: false, source, load } };
  const plugin = await load();
  return { ref: { manifest: manifestOf(key, plugin.spec), builtin: false, source, load }, ...filled('given', plugin.given) };
};

const loadPlugin = async (loader: ModuleLoader, key: string, file: string): Promise<Plugin> => {
  let value: unknown;
  try {
    value = await loader.load(file);
  } catch (error) {
    throw invalid(key, `${file} cannot be loaded: ${oneLine(messageOf(error))}`, error);
  }
  if (isPlugin(value)) return value;
  throw invalid(key, `${file} exports ${kindOf(value)}, expected definePlugin(...)`, undefined, 'Write `export default definePlugin({ … })`.');
};

/** The manifest that a package states in its package.json, so that its code can wait. */
const statedManifest = (key: string, { manifest }: PackageFolder): Manifest | undefined => {
  const stated = manifest['castPlugin'];
  if (stated === undefined) return undefined;
  if (typeof stated !== 'object' || stated === null) throw invalid(key, '`castPlugin` in its package.json must be an object');
  return manifestOf(key, { ...filled('version', manifest['version']), ...filled('summary', manifest['description']), ...stated });
};

/** Code that asks for more than the manifest that people consented to is not run. */
const compare = (stated: Manifest, coded: Manifest): void => {
  const more = coded.capabilities.filter((capability) => !stated.capabilities.includes(capability));
  const difference = coded.name !== stated.name ? `calls itself ${coded.name}` : more.length > 0 ? `asks for ${more.join(', ')}` : undefined;
  if (difference === undefined) return;
  throw invalid(
    stated.name,
    `its code ${difference}, which the manifest in its package.json does not say`,
    undefined,
    'Its author has to run `cast plugins build`.',
  );
};

const missing = (mention: Mention, from: string, base: string): CastError =>
  isPath(from)
    ? invalid(mention.key, `${from} does not exist (${whereOf(mention)})`, undefined, `Paths are relative to ${base}.`)
    : invalid(
        mention.key,
        `package ${from} is not installed, or has nothing to load (${whereOf(mention)})`,
        undefined,
        `Install it: cast plugins add ${from}. A file is written './${from}'.`,
      );

const invalid = (plugin: string, what: string, cause?: unknown, fix?: string): CastError =>
  new CastError('PLUGIN_INVALID', `plugin ${plugin}: ${what}`, { plugin, ...filled('cause', cause), ...(fix === undefined ? {} : { fix }) });

const filled = <K extends string>(key: K, value: unknown): { readonly [P in K]?: unknown } =>
  (value === undefined ? {} : { [key]: value }) as { readonly [P in K]?: unknown };

const fromOf = (entry: unknown): string | undefined => {
  if (typeof entry === 'string') return entry;
  const from = isPlugin(entry) ? undefined : (entry as { from?: unknown } | null)?.from;
  return typeof from === 'string' ? from : undefined;
};
const optionsGiven = (entry: unknown): object => {
  const options = typeof entry === 'object' && entry !== null ? (entry as { options?: unknown }).options : undefined;
  return typeof options === 'object' && options !== null ? options : {};
};
const versionOf = (folder: PackageFolder | undefined): string => {
  const version = folder?.manifest['version'];
  return typeof version === 'string' ? ` ${version}` : '';
};
const whereOf = ({ layer }: Mention): string => describeOrigin(originOf(layer));
const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();
const kindOf = (value: unknown): string =>
  value === undefined
    ? 'no default'
    : value === null
      ? 'null'
      : Array.isArray(value)
        ? 'a list'
        : typeof value === 'object'
          ? 'an object'
          : `a ${typeof value}`;

/** A failed attempt is not kept: the file may have been mended since. */
const once = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
};
