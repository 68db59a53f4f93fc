/** What the commands share: the configuration as it is, and the ways to change it. */
import { CastError, type CommandContext, type Provider, type ProviderConfig, type SavedSettings, type Scope } from '../../../kernel/index.ts';
import type { SessionLevel } from '../session-level.ts';

export interface Desk {
  readonly scope: Scope<unknown, 'net' | 'secrets' | 'settings'>;
  /** A provider with these settings and this key, registered or not; an empty key is none. */
  connect(name: string, config: ProviderConfig, key: string): Provider;
  readonly level: Pick<SessionLevel, 'forget'>;
  /** Checked and not saved yet, by name. */
  readonly drafts: Map<string, Draft>;
}

export interface Draft {
  readonly config: ProviderConfig;
  /** To be saved under `config.key`; undefined where there is none, or it is in the environment. */
  readonly key: string | undefined;
  readonly provider: Provider;
}

/** Tables and lists end here: what is beyond can be named. */
export const MAX_ROWS = 500;

export const usage = (message: string, fix: string): CastError => new CastError('CLI_USAGE', message, { fix });

export const settingsOf = ({ scope }: Desk, name: string): ProviderConfig | undefined => {
  const { providers = {} } = scope.config.value;
  return Object.hasOwn(providers, name) ? providers[name] : undefined;
};

/** Whether a file says something about it: what is written about any other would make a second provider of it. */
export const isInFile = ({ scope }: Desk, name: string): boolean =>
  scope.config.entries().some(({ key, origin }) => origin.file !== undefined && key.startsWith(`providers.${name}.`));

/** Undefined where no provider is registered under the configured name, or none at all. */
export const activeProvider = ({ scope }: Desk): (Provider & { readonly from: string }) | undefined => {
  const { provider: name } = scope.config.value;
  return scope.registries.providers.list().find((each) => name === undefined || each.name === name);
};

/** Whether nobody has chosen one yet: that a plugin brings one is no choice. */
export const isFirstChoice = (desk: Desk): boolean => {
  const { provider, providers = {} } = desk.scope.config.value;
  return activeProvider(desk) === undefined || (provider === undefined && Object.keys(providers).length === 0);
};

/** Throws CLI_USAGE. */
export const requireProvider = ({ scope }: Desk, name: string): Provider => {
  const found = scope.registries.providers.get(name);
  if (found) return found;
  const names = scope.registries.providers.list().map((each) => each.name);
  throw usage(`there is no provider ${name}`, names.length === 0 ? '/provider add NAME URL adds one.' : `There is ${names.join(', ')}.`);
};

/** In force from the next turn. The sentence says what stands in the way, and is empty where nothing does. */
export const save = async ({ scope }: Desk, at: CommandContext, changes: Parameters<Desk['scope']['powers']['settings']['set']>[0]): Promise<string> => {
  const saved = await scope.powers.settings.set(changes);
  await at.renew();
  return shadowText(saved);
};

const shadowText = ({ shadowed }: SavedSettings): string => {
  const [first] = shadowed;
  if (!first) return '';
  const from = first.origin.layer === 'environment' ? 'the environment' : first.origin.layer === 'flags' ? 'a flag' : 'this session';
  return ` Not in force yet: ${shadowed.map(({ key }) => key).join(' and ')} ${shadowed.length === 1 ? 'is' : 'are'} set by ${from}, which wins.`;
};

export const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
