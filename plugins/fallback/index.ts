/** The chain of models behind the first one. */
import { type ConfigView, definePlugin, jsonSchema, type Scope } from '../../kernel/index.ts';
import { type Chain, readChain } from './chain.ts';
import { Cooldowns } from './cooldowns.ts';
import { manifest } from './manifest.ts';
import { Relay } from './relay.ts';

interface Options {
  readonly patienceMs: number;
}
const options = jsonSchema<Options, Partial<Options>>({
  type: 'object',
  additionalProperties: false,
  properties: {
    patienceMs: {
      type: 'integer',
      minimum: 0,
      // Up to here the providers ask again by themselves, whatever they have waited for before.
      maximum: 90_000,
      default: 30_000,
      description: 'Milliseconds for which a failing model is asked again before the next one takes over. Longer waits that a provider asks for are not begun.',
    },
  },
});

export default definePlugin({
  ...manifest,
  options,
  apply(scope) {
    const { hooks, events } = scope;
    const relay = new Relay({
      clock: scope.clock,
      cooldowns: scope.host.pool(placesOf(scope.config), () => new Cooldowns()),
      patienceMs: scope.options.patienceMs,
      others: () => chainOf(scope).models,
      notice: (text, code) => scope.notice(text, code),
    });
    hooks.open.tap('name what is no model', () => {
      for (const warning of chainOf(scope).warnings) scope.warn(warning, 'FALLBACK_UNKNOWN');
    });
    // Late: the first model of the chain is what every other tap has made of the request.
    hooks.request.tap('choose the model', { stage: 'late' }, (request, at) => relay.choose(request, at));
    hooks.failure.tap('go on with the next model', (failure) => relay.recover(failure));
    // A plugin that takes an input over answers as well, and nobody was asked.
    events.on('reply.accepted', ({ message }) => message.origin === 'model' && relay.answered());
  },
});

/** Read anew each time: providers may come and go with the plugins that bring them. */
const chainOf = ({ config, registries, session }: Scope<Options, never>): Chain => {
  const providers = registries.providers.list().map(({ name }) => name);
  const active = config.value.provider ?? providers[0] ?? '';
  return readChain({
    entries: config.value.fallback ?? [],
    origin: config.origin('fallback'),
    providers,
    active,
    // Routers name models `vendor/model`; where the main model has no slash, an unknown prefix is a mistake.
    isModel: (entry) => session.model.includes('/') || registries.providers.get(active)?.info?.(entry) !== undefined,
  });
};

/** Where the providers are and which keys they take: sessions that agree in this find the same models away. */
const placesOf = ({ value }: ConfigView): string =>
  JSON.stringify(Object.entries(value.providers ?? {}).map(([name, { baseUrl, key }]) => [name, baseUrl ?? '', key ?? '']));
