/** Reads every layer of the configuration, from the user's settings to the flags. Files are only ever read. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { CastError, isCastError, isPlugin, messageOf, type CastConfig, type ConfigLayer, type LayerName, type Settings } from '../../kernel/index.ts';
import { checkConfig } from '../../kernel/host/config.ts';
import type { Gated, TrustStatus } from '../../kernel/host/trust.ts';
import { unflatten } from '../../kernel/host/settings-aliases.ts';
import { environmentConfig, type Environment } from './environment.ts';
import { parseJson } from './json.ts';
import { moduleLoader, type ModuleLoader } from './module.ts';
import { configPlaces, foldersBetween, isSamePlace, packageConfig, realPath, type ConfigPlace } from './places.ts';
import { findPlugins } from './plugins.ts';
import { checkoutTop } from './project.ts';

export interface ReadOptions {
  readonly cwd: string;
  readonly root: string;
  /** `$CAST_HOME`. */
  readonly castHome: string;
  readonly environment: Environment;
  readonly flags: CastConfig;
  /** What `collectGated` found, and what the trust store says about it. */
  readonly trust: { readonly decision: TrustStatus['decision']; readonly gated: Gated };
  /** The user's own settings without their plugins, and nothing else of any file. */
  readonly safe?: boolean;
  /** Built-in plugins whose place no plugin of a project may take. */
  readonly locked?: ReadonlySet<string>;
}
export interface ReadSettings extends Settings {
  readonly warnings: readonly string[];
  /** Paths that were left out because the project is not trusted. */
  readonly untrusted: readonly string[];
}

export const readSettings = async (options: ReadOptions): Promise<ReadSettings> => {
  const reader = new Reader(options.castHome);
  if (options.safe) await reader.readSafely();
  else {
    await reader.readSettingsFile('user-settings', join(options.castHome, 'settings.json'));
    await reader.readConfigFile('user', options.castHome);
    if (options.trust.decision === 'trusted') await readProject(reader, options);
  }
  const active = reader.layers.findLast((layer) => layer.data.provider !== undefined)?.data.provider;
  reader.add('environment', environmentConfig(options.environment, active));
  reader.add('flags', options.flags);
  const found = await findPlugins(reader.layers, { loader: reader.loader, cwd: options.cwd, locked: options.locked ?? new Set() });
  return { ...found, warnings: reader.warnings, untrusted: options.safe ? [] : leftOut(options.trust) };
};

const readProject = async (reader: Reader, { root, cwd, castHome }: ReadOptions): Promise<void> => {
  for (const dir of foldersBetween(checkoutTop(root, cwd), realPath(cwd))) {
    // The user's own folder is no project's, wherever cast was started.
    if (isSamePlace(dir, castHome)) continue;
    const own = join(dir, '.cast');
    if (!isSamePlace(own, castHome)) {
      await reader.readSettingsFile('project-settings', join(own, 'settings.json'));
      await reader.readSettingsFile('project-local', join(own, 'settings.local.json'));
    }
    await reader.readConfigFile('project', dir);
  }
};

const leftOut = ({ decision, gated }: ReadOptions['trust']): readonly string[] => {
  if (decision === 'trusted') return [];
  const code = Object.keys(gated.code);
  return decision === 'undecided' || decision === 'untrusted' ? [...code, ...gated.text] : code;
};

class Reader {
  readonly layers: ConfigLayer[] = [];
  readonly warnings: string[] = [];
  readonly loader: ModuleLoader;

  constructor(castHome: string) {
    this.#castHome = castHome;
    this.loader = moduleLoader(castHome);
  }
  readonly #castHome: string;

  add(name: LayerName, data: unknown, file?: string): void {
    const origin = { layer: name, ...(file === undefined ? {} : { file }) };
    this.warnings.push(...checkConfig(data, origin).warnings);
    if (Object.keys(data as CastConfig).length > 0) this.layers.push({ name, data: data as CastConfig, ...(file === undefined ? {} : { file }) });
  }

  async readSettingsFile(name: LayerName, file: string): Promise<void> {
    if (existsSync(file)) this.add(name, unflatten(await readJson(name, file)), file);
  }

  async readConfigFile(name: LayerName, dir: string): Promise<void> {
    const [place, ...others] = await configPlaces(dir);
    if (!place) return;
    for (const other of others) this.warnings.push(`${other.file} is not read, because ${place.file} comes first.`);
    this.add(name, await this.#contentOf(name, place), place.file);
  }

  /** For a start after something in the configuration went wrong: what cannot be read is named and left out. */
  async readSafely(): Promise<void> {
    const file = join(this.#castHome, 'settings.json');
    try {
      await this.readSettingsFile('user-settings', file);
    } catch (error) {
      this.warnings.push(messageOf(error));
      return;
    }
    const [layer] = this.layers.splice(0);
    if (!layer) return;
    const { plugins: _, ...data } = layer.data;
    this.layers.push({ ...layer, data });
  }

  async #contentOf(name: LayerName, { file, isPackage }: ConfigPlace): Promise<unknown> {
    if (isPackage) return packageConfig(file);
    const extension = extname(file);
    if (extension === '.json') return readJson(name, file);
    try {
      if (extension === '' || extension === '.yaml' || extension === '.yml') return await readYaml(file);
      return checkExport(await this.loader.load(file));
    } catch (error) {
      if (isCastError(error) && error.code === 'CONFIG_INVALID') throw error;
      throw new CastError('CONFIG_INVALID', `${file} cannot be loaded: ${messageOf(error).replace(/\s+/g, ' ')} (${name})`, {
        cause: error,
        fix: `Mend ${file}, or start with \`cast --safe\`.`,
      });
    }
  }
}

const readJson = async (layer: LayerName, file: string): Promise<unknown> => {
  try {
    return await parseJson({ layer, file, text: await readFile(file, 'utf8') });
  } catch (error) {
    if (isCastError(error)) throw error;
    throw new CastError('CONFIG_INVALID', `${file} cannot be read: ${messageOf(error)} (${layer})`, { cause: error, fix: `Make ${file} readable.` });
  }
};

/**
 * Only the loaders of cosmiconfig are used. Its search first looks for a configuration of its own in the working directory
 * and runs it (`.config/config.mjs`), trusted or not.
 */
const readYaml = async (file: string): Promise<unknown> => {
  const text = await readFile(file, 'utf8');
  const { defaultLoaders } = await import('cosmiconfig');
  const content: unknown = await defaultLoaders['.yaml'](file, text);
  return content ?? {};
};

const checkExport = (value: unknown): unknown => {
  if (isPlugin(value)) throw new Error('it exports a plugin; put it below `plugins`: export default { plugins: { NAME: definePlugin(…) } }');
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  const got =
    value === undefined
      ? 'it has no default export'
      : `its default export is ${Array.isArray(value) ? 'a list' : value === null ? 'null' : `a ${typeof value}`}`;
  throw new Error(`${got}, expected an object: export default defineConfig({ … })`);
};
