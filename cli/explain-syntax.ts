/** Errors about flags and words that say what was meant. */
import type { Cli, Definition } from 'clipanion';
import type { CastError } from '../kernel/index.ts';
import { nearest } from '../kernel/nearest.ts';
import { type CastContext, usageError } from './arguments.ts';
import { flagNames, usageOf } from './help.ts';
import { oneLine } from './style.ts';

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
