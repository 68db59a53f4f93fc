/** Help, from what the commands say about themselves. */
import type { Definition } from 'clipanion';
import { alignRows, type Paint } from './style.ts';

/** What stands for the value of a flag. */
const VALUES: Readonly<Record<string, string>> = {
  '--cwd': 'DIR',
  '--model': 'ID',
  '--reasoning': 'LEVEL',
  '--session': 'ID',
  '--format': 'FORMAT',
  '--max-steps': 'N',
  '--max-cost': 'USD',
  '--max-tokens': 'N',
  '--limit': 'N',
  '--days': 'N',
  '--permission-mode': 'MODE',
  '--allow': 'RULE',
  '--deny': 'RULE',
  '--plugin': 'NAME=on|off',
  '--output-schema': 'FILE',
  '--image': 'FILE',
};

/** Flags of a command as they are typed: `-m`, `--model`. */
export const flagNames = ({ options }: Definition): readonly string[] => options.flatMap(({ definition }) => namesOf(definition));

const namesOf = (definition: string): readonly string[] => (definition.split(' ', 1)[0] ?? '').split(',');
const withValue = (definition: string): string => {
  const names = namesOf(definition);
  return `${names.join(', ')}${definition.includes('#') ? ` ${VALUES[names.at(-1) ?? ''] ?? 'VALUE'}` : ''}`;
};

/** `cast --help`, and `cast plugins --help` where several commands share a word. */
export const overview = (definitions: readonly Definition[], version: string, paint: Paint): string => {
  const rows = alignRows(definitions.map((each) => [`  ${usageOf(each)}`, trimmed(each.description)]));
  return [
    `${paint.bold('cast')} ${version}, a coding agent for the terminal`,
    '',
    ...rows,
    '',
    'Flags of a command: cast COMMAND --help. The version: cast --version.',
    '',
  ].join('\n');
};

/** `cast run --help`. */
export const manual = (definition: Definition, paint: Paint): string => {
  const { description, details, examples = [], options } = definition;
  return [
    `${paint.bold(`${definition.path}${options.length > 0 ? ' [flags]' : ''}${argumentsOf(definition)}`)}`,
    '',
    trimmed(description),
    '',
    ...alignRows(options.map((option) => [`  ${withValue(option.definition)}`, option.description ?? ''])),
    ...(details === undefined ? [] : ['', details.trim()]),
    ...examples.flatMap(([title, line]) => ['', `${trimmed(title)}:`, `  ${line}`]),
    '',
  ].join('\n');
};

/** `cast sessions show ID` */
export const usageOf = (definition: Definition): string => `${definition.path}${argumentsOf(definition)}`;
/** The positional arguments of a usage line, in the spelling of the contract. */
const argumentsOf = ({ path, usage }: Definition): string => {
  const rest = usage.slice(path.length).trim();
  return rest === '' ? '' : ` ${rest.replace(/<(\w+)>/g, '$1').replace(/^\.\.\.$/, '[prompt…]')}`;
};
const trimmed = (text: string | undefined): string => (text ?? '').trim();
