/** From the words of the command line to a command and its exit code. */
import { Cli, type CommandClass } from 'clipanion';
import { CastError, isCastError, messageOf } from '../kernel/index.ts';
import { nearest } from '../kernel/nearest.ts';
import { usageError, type CastContext } from './arguments.ts';
import { packageVersion } from './package.ts';
import { describeError } from './run-formats.ts';
import { createOutput, FORMATS, type Format } from './run-output.ts';
import { orStalled } from './stalled.ts';
import { claimStdio, exitProcess, type Stdio } from './stdio.ts';
import { createPaint, oneLine } from './style.ts';

type Commands = readonly CommandClass<CastContext>[];

/** Commands by their first word; only what is asked for is loaded. */
const COMMANDS: Readonly<Record<string, () => Promise<Commands>>> = {
  run: async () => [(await import('./run-command.ts')).RunCommand],
  plugins: async () => (await import('./inspect.ts')).pluginCommands,
  config: async () => [(await import('./config-command.ts')).ConfigCommand],
  context: async () => [(await import('./context-command.ts')).ContextCommand],
  sessions: async () => (await import('./sessions/index.ts')).sessionCommands,
  trust: async () => (await import('./trust.ts')).trustCommands,
  usage: async () => [(await import('./usage-command.ts')).UsageCommand],
  record: async () => [(await import('./record-command.ts')).RecordCommand],
  replay: async () => [(await import('./replay-command.ts')).ReplayCommand],
  demo: async () => [(await import('./demo-command.ts')).DemoCommand],
  doctor: async () => [(await import('./doctor.ts')).DoctorCommand],
};

/** Never rejects: the process ends here, whatever still runs in it. */
export const main = async (argv: readonly string[]): Promise<void> => {
  const stdio = claimStdio();
  let exitCode: number;
  try {
    exitCode = await orStalled(dispatch(argv, stdio));
  } catch (error) {
    exitCode = await reportFailure(argv, error, stdio);
  }
  exitProcess(exitCode);
};

const dispatch = async (argv: readonly string[], stdio: Stdio): Promise<number> => {
  if (isForPerson(argv, stdio)) {
    const { firstRun } = await import('./first-run/first-run.ts');
    const exitCode = await firstRun({ stdio, environment: process.env, startedIn: startedIn(), words: argv });
    if (exitCode !== undefined) return exitCode;
  }
  const cli = Cli.from<CastContext>([...(await commandsFor(argv, stdio))], { binaryName: 'cast' });
  const help = await helpFor(argv, cli, stdio);
  if (help !== undefined) {
    await stdio.out(help);
    return 0;
  }
  try {
    const command = cli.process([...argv], contextOf(stdio));
    return (await command.validateAndExecute()) ?? 0;
  } catch (error) {
    throw (await import('./explain-syntax.ts')).explainSyntax(error, argv, cli);
  }
};

/** No command, and somebody there who can be asked. */
const isForPerson = (argv: readonly string[], { isTerminal }: Stdio): boolean => isTerminal.in && isTerminal.out && (argv.length === 0 || isPrompt(argv));

/** What looks like a slip of a command is none. */
const isPrompt = (argv: readonly string[]): boolean => {
  const [word = ''] = argv;
  if (word.startsWith('-') || word === 'help' || Object.hasOwn(COMMANDS, word)) return false;
  return /\s/.test(word) || (argv.length > 2 && nearest(word, Object.keys(COMMANDS)) === undefined);
};

/** Throws CLI_USAGE when the first word is none of them. */
const commandsFor = async (argv: readonly string[], stdio: Stdio): Promise<Commands> => {
  const [word = ''] = argv;
  const load = Object.hasOwn(COMMANDS, word) ? COMMANDS[word] : undefined;
  if (load) return load();
  if (!HELP.has(word) && word !== 'help') throw noCommand(argv, stdio);
  return (await Promise.all(Object.values(COMMANDS).map((each) => each()))).flat();
};

