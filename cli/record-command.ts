/** `cast record`: `cast run`, with all that comes from outside written down. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Cli, Command, Option } from 'clipanion';
import { usageError, type CastContext } from './arguments.ts';
import { explainSyntax } from './explain-syntax.ts';
import { RunCommand } from './run-command.ts';

export class RecordCommand extends Command<CastContext> {
  static override paths = [['record']];
  static override usage = Command.Usage({
    description: 'Run one prompt and record all that comes of it',
    details: `
      Replies, results of tools, answers, time, and what plugins made of them. What follows FILE is what \`cast run\` takes, flags and prompt; the exit code is that of the run. A recording begins with a new session.
      \`cast replay FILE\` plays it against the plugins as they are then. It holds what the session holds, without credentials: look at it before you share it.
    `,
    examples: [
      ['Record a prompt', 'cast record run.json "mend the test"'],
      ['With flags of a run', 'cast record run.json -- --format stream-json --max-steps 5 "mend the test"'],
    ],
  });

  file = Option.String({ name: 'FILE' });
  rest = Option.Proxy({ name: 'prompt' });

  override async execute(): Promise<number> {
    const { startedIn, stdio } = this.context;
    const file = resolve(startedIn, this.file);
    if (existsSync(file)) throw usageError(`${this.file} is there already`, 'Remove it, or name another file.');
    const words = ['run', ...(this.rest[0] === '--' ? this.rest.slice(1) : this.rest)];
    const command = runCommand(words, this.context);
    command.recordTo = file;
    const exitCode = (await command.validateAndExecute()) ?? 0;
    if (existsSync(file)) {
      stdio.err(`cast: recorded in ${this.file}\n`);
      return exitCode;
    }
    stdio.err(`cast: nothing was recorded in ${this.file}\n`);
    return exitCode === 0 ? 1 : exitCode;
  }
}

const runCommand = (words: readonly string[], context: CastContext): RunCommand => {
  const cli = Cli.from<CastContext>([RunCommand], { binaryName: 'cast' });
  try {
    return cli.process([...words], context) as RunCommand;
  } catch (error) {
    throw explainSyntax(error, words, cli);
  }
};
