/** A provider of the configuration as sessions see it: what it needs is loaded when it is asked. */
import type { ModelInfo, Provider, ProviderConfig, Scope } from '../../kernel/index.ts';
import { isCodex } from './dialects/hosts.ts';
import { manifest } from './manifest.ts';
import { LateMetadata, sharedMetadata } from './models/late.ts';
import type { Learnt } from './quirks.ts';
import { lateStream } from './stream/late.ts';
import type { Limits } from './stream/timeouts.ts';
import type { Wire } from './wire.ts';

export interface Options extends Limits {
  /** Whether the public catalogue of models may be fetched. */
  readonly catalogue: boolean;
}
export type ProviderScope = Scope<Options, 'fs' | 'net' | 'secrets' | 'settings'>;
type Secret = (name: string) => Promise<string | undefined>;

export interface RegisteredProvider extends Provider {
  info(model: string): ModelInfo | undefined;
  /** Loads what the first request needs, and what is known of its model. Failures show when a request is made. */
  prepare(): Promise<void>;
}

/** `secret` gives keys by name; default: those of the session. */
export const registered = (scope: ProviderScope, name: string, config: ProviderConfig, secret: Secret = secretsOf(scope)): RegisteredProvider => {
  const metadata = metadataOf(scope, name, config, secret);
  const hidden = new Set<string>();
  const open = async (...asked: Parameters<Provider['stream']>) => {
    const { createProvider, wire, codex } = await load(config);
    const login = await codex?.codexAccess(config, codex.codexFolder(scope.environment));
    if (codex && login) codex.hideToken(await login.secret(), hidden, scope.redact);
    const parts = {
      name,
      config,
      wire,
      fetch: scope.powers.net.fetch,
      secret,
      ...login,
      clock: scope.clock,
      options: scope.options,
      version: manifest.version,
      info: (model: string) => metadata.info(model),
      learnt: scope.host.pool('learnt about hosts', () => new Map() as Learnt),
      outputCaps: scope.host.pool('longest replies of models', () => new Map<string, number>()),
    };
    return createProvider(parts).stream(...asked);
  };
  return {
    name,
    info: (model) => metadata.info(model),
    models: (signal) => metadata.models(signal),
    stream: (request, signal) =>
      lateStream(
        () => open(request, signal),
        () => metadata.heard(request.model),
      ),
    prepare: async () => {
      // Not waited for: it takes longer than all else, and is not asked for before a request is made.
      load(config).catch(() => undefined);
      await metadata.load().catch(() => undefined);
    },
  };
};

/** With the client package in them, so they are kept from sessions that ask another provider. */
const load = async (config: ProviderConfig) => {
  const codex = isCodexAt(config) ? import('./codex.ts') : undefined;
  const [{ createProvider }, wire] = await Promise.all([import('./provider.ts'), loadWire(config)]);
  return { createProvider, wire, codex: await codex };
};
/** Codex speaks one format only, so nobody has to name it. */
const loadWire = async (config: ProviderConfig): Promise<Wire> =>
  config.api === 'responses' || (config.api === undefined && isCodexAt(config))
    ? (await import('./responses/wire.ts')).responsesWire
    : (await import('./chat/wire.ts')).chatWire;
const isCodexAt = ({ baseUrl }: ProviderConfig): boolean => baseUrl !== undefined && URL.canParse(baseUrl) && isCodex(new URL(baseUrl));

const secretsOf =
  ({ powers }: ProviderScope): Secret =>
  (name) =>
    powers.secrets.get(name);

const metadataOf = (scope: ProviderScope, name: string, config: ProviderConfig, secret: Secret): LateMetadata =>
  new LateMetadata({
    // Codex has a login of its own: a key that is set is meant for another host.
    target: { name, config, version: manifest.version, secret: isCodexAt(config) ? async () => undefined : secret, now: () => scope.clock.now() },
    config,
    home: scope.home,
    fetch: scope.powers.net.fetch,
    clock: scope.clock,
    catalogue: scope.options.catalogue,
    shared: scope.host.pool('metadata of models', sharedMetadata, ({ over }) => over.abort()),
    debug: (message, data) => scope.log.debug(message, data),
  });