const HELP: ReadonlySet<string> = new Set(['--help', '-h']);

/** Undefined when something is to be done. A word such as `plugins` alone is a question as well. */
const helpFor = async (argv: readonly string[], cli: Cli<CastContext>, stdio: Stdio): Promise<string | undefined> => {
  const words = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : argv.length);
  const isAsked = words.some((word) => HELP.has(word)) || words[0] === 'help';
  if (!isAsked && words.length > 1) return undefined;
  const definitions = cli.definitions();
  const typed = `cast ${words.filter((word) => !word.startsWith('-')).join(' ')} `;
  const fitting = definitions.filter(({ path }) => typed.startsWith(`${path} `)).sort((one, other) => other.path.length - one.path.length);
  if (!isAsked && fitting.length > 0) return undefined;
  const { manual, overview } = await import('./help.ts');
  const paint = createPaint(stdio.isTerminal.out, process.env);
  return fitting[0] ? manual(fitting[0], paint) : overview(definitions, packageVersion(), paint);
};

const contextOf = (stdio: Stdio): CastContext => ({
  ...Cli.defaultContext,
  stdio,
  environment: process.env,
  startedIn: startedIn(),
});

/** Throws CLI_USAGE when somebody removed it meanwhile. */
const startedIn = (): string => {
  const folder = currentFolder();
  if (folder !== undefined) return folder;
  throw usageError('the folder in which cast was started is gone', 'Change to a folder that exists.');
};
const currentFolder = (): string | undefined => {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
};

/** Nothing is ever guessed to be a prompt: that would cost money, or start something. */
const noCommand = (argv: readonly string[], { isTerminal }: Stdio): CastError => {
  const [word = ''] = argv;
  if (word.startsWith('-')) {
    const near = nearest(word, ['--version', '--help']);
    return usageError(
      `there is no flag ${oneLine(word)} before a command`,
      near === undefined ? 'Flags follow the command: cast run --model …' : `Did you mean ${near}?`,
    );
  }
  const near = nearest(word, Object.keys(COMMANDS));
  if (near !== undefined) return usageError(`there is no command ${word}`, `Did you mean \`cast ${[near, ...argv.slice(1)].join(' ')}\`?`);
  const fix = 'To send a prompt: cast run "…". `cast --help` lists the commands.';
  if (/^[a-z][a-z-]*$/.test(word) && argv.length <= 2) return usageError(`there is no command ${word}`, fix);
  const isTerminalThere = isTerminal.in && isTerminal.out;
  return usageError(isTerminalThere ? 'the interactive terminal is not part of this version' : 'an interactive session needs a terminal', fix);
};

/** Early failures of a run are in its format as well. */
const reportFailure = async (argv: readonly string[], error: unknown, stdio: Stdio): Promise<number> => {
  const failure = isCastError(error) ? error : new CastError('INTERNAL', messageOf(error), { cause: error });
  if (failure.code === 'INTERNAL' && process.env['CAST_LOG'] === 'debug') stdio.err(`${error instanceof Error ? error.stack : String(error)}\n`);
  const shown = {
    code: failure.code,
    message: failure.message,
    retryable: failure.retryable,
    ...(failure.fix === undefined ? {} : { suggestedFix: failure.fix }),
  };
  if (argv[0] !== 'run') stdio.err(`${describeError(shown)}\n`);
  else
    await createOutput(formatIn(argv), { stdio, cwd: currentFolder() ?? '', version: packageVersion() }).end({
      reason: 'error',
      exitCode: failure.exit,
      error: shown,
    });
  return failure.exit;
};

/** From words that could perhaps not be parsed. */
const formatIn = (argv: readonly string[]): Format => {
  const at = argv.findIndex((word) => word === '--format' || word.startsWith('--format='));
  const value = argv[at]?.includes('=') ? argv[at]?.slice('--format='.length) : argv[at + 1];
  return (at < 0 ? undefined : FORMATS.find((format) => format === value)) ?? 'text';
};
