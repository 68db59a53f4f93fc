/** The log of a process goes to standard error: warnings always, the rest with CAST_LOG=debug. */
import type { Log } from '../kernel/index.ts';
import type { Environment } from './config/environment.ts';
import type { Stdio } from './stdio.ts';
import { oneLine } from './style.ts';

export const createLog = (stdio: Stdio, environment: Environment): Log => {
  const isVerbose = environment['CAST_LOG'] === 'debug';
  const write =
    (level: keyof Log, isShown: boolean): Log[keyof Log] =>
    (message, data) => {
      if (isShown) stdio.err(`cast: ${level}: ${oneLine(message)}${isVerbose && data ? ` ${JSON.stringify(data)}` : ''}\n`);
    };
  return { debug: write('debug', isVerbose), info: write('info', isVerbose), warn: write('warn', true), error: write('error', true) };
};
