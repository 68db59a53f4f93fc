/** The provider `replay` answers each request with the next recorded step of its purpose. */
import { CastError, definePlugin, jsonSchema } from '../../kernel/index.ts';
import { manifest } from './manifest.ts';
import type { Player } from './player.ts';

interface ReplayOptions {
  /** Absolute, or relative to the working directory of the session. */
  readonly file?: string;
  /** Waits as long as the recording says; off, it plays as fast as it can. */
  readonly delays: boolean;
}

export default definePlugin({
  ...manifest,
  options: jsonSchema<ReplayOptions, Partial<ReplayOptions>>({
    type: 'object',
    additionalProperties: false,
    properties: {
      file: { type: 'string', minLength: 1, description: 'The recording to play.' },
      delays: { type: 'boolean', default: true, description: 'Whether the waits of the recording are kept.' },
    },
  }),
  apply({ options, powers, session, clock, registries }) {
    let opened: Promise<Player> | undefined;
    const open = async (): Promise<Player> => {
      if (options.file === undefined) throw new CastError('REPLAY_INVALID', 'no recording is named', { fix: 'Set plugins.replay.file.' });
      const [{ readRecording }, { createPlayer }] = await Promise.all([import('./recording.ts'), import('./player.ts')]);
      const recording = await readRecording(await powers.fs.canonical(options.file, session.cwd));
      return createPlayer(recording, { clock, keepsDelays: options.delays });
    };
    registries.providers.add({
      name: 'replay',
      async *stream(request, signal) {
        opened ??= open();
        yield* (await opened).play(request.purpose, signal);
      },
    });
  },
});
