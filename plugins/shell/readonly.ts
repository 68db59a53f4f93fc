/** Whether a command is known to change nothing. What is not in the tables counts as a change. */
import type { Analysis } from './analysis.ts';
import { ALLOWED, GIT_FORMS, GIT_GLOBAL, GIT_READS, GIT_REFUSED, HARMLESS, READ_WRAPPERS, type Allowed } from './flags.ts';
import type { Command, Word } from './grammar.ts';
import { innerOf } from './wrappers.ts';

/** Only simple commands, joined by `;`, `&&`, `||` and `|`, each of which only reads. */
export const readsOnly = ({ commands, constructs, unclear }: Analysis): boolean => {
  if (unclear !== undefined || constructs.size > 0 || commands.length === 0) return false;
  // Another folder may hold a repository whose configuration runs programs.
  const names = commands.map((command) => command.words[0]?.value);
  if (names.includes('cd') && names.includes('git')) return false;
  return commands.every(isRead);
};

const isRead = (command: Command): boolean => {
  const first = command.words[0];
  if (!first || first.dynamic || command.assignments.length > 0 || command.writes.some((path) => path !== '/dev/null')) return false;
  const name = programOf(first.value);
  const args = command.words.slice(1);
  if (args.some((arg) => /^--output(=|$)/.test(arg.value))) return false;
  // `xargs` adds arguments that nobody knows yet.
  return HARMLESS.has(name) || (command.via.at(-1) !== 'xargs' && isKnownRead(name, args, command));
};

const isKnownRead = (name: string, args: readonly Word[], command: Command): boolean => {
  const own = Object.hasOwn(OWN, name) ? OWN[name] : undefined;
  if (own) return own(args);
  const wrapper = Object.hasOwn(READ_WRAPPERS, name) ? READ_WRAPPERS[name] : undefined;
  if (wrapper) return fits(ownWords(command), wrapper);
  const allowed = Object.hasOwn(ALLOWED, name) ? ALLOWED[name] : undefined;
  return allowed !== undefined && fits(args, allowed);
};

/** A path names the system's own program or an unknown one. */
const programOf = (word: string): string => word.replace(/^\/(usr\/)?bin\//, '');

/** The words of a wrapper without those of the command that it runs. */
const ownWords = (command: Command): readonly Word[] => {
  const [inner] = innerOf(command);
  return command.words.slice(1, inner && 'words' in inner ? command.words.length - inner.words.length : undefined);
};

const isGitRead = (args: readonly Word[]): boolean => {
  const at = args.findIndex((arg) => !GIT_GLOBAL.has(arg.value));
  const sub = args[at];
  if (!sub || sub.dynamic) return false;
  if (sub.value === '--version') return true;
  const rest = args.slice(at + 1);
  if (GIT_READS.has(sub.value)) return beforeDashes(rest).every((arg) => !arg.free && !isGitRefused(sub.value, arg.value));
  return Object.hasOwn(GIT_FORMS, sub.value) && (GIT_FORMS[sub.value] ?? []).some((form) => fits(rest, form));
};
const beforeDashes = (args: readonly Word[]): readonly Word[] => {
  const end = args.findIndex((arg) => arg.value === '--');
  return end < 0 ? args : args.slice(0, end);
};
const isGitRefused = (sub: string, arg: string): boolean => {
  if (sub === 'grep' && /^-[^-]*O/.test(arg)) return true;
  const option = arg.split('=', 1)[0] ?? '';
  return option.startsWith('--') && GIT_REFUSED.some((refused) => refused.startsWith(option));
};

/** `sed -n 1,20p FILE`: prints lines. Everything else of its language may write. */
const isSedRead = (args: readonly Word[]): boolean => {
  if (!fits(args, ALLOWED['sed'] ?? {})) return false;
  const script = args.find((arg) => !arg.value.startsWith('-'));
  return script !== undefined && !script.dynamic && /^\d+(,(\d+|\$))?p(;\d+(,(\d+|\$))?p)*$/.test(script.value);
};

/** `-v` would assign to a variable, whose subscript may run a command. */
const isPrintfRead = (args: readonly Word[]): boolean => {
  const [format] = args;
  return format !== undefined && !format.free && (format.value === '--' || !format.value.startsWith('-'));
};

/** Commands whose arguments need more than a table. */
const OWN: Readonly<Record<string, (args: readonly Word[]) => boolean>> = { git: isGitRead, sed: isSedRead, printf: isPrintfRead };

const fits = (args: readonly Word[], allowed: Allowed): boolean => {
  const { first, needs, operands: most = Number.POSITIVE_INFINITY } = allowed;
  const options = beforeDashes(args);
  if (first && !first.test(args[0]?.value ?? '')) return false;
  if (needs && !options.some((arg) => needs.test(arg.value))) return false;
  const found = operandsOf(options, allowed);
  if (!found) return false;
  const operands = [...found, ...args.slice(options.length + 1)];
  return operands.length <= most && operands.every((each) => isOperand(each, allowed));
};

/** What stands among the options without being one; undefined when an option is not allowed. */
const operandsOf = (options: readonly Word[], allowed: Allowed): readonly Word[] | undefined => {
  const operands: Word[] = [];
  let isValue = false;
  for (const arg of options) {
    if (arg.free) return undefined;
    const kind: Kind = isValue ? 'fine' : kindOf(arg.value, allowed);
    if (kind === 'refused') return undefined;
    if (kind === 'operand') operands.push(arg);
    // The next word is the value of this option, whatever it looks like.
    isValue = kind === 'takes next';
  }
  return operands;
};

const isOperand = (arg: Word, { operand }: Allowed): boolean => operand === undefined || (!arg.dynamic && operand.test(arg.value));

type Kind = 'fine' | 'refused' | 'takes next' | 'operand';

const kindOf = (arg: string, allowed: Allowed): Kind => {
  if (arg === '-' || !arg.startsWith('-')) return 'operand';
  if (arg.startsWith('--')) return allowed.long?.includes(arg.split('=', 1)[0] ?? '') ? 'fine' : 'refused';
  // `find -mtime -7`: a number is no option.
  if (/^-\d+\w?$/.test(arg)) return 'fine';
  return allowed.word ? (allowed.word.includes(arg) ? 'fine' : 'refused') : kindOfBundle(arg.slice(1), allowed);
};
const kindOfBundle = (letters: string, { short = '', shortValue = '' }: Allowed): Kind => {
  const stop = Array.from(letters).findIndex((letter) => !short.includes(letter));
  if (stop < 0) return 'fine';
  if (!shortValue.includes(letters.charAt(stop))) return 'refused';
  return stop === letters.length - 1 ? 'takes next' : 'fine';
};
