/** `cast context`: what would fill the window now, by owner. */
import { Command, Option } from 'clipanion';
import { CastError, type CommandOutcome } from '../kernel/index.ts';
import { CastCommand } from './arguments.ts';
import { openOptionsOf } from './opening.ts';
import { endKernel, startKernel } from './processes.ts';
import { drawSketch } from './sketch.ts';

export class ContextCommand extends CastCommand {
  static override paths = [['context']];
  static override usage = Command.Usage({
    description: 'What fills the context window by owner, and what a compaction would drop',
  });
  session = Option.String('-s,--session', { description: 'Of this session; default: the newest of this project' });
  isNew = Option.Boolean('--new', false, { description: 'Of a session that has not begun' });
  json = Option.Boolean('--json', false, { description: 'As JSON' });

  override async execute(): Promise<number> {
    const { stdio } = this.context;
    const opening = await this.open({});
    this.remark(opening);
    const kernel = startKernel(opening.home, stdio, opening.environment);
    try {
      const session = await this.#which(async () => (await (await kernel.store()).list({ root: opening.root, kind: 'conversation', limit: 1 }))[0]?.id);
      const opened = await kernel.open({ ...openOptionsOf(opening), ...(session === undefined ? { ephemeral: true } : { session: { id: session } }) });
      const head = session === undefined ? 'A new session' : `Session ${session}`;
      const answer = resultOf(await opened.client.command('context', this.json ? '--json' : ''));
      await this.print(this.json ? answer : `${head} with ${answer}`);
      return 0;
    } finally {
      await endKernel(kernel, 'looked at');
    }
  }

  /** Undefined for a new one. */
  async #which(newest: () => Promise<string | undefined>): Promise<string | undefined> {
    if (this.session !== undefined) return this.session;
    return this.isNew ? undefined : newest();
  }
}

const resultOf = (outcome: CommandOutcome): string => {
  if (!outcome.ok) throw new CastError('SERVICE_MISSING', `the window cannot be looked at: ${outcome.message}`, { fix: 'Switch the plugin context on.' });
  const { result = '' } = outcome;
  return typeof result === 'string' ? result : drawSketch(result);
};
