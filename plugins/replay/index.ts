/** The provider `replay` answers each request with the next recorded step of its purpose. Whole sessions are recorded, and checked against a recording. */
import { CastError, definePlugin, jsonSchema, type Scope } from '../../kernel/index.ts';
import { lateBoundary } from './late.ts';
import { manifest } from './manifest.ts';
import type { Player } from './player.ts';
import type { Watching } from './sessions.ts';

export interface ReplayOptions {
  /** Absolute, or relative to the working directory of the session. */
  readonly file?: string;
  readonly record?: string;
  readonly check?: string;
  /** Waits as long as the recording says; off, it plays as fast as it can. */
  readonly delays: boolean;
}
export type ReplayScope = Scope<ReplayOptions, 'fs' | 'boundary'>;

export default definePlugin({
  ...manifest,
  options: jsonSchema<ReplayOptions, Partial<ReplayOptions>>({
    type: 'object',
    additionalProperties: false,
    properties: {
      file: { type: 'string', minLength: 1, description: 'The recording whose replies the provider `replay` gives.' },
      record: { type: 'string', minLength: 1, description: 'Where the session is recorded: what `cast record` sets.' },
      check: { type: 'string', minLength: 1, description: 'The recording that the session is compared with: what `cast replay` sets.' },
      delays: { type: 'boolean', default: true, description: 'Whether the waits of the recording are kept.' },
    },
  }),
  apply(scope) {
    const { options, powers, session, clock, registries } = scope;
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
    const { record, check } = options;
    if (record === undefined && check === undefined) return;
    let watching: Promise<Watching> | undefined;
    const boundary = lateBoundary();
    // At once: where the recording turns out to be none, nothing may reach the world in its place.
    powers.boundary.stand(boundary);
    scope.hooks.open.tap('read or begin the recording', async () => {
      watching = import('./sessions.ts').then(({ startRecording, startChecking }) =>
        record === undefined ? startChecking(scope, check ?? '') : startRecording(scope, record),
      );
      await watching.then(({ boundary: made }) => boundary.become(made), boundary.fail);
    });
    // First of all: what others do at the end is no part of the turn.
    scope.hooks.ended.tap('note the end', { stage: 'mode', budgetMs: 30_000 }, async (end) => (await watching?.catch(() => undefined))?.ended(end));
    if (check !== undefined)
      registries.commands.add({
        name: 'replay',
        summary: 'What is not as it was recorded, as JSON',
        run: async () => JSON.stringify((await watching)?.outcome() ?? {}),
      });
  },
});
