import { type ConfigView, definePlugin, type Message } from '../../kernel/index.ts';
import type { Images } from './images.ts';
import { manifest } from './manifest.ts';

export default definePlugin({
  ...manifest,
  apply({ hooks, events, session, registries, host, config, notice, warn }) {
    let images: Images | undefined;
    /** Most conversations have none. */
    const load = async (messages: readonly Message[]): Promise<Images | undefined> => {
      if (images || !messages.some(({ blocks }) => blocks.some(({ type }) => type === 'image'))) return images;
      const { createImages } = await import('./images.ts');
      return (images ??= createImages({
        session,
        notice,
        warn,
        // A session that is opened later in this process need not be refused first.
        blind: host.pool(placesOf(config), () => new Set<string>()),
        isKnownBlind: (provider, model) => registries.providers.get(provider)?.info?.(model)?.images === false,
      }));
    };
    events.on('input.accepted', () => images?.reset());
    events.on('reply.accepted', () => images?.reset());
    // Late, when the model that answers is settled.
    hooks.request.tap('leave out what the model does not take', { stage: 'late' }, async (request) => (await load(request.messages))?.fit(request));
    hooks.failure.tap('ask without images', async (failure) => (await load(session.view()))?.recover(failure));
    hooks.reply.tap('what helped stays', () => images?.confirm());
  },
});

/** A name of a provider means the same in sessions that agree in this. */
const placesOf = ({ value }: ConfigView): string => JSON.stringify(Object.entries(value.providers ?? {}).map(([name, { baseUrl }]) => [name, baseUrl ?? '']));
