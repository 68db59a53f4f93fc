/** `cast replay`: a recorded session against the plugins of today, without a provider, a tool or a person. */
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command, Option } from 'clipanion';
import { CastError, type Client, type ErrorCode, type OpenSession } from '../kernel/index.ts';
import { CastCommand } from './arguments.ts';
import { builtins } from './builtins.ts';
import { endKernel, startKernel } from './processes.ts';
import { configOf, readReplayFile, type ReplayFile } from './replay-file.ts';
import { countingClock, seededIds } from './replaying.ts';
import { count, oneLine } from './style.ts';

/** Of one turn: nothing in it is waited for but the plugins. */
const LONGEST_MS = 600_000;

/** As the plugin `replay` answers. */
interface Outcome {
  readonly difference?: {
    readonly turn: number;
    readonly step: number;
    readonly hook: string;
    readonly plugin: string;
    readonly label: string;
    readonly call?: string;
    readonly expected: string | null;
    readonly came: string | null;
  };
  readonly plugins: readonly string[];
  readonly compared: number;
}

export class ReplayCommand extends CastCommand {
  static override paths = [['replay']];
  static override usage = Command.Usage({
    description: 'Play a recorded session against the plugins of today',
    details: `
      The first difference is named, with its hook and plugin. Replies, results of tools, answers, time and ids come from the file: no tool runs, and nothing is
      sent anywhere. The plugins are those that \`cast run\` would
      load here, with the configuration of the recording.

      Exit codes: 0 all is the same, 1 something differs, 3 the file is no recording.
    `,
  });
  json = Option.Boolean('--json', false, { description: 'As JSON' });
  file = Option.String({ name: 'FILE' });

  override async execute(): Promise<number> {
    const file = resolve(this.context.startedIn, this.file);
    const recorded = await readReplayFile(file);
    const outcome = await this.#play(recorded, file);
    const turns = recorded.inputs.filter(({ isRunning }) => !isRunning).length;
    await this.print(this.json ? JSON.stringify({ same: !outcome.difference, turns, ...outcome }, null, 2) : drawn(outcome, turns));
    return outcome.difference ? 1 : 0;
  }

  async #play(recorded: ReplayFile, file: string): Promise<Outcome> {
    const { stdio } = this.context;
    const opening = await this.open({});
    this.remark(opening);
    const home = await realpath(await mkdtemp(join(tmpdir(), 'cast-replay-')));
    const kernel = startKernel(home, stdio, opening.environment, { clock: countingClock(recorded.startedAt), ids: seededIds(recorded.id) });
    const present = new Set([...builtins, ...opening.plugins].map(({ manifest }) => manifest.name));
    let session: OpenSession | undefined;
    try {
      session = await kernel.open({
        cwd: recorded.cwd,
        root: recorded.root,
        environment: Object.fromEntries(Object.entries(opening.environment).filter(([name]) => !/^(?:CAST_|OPENAI_)/.test(name))),
        interactive: false,
        ephemeral: true,
        layers: [{ name: 'flags', data: configOf(recorded, file, present) }],
        plugins: opening.plugins,
      });
      for (const [index, input] of recorded.inputs.filter(({ isRunning }) => !isRunning).entries()) await takeTurn(session.client, `replay-${index}`, input);
      return await outcomeOf(session.client);
    } finally {
      await endKernel(kernel, 'replayed', session);
      await rm(home, { recursive: true, force: true });
    }
  }
}

const takeTurn = async (client: Client, clientId: string, { text, images }: ReplayFile['inputs'][number]): Promise<void> => {
  const events = client.events((await client.snapshot()).seq, AbortSignal.timeout(LONGEST_MS));
  await client.submit({ text, clientId, ...(images ? { images } : {}) });
  for await (const event of events) if (event.type === 'turn.ended' && event.data.clientId === clientId) return;
  throw new CastError('INTERNAL', `a replayed turn did not end within ${LONGEST_MS / 1000} s`);
};

const outcomeOf = async (client: Client): Promise<Outcome> => {
  const answer = await client.command('replay', '');
  if (answer.ok) return JSON.parse(typeof answer.result === 'string' ? answer.result : '{}') as Outcome;
  throw new CastError(answer.code as ErrorCode, answer.message, answer.suggestedFix === undefined ? {} : { fix: answer.suggestedFix });
};

const drawn = ({ difference, plugins, compared }: Outcome, turns: number): readonly string[] => {
  const changed = plugins.length === 0 ? [] : [`  plugins   ${plugins.join('; ')}`];
  if (!difference) return [`The same: ${count(compared, 'outcome')} in ${count(turns, 'turn')}.`, ...changed];
  const { turn, step, call, expected, came } = difference;
  return [
    `Different in turn ${turn}, step ${step}${call === undefined ? '' : `, call ${oneLine(call)}`}: ${whatOf(difference)}`,
    `  expected  ${expected === null ? '(nothing)' : oneLine(expected)}`,
    `  came      ${came === null ? '(nothing)' : oneLine(came)}`,
    ...changed,
  ];
};

const whatOf = ({ hook, plugin, label }: NonNullable<Outcome['difference']>): string => {
  if (hook === 'provider') return `the request to ${plugin} (${label})`;
  if (hook === 'tool') return `the input of the tool ${label} of plugin ${plugin}`;
  if (hook === 'person') return `the question to a person (${label})`;
  return hook === 'turn' ? 'the end of the turn' : `hook ${hook}, plugin ${plugin}, tap "${label}"`;
};
