/** Model providers of the configuration, and the retries of failed requests. */
import { definePlugin, jsonSchema, type Provider, type ProviderConfig, ProviderError, type Scope } from '../../kernel/index.ts';
import { lateStream } from './late-stream.ts';
import { manifest } from './manifest.ts';
import type { Quirks } from './quirks.ts';
import { createRetry } from './retry.ts';
import type { Limits } from './timeouts.ts';

const options = jsonSchema<Limits, Partial<Limits>>({
  type: 'object',
  additionalProperties: false,
  properties: {
    firstTokenMs: { type: 'integer', minimum: 1, maximum: 3_600_000, default: 300_000, description: 'Milliseconds to the first part of a reply.' },
    idleMs: { type: 'integer', minimum: 1, maximum: 3_600_000, default: 120_000, description: 'Milliseconds between two parts of a reply.' },
  },
});
type ProviderScope = Scope<Limits, 'net' | 'secrets'>;

export default definePlugin({
  ...manifest,
  options,
  apply(scope) {
    const { providers } = scope.registries;
    for (const [name, config] of Object.entries(scope.config.value.providers ?? {})) providers.add(provider(scope, name, config));
    scope.hooks.open.tap('load what the first request needs', () => {
      // Not waited for: a failure shows when a request is made.
      if (isActive(scope)) loadChat().catch(() => undefined);
    });
    const retry = createRetry(() => share(scope.ids.next('retry')));
    scope.hooks.failure.tap('retry', { stage: 'late' }, retry);
  },
});

/** With the client package in it, so it is kept from sessions that ask another provider. */
const loadChat = () => import('./chat.ts');

/** Whether the session asks one of ours; without a name it asks the first that was registered. */
const isActive = ({ config, registries }: ProviderScope): boolean => {
  const name = config.value.provider;
  return registries.providers.list().find((each) => name === undefined || each.name === name)?.from === manifest.name;
};

const provider = (scope: ProviderScope, name: string, config: ProviderConfig): Provider => ({
  name,
  stream: (request, signal) =>
    lateStream(async () => {
      if (config.api === 'responses') {
        throw new ProviderError('bad_request', `providers.${name}.api: the Responses API is not supported`, { fix: 'Set it to "chat".' });
      }
      const { createChatProvider } = await loadChat();
      const chat = createChatProvider({
        name,
        config,
        fetch: scope.powers.net.fetch,
        secret: (key) => scope.powers.secrets.get(key),
        clock: scope.clock,
        options: scope.options,
        version: manifest.version,
        learnt: scope.host.pool('learnt about hosts', () => new Map<string, Quirks>()),
      });
      return chat.stream(request, signal);
    }),
});

/** A share from 0 to 1 made of an id: the same ids give the same waits. */
const share = (id: string): number => {
  let hash = 0x811c9dc5;
  for (const char of id) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
};
