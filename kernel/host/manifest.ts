/** Manifests: derived from a plugin's own words, with a default for everything, and checked. */
import { CastError } from '../errors.ts';
import { HOOKS } from '../hooks/catalogue.ts';
import { API_VERSION, type Capability, type Manifest } from '../plugin.ts';
import { suggestion } from '../nearest.ts';

/** A record, so that a capability added to the face cannot be forgotten here. */
const KNOWN_CAPABILITIES: Readonly<Record<Capability, true>> = {
  fs: true,
  process: true,
  net: true,
  model: true,
  secrets: true,
  sessions: true,
  settings: true,
  children: true,
  boundary: true,
};
const CAPABILITIES = Object.keys(KNOWN_CAPABILITIES);
const HOOK_NAMES = Object.keys(HOOKS);
const NAME = /^[a-z][a-z0-9-]*$/;
const TRIGGER = /^(?:start|session|(?:command|flag|entry|config|service):.+)$/;

type Words = Readonly<Record<string, unknown>>;

/**
 * The manifest of a plugin: what its `definePlugin` says, or the JSON of its package. `name` is the key in the configuration,
 * used when the plugin gives no name of its own. Throws PLUGIN_INVALID naming the plugin and the field.
 */
export const manifestOf = (name: string, spec: unknown): Manifest => {
  if (!isWords(spec)) throw invalid(name, `its manifest must be an object, got ${typeof spec}`);
  const own = checkName(name, spec['name'] ?? name);
  checkApiVersion(own, spec);
  return {
    ...bareManifest(own),
    ...optional('version', text(own, spec, 'version')),
    ...optional('summary', text(own, spec, 'summary')),
    ...optional('capabilities', names(own, spec, 'capabilities', CAPABILITIES) as Manifest['capabilities'] | undefined),
    ...optional('activation', triggers(own, spec) as Manifest['activation'] | undefined),
    ...optional('taps', spec['taps'] === null ? undefined : (names(own, spec, 'taps', HOOK_NAMES) as Manifest['taps'] | undefined)),
    ...optional('requires', names(own, spec, 'requires')),
    ...optional('after', names(own, spec, 'after')),
    ...optional('provides', names(own, spec, 'provides') as Manifest['provides']),
    ...optional('uses', names(own, spec, 'uses') as Manifest['uses']),
    ...optional('commands', cards(own, spec, 'commands', ['name', 'summary']) as Manifest['commands']),
    ...optional('flags', flags(own, spec)),
    ...optional('locked', flag(own, spec, 'locked')),
    ...optional('inChildren', inChildren(own, spec)),
  };
};

/** The manifest of a plugin about which nothing is known but its name. */
export const bareManifest = (name: string): Manifest => ({
  name,
  version: '0.0.0',
  apiVersion: API_VERSION,
  summary: '',
  capabilities: [],
  activation: ['session'],
  taps: null,
});

const isWords = (value: unknown): value is Words => typeof value === 'object' && value !== null && !Array.isArray(value);
const optional = <K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } =>
  (value === undefined ? {} : { [key]: value }) as { readonly [P in K]?: V };
const show = (value: unknown): string => (typeof value === 'string' ? `"${value.slice(0, 80)}"` : typeof value === 'number' ? String(value) : typeof value);
const invalid = (plugin: string, what: string, fix?: string): CastError =>
  new CastError('PLUGIN_INVALID', `plugin ${plugin}: ${what}`, { plugin, ...(fix === undefined ? {} : { fix }) });

const checkName = (key: string, name: unknown): string => {
  if (typeof name === 'string' && NAME.test(name)) return name;
  throw invalid(key, `\`name\` must begin with a letter and have only lower case letters, digits and hyphens, got ${show(name)}`);
};

const checkApiVersion = (plugin: string, spec: Words): void => {
  const version = spec['apiVersion'] ?? API_VERSION;
  if (version === API_VERSION) return;
  throw invalid(plugin, `\`apiVersion\` is ${show(version)}, and this cast offers ${API_VERSION}`, 'Install a version of the plugin made for this cast.');
};

const text = (plugin: string, spec: Words, field: string): string | undefined => {
  const value = spec[field];
  if (value === undefined || typeof value === 'string') return value;
  throw invalid(plugin, `\`${field}\` must be a text, got ${show(value)}`);
};

const flag = (plugin: string, spec: Words, field: string): boolean | undefined => {
  const value = spec[field];
  if (value === undefined || typeof value === 'boolean') return value;
  throw invalid(plugin, `\`${field}\` must be true or false, got ${show(value)}`);
};

const names = (plugin: string, spec: Words, field: string, known?: readonly string[]): readonly string[] | undefined => {
  const value = spec[field];
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || value.some((item) => typeof item !== 'string')) throw invalid(plugin, `\`${field}\` must be a list of names`);
  const list = value as readonly string[];
  const stranger = known && list.find((item) => !known.includes(item));
  if (known && stranger !== undefined) {
    throw invalid(plugin, `\`${field}\` names ${show(stranger)}, which does not exist.${suggestion(stranger, known)}`, `Known are ${known.join(', ')}.`);
  }
  return list;
};

const triggers = (plugin: string, spec: Words): readonly string[] | undefined => {
  const list = names(plugin, spec, 'activation');
  const stranger = list?.find((item) => !TRIGGER.test(item));
  if (stranger === undefined) return list;
  throw invalid(plugin, `\`activation\` has ${show(stranger)}`, 'Use start, session, command:NAME, flag:NAME, entry:NAME, config:KEY or service:NAME.');
};

const cards = (plugin: string, spec: Words, field: string, texts: readonly string[]): readonly Words[] | undefined => {
  const value = spec[field];
  if (value === undefined) return undefined;
  const isCard = (item: unknown): boolean => isWords(item) && texts.every((key) => typeof item[key] === 'string');
  if (Array.isArray(value) && value.every(isCard)) return value as readonly Words[];
  throw invalid(plugin, `\`${field}\` must be a list of objects with ${texts.map((key) => `a text \`${key}\``).join(' and ')}`);
};

const flags = (plugin: string, spec: Words): Manifest['flags'] => {
  const list = cards(plugin, spec, 'flags', ['name', 'summary', 'type']);
  if (list?.some((item) => item['type'] !== 'boolean' && item['type'] !== 'string')) {
    throw invalid(plugin, '`flags` must have `type` "boolean" or "string"');
  }
  return list as Manifest['flags'];
};

const inChildren = (plugin: string, spec: Words): Manifest['inChildren'] => {
  const value = spec['inChildren'];
  if (value === undefined || value === 'inherit' || value === 'skip') return value;
  throw invalid(plugin, `\`inChildren\` must be "inherit" or "skip", got ${show(value)}`);
};
