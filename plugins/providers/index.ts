/** Model providers of the configuration, and the retries of failed requests. */
import { definePlugin, jsonSchema, type ModelRequest, type Provider, type ProviderConfig, ProviderError, type Scope } from '../../kernel/index.ts';
import { checkDialects } from './dialects/names.ts';
import { lateStream } from './stream/late.ts';
import { manifest } from './manifest.ts';
import { LateMetadata, sharedMetadata } from './models/late.ts';
import type { LocalSearch, LocalServer } from './models/local.ts';
import type { Learnt } from './quirks.ts';
import { createLonger } from './failures/longer.ts';
import { createRetry } from './failures/retry.ts';
import type { Limits } from './stream/timeouts.ts';
import type { Wire } from './wire.ts';

interface Options extends Limits {
  /** Whether the public catalogue of models may be fetched. */
  readonly catalogue: boolean;
}
const options = jsonSchema<Options, Partial<Options>>({
  type: 'object',
  additionalProperties: false,
  properties: {
    firstTokenMs: { type: 'integer', minimum: 1, maximum: 3_600_000, default: 300_000, description: 'Milliseconds to the first part of a reply.' },
    idleMs: { type: 'integer', minimum: 1, maximum: 3_600_000, default: 120_000, description: 'Milliseconds between two parts of a reply.' },
    catalogue: {
      type: 'boolean',
      default: true,
      description: 'Whether the public catalogue of models is fetched, at most once a day and only for providers of the public network.',
    },
  },
});
type ProviderScope = Scope<Options, 'fs' | 'net' | 'secrets'>;

export default definePlugin({
  ...manifest,
  options,
  apply(scope) {
    checkDialects(scope.config);
    const { providers } = scope.registries;
    const metadata = new Map<string, LateMetadata>();
    for (const [name, config] of Object.entries(scope.config.value.providers ?? {})) {
      const known = metadataOf(scope, name, config);
      metadata.set(name, known);
      providers.add(provider(scope, name, config, known));
    }
    scope.hooks.open.tap('load what the first request needs', async () => {
      const active = activeConfig(scope);
      if (!active) return;
      // Not waited for: a failure shows when a request is made.
      load(active.config.api).catch(() => undefined);
      await metadata
        .get(active.name)
        ?.load()
        .catch(() => undefined);
    });
    const retry = createRetry(() => share(scope.ids.next('retry')));
    const longer = createLonger();
    scope.hooks.failure.tap('retry', { stage: 'late' }, (failure, at) => {
      longer.note(failure, at);
      return retry(failure, at);
    });
    scope.hooks.request.tap('a longer reply', (request, at) => longer.ask(request, at, () => roomOf(scope, request)));
  },
});

/** With the client package in them, so they are kept from sessions that ask another provider. */
const load = async (api: ProviderConfig['api']) => {
  const [{ createProvider }, wire] = await Promise.all([import('./provider.ts'), loadWire(api)]);
  return { createProvider, wire };
};
const loadWire = async (api: ProviderConfig['api']): Promise<Wire> => {
  if (api === 'responses') throw new ProviderError('bad_request', 'the Responses API is not supported', { fix: 'Set `api` of the provider to "chat".' });
  return (await import('./chat/wire.ts')).chatWire;
};

/** Of the provider that the session asks, when it is one of ours; without a name it asks the first that was registered. */
const activeConfig = ({ config, registries }: ProviderScope): { readonly name: string; readonly config: ProviderConfig } | undefined => {
  const { provider: name, providers = {} } = config.value;
  const active = registries.providers.list().find((each) => name === undefined || each.name === name);
  const found = active?.from === manifest.name ? providers[active.name] : undefined;
  return active && found && { name: active.name, config: found };
};

/** What is known of the model that is asked, and how much of its window the prompt takes. */
const roomOf = ({ registries, session }: ProviderScope, { provider: name, model, system, tools }: ModelRequest) => {
  const { contextWindow = session.window, ...info } = registries.providers.get(name)?.info?.(model) ?? {};
  const prompt = session.view().reduce((sum, { tokens }) => sum + tokens, Math.ceil((system.length + JSON.stringify(tools).length) / 4));
  return { ...info, window: contextWindow, prompt };
};

const provider = (scope: ProviderScope, name: string, config: ProviderConfig, metadata: LateMetadata): Provider => ({
  name,
  info: (model) => metadata.info(model),
  models: (signal) => metadata.models(signal),
  stream: (request, signal) => {
    const open = async () => {
      const { createProvider, wire } = await load(config.api);
      const parts = {
        name,
        config,
        wire,
        fetch: scope.powers.net.fetch,
        secret: (key: string) => scope.powers.secrets.get(key),
        clock: scope.clock,
        options: scope.options,
        version: manifest.version,
        learnt: scope.host.pool('learnt about hosts', () => new Map() as Learnt),
        info: (model: string) => metadata.info(model),
        outputCaps: scope.host.pool('longest replies of models', () => new Map<string, number>()),
      };
      return createProvider(parts).stream(request, signal);
    };
    return lateStream(open, () => metadata.heard(request.model));
  },
});

const metadataOf = (scope: ProviderScope, name: string, config: ProviderConfig): LateMetadata =>
  new LateMetadata({
    target: { name, config, version: manifest.version, secret: (key) => scope.powers.secrets.get(key), now: () => scope.clock.now() },
    config,
    home: scope.home,
    fetch: scope.powers.net.fetch,
    catalogue: scope.options.catalogue,
    shared: scope.host.pool('metadata of models', sharedMetadata, ({ over }) => over.abort()),
    debug: (message, data) => scope.log.debug(message, data),
  });

/** Servers of this machine, for a first set-up with a person there; within about a second, and never throwing. */
export const findLocalServers = async (fetch: typeof globalThis.fetch, signal: AbortSignal, search?: LocalSearch): Promise<readonly LocalServer[]> => {
  const { loadLocal } = await import('./models/metadata.ts');
  return (await loadLocal()).findLocalServers(fetch, signal, search);
};

/** A share from 0 to 1 made of an id: the same ids give the same waits. */
const share = (id: string): number => {
  let hash = 0x811c9dc5;
  for (const char of id) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
};
