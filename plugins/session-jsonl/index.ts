import { definePlugin, jsonSchema, messageOf } from '../../kernel/index.ts';
import { manifest } from './manifest.ts';
import type { Transcript } from './transcript.ts';

interface Options {
  readonly folder?: string;
}

export default definePlugin({
  ...manifest,
  options: jsonSchema<Options>({
    type: 'object',
    additionalProperties: false,
    properties: {
      folder: { type: 'string', minLength: 1, description: 'Where transcripts are written. Default: `transcripts` in `$CAST_DATA_DIR`, else in `$CAST_HOME`.' },
    },
  }),
  apply(scope) {
    const { session, powers, hooks, events, clock } = scope;
    let opening: Promise<Transcript | undefined> | undefined;
    const open = async (): Promise<Transcript> => {
      const [{ Transcript }, { branchOf }] = await Promise.all([import('./transcript.ts'), import('./branch.ts')]);
      const folder = await powers.fs.canonical(scope.options.folder ?? 'transcripts', scope.environment['CAST_DATA_DIR'] ?? scope.home);
      const tools = scope.registries.tools.list().map(({ name }) => name);
      const head = { id: session.id, cwd: session.cwd, model: session.model, createdAt: clock.now(), tools };
      return new Transcript({ folder, head, clock, branch: (isEnough) => branchOf(session, isEnough), warn: (text) => scope.warn(text, 'TRANSCRIPT') });
    };
    // The session is in the store: a transcript that cannot be written costs the transcript.
    const given = (error: unknown): undefined => {
      opening = Promise.resolve(undefined);
      scope.warn(`The transcript of this session is not written: ${messageOf(error)}`, 'TRANSCRIPT');
      return undefined;
    };
    // One thing after the other: records stand in the order in which things happened.
    let last: Promise<unknown> = Promise.resolve();
    const work = (use: (transcript: Transcript) => void | Promise<void>): Promise<void> => {
      opening ??= open();
      const next = last
        .then(() => opening)
        .then((transcript) => transcript && use(transcript))
        .catch(given);
      last = next;
      return next;
    };
    hooks.stored.tap('write records', (entries) => work((transcript) => transcript.add(entries)));
    events.on('branch.changed', ({ head }) => opening && work((transcript) => transcript.branchChanged(head)));
    hooks.close.tap('close the transcript', () => opening && work((transcript) => transcript.release()));
    scope.onDispose(() => opening && work((transcript) => transcript.release()));
  },
});
