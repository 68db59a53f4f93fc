/** `cast run`: its flags, checked. */
import { Command, Option } from 'clipanion';
import type { CastConfig, PermissionsConfig, SessionWish } from '../kernel/index.ts';
import { amount, CastCommand, oneOf, pluginSwitches, usageError, wholeNumber } from './arguments.ts';
import { workingFolder } from './opening.ts';
import { run } from './run.ts';
import { FORMATS } from './run-output.ts';

const MODES = ['default', 'ask', 'bypass'] as const;

export class RunCommand extends CastCommand {
  static override paths = [['run']];
  static override usage = Command.Usage({
    description: 'Run one prompt and exit',
    details: `
      The prompt is what follows the flags. Standard input that is no terminal is added to it, or is the prompt.
      A prompt that begins with a dash stands behind \`--\`.

      Exit codes: 0 done, 1 the turn failed, 2 provider unreachable, unauthorised or limited, 3 bad flags or configuration, 130 interrupted.
    `,
    examples: [
      ['Ask about a project', 'cast run "where is the retry logic?"'],
      ['Go on with the newest session', 'cast run -c "now add a test"'],
      ['Work on what a command prints', 'git diff | cast run "review this"'],
      ['Follow a run from a program', 'cast run --format stream-json "fix the tests"'],
    ],
  });

  model = Option.String('-m,--model', { description: 'Model to use' });
  reasoning = Option.String('-r,--reasoning', { description: 'off, low, medium, high, max, or a level of the provider' });
  continues = Option.Boolean('-c,--continue', false, { description: 'Go on with the newest session of this project' });
  session = Option.String('-s,--session,--resume', { description: 'Go on with the session of this id' });
  forks = Option.Boolean('--fork', false, { description: 'Go on with a copy of that session, and leave it as it is; alone, of the newest' });
  isEphemeral = Option.Boolean('--no-session', false, { description: 'Keep nothing of this session' });
  format = Option.String('--format', 'text', { description: 'text, json or stream-json' });
  maxSteps = Option.String('--max-steps', { description: 'Most model calls of the turn' });
  maxCost = Option.String('--max-cost', { description: 'Most US dollars of this run' });
  maxTokens = Option.String('--max-tokens', { description: 'Most tokens of this run, prompts and replies together' });
  bypass = Option.Boolean('--bypass-permissions', false, { description: 'Answer every question with yes; deny rules stay' });
  mode = Option.String('--permission-mode', { description: 'default, ask or bypass' });
  allow = Option.Array('--allow', [], { description: 'Allow a rule, such as "bash(git status:*)"' });
  deny = Option.Array('--deny', [], { description: 'Deny a rule; deny wins' });
  plugins = Option.Array('--plugin', [], { description: 'NAME=on or NAME=off' });
  schema = Option.String('--output-schema', { description: 'File with the JSON Schema of the answer' });
  images = Option.Array('--image', [], { description: 'Image to send along' });
  words = Option.Rest({ name: 'prompt' });
  /** File of a recording; set by `cast record`. */
  recordTo: string | undefined;

  override async execute(): Promise<number> {
    const { stdio, startedIn } = this.context;
    const format = oneOf('--format', this.format, FORMATS);
    if (this.recordTo !== undefined && this.#session() !== undefined) throw usageError('a recording begins with a new session', 'Leave -c, -s and --fork out.');
    if (this.schema !== undefined) await (await import('./output-schema.ts')).refuseSchema(this.schema, workingFolder(this.folder, startedIn));
    return run({
      stdio,
      format,
      cwd: workingFolder(this.folder, startedIn),
      prompt: this.words.join(' '),
      images: this.images,
      session: this.#session(),
      isEphemeral: this.isEphemeral,
      ...given('ids', this.recordTo === undefined ? undefined : (await import('./replaying.ts')).newSeededIds()),
      open: (cwd) => this.open(this.#config(), cwd),
    });
  }

  #session(): SessionWish | undefined {
    const chosen = [this.continues && '-c', this.session !== undefined && '-s', this.isEphemeral && '--no-session'].filter((flag) => flag !== false);
    if (chosen.length > 1) throw usageError(`${chosen.join(' and ')} cannot be combined`, 'Leave one out.');
    const { forks: fork } = this;
    if (fork && this.isEphemeral) throw usageError('--fork and --no-session cannot be combined', 'Leave one out.');
    if (this.session !== undefined) return { id: this.session, fork };
    return this.continues || fork ? { newest: true, fork } : undefined;
  }

  #config(): CastConfig {
    const permissions = this.#permissions();
    // Nothing of it is kept: no transcript either.
    const unkept = this.isEphemeral ? { 'session-jsonl': false } : {};
    const plugins = { ...pluginSwitches(this.plugins), ...unkept, ...given('replay', this.recordTo === undefined ? undefined : { record: this.recordTo }) };
    const limits = {
      ...given('maxSteps', this.maxSteps === undefined ? undefined : wholeNumber('--max-steps', this.maxSteps)),
      ...given('maxCost', this.maxCost === undefined ? undefined : amount('--max-cost', this.maxCost)),
      ...given('maxTokens', this.maxTokens === undefined ? undefined : wholeNumber('--max-tokens', this.maxTokens)),
    };
    return {
      ...given('model', this.model),
      ...given('reasoning', this.reasoning),
      ...filled('limits', limits),
      ...filled('permissions', permissions),
      ...filled('plugins', plugins),
    };
  }

  #permissions(): PermissionsConfig {
    const asked = this.mode === undefined ? undefined : oneOf('--permission-mode', this.mode, MODES);
    if (this.bypass && asked !== undefined && asked !== 'bypass')
      throw usageError(`--bypass-permissions and --permission-mode ${asked} cannot be combined`, 'Leave one out.');
    const mode = this.bypass ? 'bypass' : asked;
    return { ...given('mode', mode), ...filled('allow', this.allow), ...filled('deny', this.deny) };
  }
}

/** Nothing where nothing was given: a layer holds only what somebody set. */
const given = <K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } =>
  (value === undefined ? {} : { [key]: value }) as { readonly [P in K]?: V };
const filled = <K extends string, V extends object>(key: K, value: V): { readonly [P in K]?: V } =>
  given(key, Object.keys(value).length > 0 ? value : undefined);
