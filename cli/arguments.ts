/** Flags that several commands know, and errors about flags that say what was meant. */
import { homedir } from 'node:os';
import { Command, Option, type BaseContext, type Cli, type Definition } from 'clipanion';
import { CastError, type CastConfig } from '../kernel/index.ts';
import { mergeLayers } from '../kernel/host/config.ts';
import { nearest } from '../kernel/nearest.ts';
import type { Environment } from './config/environment.ts';
import { findProject } from './config/project.ts';
import { flagNames, usageOf } from './help.ts';
import { castHome, lockedNames, readOpening, workingFolder, type Opening } from './opening.ts';
import type { Stdio } from './stdio.ts';
import { oneLine } from './style.ts';

export interface CastContext extends BaseContext {
  readonly stdio: Stdio;
  readonly environment: Environment;
  /** Where cast was started. */
  readonly startedIn: string;
}

export const usageError = (message: string, fix: string): CastError => new CastError('CLI_USAGE', message, { fix });

/** A command of cast. `execute` returns the exit code and throws CastErrors. */
export abstract class CastCommand extends Command<CastContext> {
  folder = Option.String('--cwd', { description: 'Work in this folder' });
  trust = Option.String('--trust', { tolerateBoolean: true, description: "For this run, use the project's configuration; --trust=text only its texts" });
  safe = Option.Boolean('--safe', false, { description: 'Built-in plugins only: no configuration, no hooks' });

  protected get trusted(): 'code' | 'text' | undefined {
    // Without a value clipanion sets it to true, which its type does not say.
    const given = this.trust as string | boolean | undefined;
    if (given === undefined || given === false) return undefined;
    if (given === true || given === 'code') return 'code';
    if (given === 'text') return 'text';
    throw usageError(`--trust=${given} is not known`, 'Use --trust, or --trust=text.');
  }

  /** `cwd` in place of the folder that the flags name. */
  protected open(flags: CastConfig, cwd = this.folder): Promise<Opening> {
    const { environment, startedIn } = this.context;
    return readOpening({ startedIn, environment, cwd, trust: this.trusted, safe: this.safe, flags });
  }

  /** Where the command works, without a look at any configuration. */
  protected place(dir?: string): { readonly cwd: string; readonly home: string; readonly root: string } {
    const { environment, startedIn } = this.context;
    const cwd = workingFolder(dir, workingFolder(this.folder, startedIn));
    const home = castHome(environment, startedIn);
    return { cwd, home, root: findProject(cwd, { home: homedir(), castHome: home }).root };
  }

  protected async print(lines: readonly string[] | string): Promise<void> {
    await this.context.stdio.out(`${typeof lines === 'string' ? lines : lines.join('\n')}\n`);
  }
  /** Where no session tells them: what the configuration asks for and does not get as well. */
  protected remark(opening: Opening): void {
    const refusals = mergeLayers(opening.layers, lockedNames()).refusals.map(({ key, reason }) => `${key} is not used: ${reason}`);
    for (const text of [...opening.remarks, ...refusals]) this.context.stdio.err(`cast: ${oneLine(text)}\n`);
  }
}

/** `NAME=on` and `NAME=off`, as configuration. */
export const pluginSwitches = (given: readonly string[]): Readonly<Record<string, boolean>> =>
  Object.fromEntries(
    given.map((text) => {
      const [, name, state] = /^([^=]+)=(on|off)$/.exec(text) ?? [];
      if (name === undefined) throw usageError(`--plugin ${text} is not NAME=on or NAME=off`, 'For instance --plugin reminders=off.');
      return [name, state === 'on'] as const;
    }),
  );

/** One of a few words. */
export const oneOf = <T extends string>(flag: string, value: string, known: readonly T[]): T => {
  const found = known.find((word) => word === value);
  if (found !== undefined) return found;
  const near = nearest(value, known);
  throw usageError(`${flag} ${value} is not known`, `Use ${known.join(', ')}.${near === undefined ? '' : ` Did you mean ${near}?`}`);
};

export const wholeNumber = (flag: string, value: string): number => {
  const number = Number(value);
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw usageError(`${flag} ${value} is no whole number above 0`, `For instance ${flag} 20.`);
};

// ---- what the parser could not make sense of ----

type SyntaxError = Error & { readonly candidates?: readonly { readonly reason: string | null }[] };

/** An error of the parser as one of ours; anything else as it is. */
export const explainSyntax = (error: unknown, argv: readonly string[], cli: Cli<CastContext>): unknown => {
  if (!(error instanceof Error) || !('clipanion' in error)) return error;
  const reason = reasonOf(error);
  const definitions = cli.definitions();
  const command = `cast ${argv[0]}`;
  const [, quoted] = /option name \("((?:[^"\\]|\\.)*)"\)/.exec(reason) ?? [];
  if (quoted !== undefined) return unknownFlag(JSON.parse(`"${quoted}"`) as string, command, definitions.flatMap(flagNames));
  const [, option] = /Not enough arguments to option (\S+?)\.?$/.exec(reason) ?? [];
  if (option !== undefined) return usageError(`${option} needs a value`, `\`${command} --help\` lists the flags.`);
  const fitting = definitions.filter(({ path }) => `cast ${argv.join(' ')} `.startsWith(`${path} `));
  if (fitting.length === 0) return unknownWord(argv[1] ?? '', command, definitions);
  const typed = argv.map(oneLine).join(' ').slice(0, 200);
  return usageError(`\`cast ${typed}\` is not complete, or has a word too many`, `Usage: ${fitting.map(usageOf).join(' or ')}`);
};

const reasonOf = (error: SyntaxError): string => error.candidates?.find((candidate) => candidate.reason !== null)?.reason ?? '';

const unknownFlag = (flag: string, command: string, known: readonly string[]): CastError => {
  const near = nearest(flag, known);
  const fix = near === undefined ? 'Put -- before a prompt that begins with a dash.' : `Did you mean ${near}?`;
  return usageError(`there is no flag ${oneLine(flag).slice(0, 80)} of ${command}`, `${fix} \`${command} --help\` lists the flags.`);
};

/** Of commands that share their first word. */
const unknownWord = (word: string, command: string, definitions: readonly Definition[]): CastError => {
  const known = definitions.map(({ path }) => path.slice(command.length + 1));
  const near = nearest(word, known);
  return usageError(
    `there is no command ${command} ${oneLine(word).slice(0, 80)}`,
    near === undefined ? `There is ${known.join(', ')}.` : `Did you mean \`${command} ${near}\`?`,
  );
};
