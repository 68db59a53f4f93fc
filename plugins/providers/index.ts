/** Model providers of the configuration, and the retries of failed requests. */
import { definePlugin, jsonSchema } from '../../kernel/index.ts';
import { addCommands } from './commands/index.ts';
import { checkDialects } from './dialects/names.ts';
import { createLonger } from './failures/longer.ts';
import { createRetry } from './failures/retry.ts';
import { manifest } from './manifest.ts';
import { type Options, type ProviderScope, registered } from './registered.ts';
import { createSessionLevel } from './session-level.ts';

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

export default definePlugin({
  ...manifest,
  options,
  apply(scope) {
    checkDialects(scope.config);
    const { providers } = scope.registries;
    const own = Object.entries(scope.config.value.providers ?? {}).map(([name, config]) => registered(scope, name, config));
    for (const provider of own) providers.add(provider);
    scope.hooks.open.tap('load what the first request needs', () => own.find(({ name }) => name === activeName(scope))?.prepare());
    const retry = createRetry(() => share(scope.ids.next('retry')));
    const longer = createLonger();
    scope.hooks.failure.tap('retry', { stage: 'late' }, (failure, at) => {
      longer.note(failure, at);
      return retry(failure, at);
    });
    scope.hooks.request.tap('a longer reply', (request, at) => longer.ask(request, at));
    const level = createSessionLevel(scope);
    scope.hooks.request.tap('level of the session', (request) => level.apply(request));
    addCommands({ scope, level, drafts: new Map(), connect: (name, config, key) => registered(scope, name, config, async () => key || undefined) });
  },
});

/** Without a name in the configuration the first provider that was registered is asked. */
const activeName = ({ config, registries }: ProviderScope): string | undefined => config.value.provider ?? registries.providers.list()[0]?.name;

/** A share from 0 to 1 made of an id: the same ids give the same waits. */
const share = (id: string): number => {
  let hash = 0x811c9dc5;
  for (const char of id) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
};
