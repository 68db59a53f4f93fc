/** What has to be known of a recording before a session can be opened on it. All the rest is read, and checked, by the plugin that replays it. */
import { CastError, messageOf, type CastConfig, type Image, type ModelInfo } from '../kernel/index.ts';
import { readNamedFile } from './named-file.ts';

/** As the plugin reads at most. */
const MAX_BYTES = 64 * 1_048_576;

export interface ReplayFile {
  readonly id: string;
  readonly startedAt: number;
  readonly cwd: string;
  readonly root: string;
  readonly config: CastConfig;
  readonly models: readonly (ModelInfo & { readonly provider: string })[];
  readonly inputs: readonly { readonly text: string; readonly isRunning: boolean; readonly images?: readonly Image[] }[];
}

/** Throws REPLAY_INVALID naming the file and what is wrong with it. */
export const readReplayFile = async (file: string): Promise<ReplayFile> => {
  const invalid = (what: string): CastError => new CastError('REPLAY_INVALID', `${file} ${what}`, { fix: 'Name a file that `cast record` has written.' });
  let data: { readonly version?: unknown; readonly session?: Partial<ReplayFile> } | null;
  try {
    data = JSON.parse((await readNamedFile(file, MAX_BYTES)).toString('utf8')) as typeof data;
  } catch (error) {
    throw invalid(`cannot be read: ${messageOf(error)}`);
  }
  const session = data?.session;
  if (typeof data?.version !== 'number' || !session) throw invalid('is no recording of a session');
  if (!isComplete(session)) throw invalid('is a recording without a head: `session` is not complete');
  return session;
};

const isComplete = (session: Partial<ReplayFile>): session is ReplayFile => {
  const { id, startedAt, cwd, root, config, models, inputs } = session;
  const areTexts = [id, cwd, root].every((text) => typeof text === 'string');
  return areTexts && typeof startedAt === 'number' && typeof config === 'object' && [models, inputs].every(Array.isArray);
};

/** As it was, with what was known of the models, nobody to be asked about them, and nothing for plugins that are gone. */
export const configOf = ({ config, models }: ReplayFile, file: string, present: ReadonlySet<string>): CastConfig => {
  const providers = Object.entries(config.providers ?? {}).map(([name, provider]) => {
    const known = models.flatMap(({ id, provider: of, ...info }) => (of === name ? [[id, info] as const] : []));
    return [name, { ...provider, models: { ...provider.models, ...Object.fromEntries(known) } }] as const;
  });
  const options = config.plugins?.['providers'];
  return {
    ...config,
    providers: Object.fromEntries(providers),
    plugins: {
      ...Object.fromEntries(Object.entries(config.plugins ?? {}).filter(([name]) => present.has(name))),
      providers: options === false ? false : { ...(typeof options === 'object' ? options : {}), catalogue: false },
      replay: { check: file },
    },
  };
};
