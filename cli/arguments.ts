/** Flags that several commands know. */
import { homedir } from 'node:os';
import { Command, Option, type BaseContext } from 'clipanion';
import { CastError, type CastConfig } from '../kernel/index.ts';
import { mergeLayers } from '../kernel/host/config.ts';
import { nearest } from '../kernel/nearest.ts';
import type { Environment } from './config/environment.ts';
import { findProject } from './config/project.ts';
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

/** US dollars. */
export const amount = (flag: string, value: string): number => {
  const number = Number(value);
  if (value.trim() !== '' && Number.isFinite(number) && number >= 0) return number;
  throw usageError(`${flag} ${value} is no amount of US dollars`, `For instance ${flag} 0.50.`);
};
