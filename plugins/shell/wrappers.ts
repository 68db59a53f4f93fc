/** Commands that run another command, and where in their words it stands. */
import { plainWord, type Command, type Word } from './grammar.ts';

/** What a wrapper runs: words of its own, or text that bash parses again. `unknown` is said only at run time. */
export type Inner = { readonly words: readonly Word[] } | { readonly text: string } | { readonly unknown: string };

interface Prefix {
  /** Short options that take a value. */
  readonly short?: string;
  /** Long options that take the next word as their value. */
  readonly long?: readonly string[];
  /** Words of its own before the command: a duration, a file. */
  readonly operands?: number;
  /** `NAME=value` may stand before the command. */
  readonly assigns?: boolean;
  /** With such an option it runs nothing. */
  readonly idle?: RegExp;
}

const PREFIXES: Readonly<Record<string, Prefix>> = {
  builtin: {},
  busybox: {},
  chroot: { operands: 1, long: ['--userspec', '--groups'] },
  command: { idle: /^-[pvV]*[vV]/ },
  doas: { short: 'uC' },
  env: { short: 'uC', long: ['--unset', '--chdir'], assigns: true },
  exec: { short: 'a' },
  flock: { operands: 1, short: 'wE', long: ['--timeout', '--wait', '--conflict-exit-code'] },
  gtimeout: { operands: 1, short: 'ks', long: ['--kill-after', '--signal'] },
  ionice: { short: 'cnpPu', long: ['--class', '--classdata'] },
  nice: { short: 'n', long: ['--adjustment'] },
  nohup: {},
  parallel: { short: 'jIaNnLPS', long: ['--jobs', '--arg-file'] },
  script: { operands: 1, short: 'cEIlmoOBT' },
  setsid: {},
  stdbuf: { short: 'ioe', long: ['--input', '--output', '--error'] },
  strace: { short: 'aeEIoOpPsSuU' },
  sudo: { short: 'ughpCcrtTURD', long: ['--user', '--group', '--host', '--prompt', '--chdir', '--role', '--type', '--close-from'], assigns: true },
  time: { short: 'fo', long: ['--format', '--output'] },
  timeout: { operands: 1, short: 'ks', long: ['--kill-after', '--signal'] },
  unbuffer: {},
  xargs: { short: 'adEIJLnPRsS', long: ['--arg-file', '--delimiter', '--max-args', '--max-chars', '--max-lines', '--max-procs', '--replace'] },
};
const SHELLS = new Set(['bash', 'sh', 'zsh', 'dash', 'ksh', 'mksh', 'ash', 'rbash', 'fish']);
const FIND_RUNS = new Set(['-exec', '-execdir', '-ok', '-okdir']);
const FD_RUNS = new Set(['-x', '-X', '--exec', '--exec-batch']);
const GIT_VALUES = new Set(['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--exec-path', '--config-env', '--super-prefix', '--attr-source']);

export const isShell = (name: string | undefined): boolean => name !== undefined && SHELLS.has(name);

/** The program without its folder; undefined when it is known only at run time. */
export const nameOf = (command: Command): string | undefined => {
  const first = command.words[0];
  if (!first) return undefined;
  if (!first.dynamic) return first.value.slice(first.value.lastIndexOf('/') + 1);
  // Unquoted, `rm${IFS}-rf${IFS}/x` is `rm`; the two folders below are what people write without quotes.
  if (first.splits && !/^\$(HOME|PWD|\{HOME\}|\{PWD\})\/[^$`{*?[]+$/.test(first.raw)) return undefined;
  const slash = first.tail.lastIndexOf('/');
  return slash < 0 || slash === first.tail.length - 1 ? undefined : first.tail.slice(slash + 1);
};

/** Everything that a command hands on to be run. */
export const innerOf = (command: Command): readonly Inner[] => {
  const name = nameOf(command);
  if (name === undefined) return [];
  const args = command.words.slice(1);
  if (isShell(name)) return shell(name, args, command);
  switch (name) {
    case 'eval':
      return args.length === 0 ? [] : [text(name, args)];
    case 'trap':
      return trap(args.filter((arg) => arg.value !== '--'));
    case 'source':
    case '.':
      return args[0]?.pipe ? [{ unknown: name }] : [];
    case 'su':
    case 'runuser':
      return optionText(name, args);
    case 'watch':
      return words(afterOptions(args, { short: 'nq', long: ['--interval', '--equexit'] })).map((inner) => text(name, inner));
    case 'find':
      return find(args);
    case 'fd':
    case 'fdfind':
      return words(args.slice(args.findIndex((arg) => FD_RUNS.has(arg.value)) + 1 || args.length)).map((list) => ({ words: list }));
    case 'git':
      return git(args);
    case 'env':
      return env(args);
    case 'flock':
    case 'script':
      return [...optionText(name, args), ...prefixed(name, args)];
    default:
      return prefixed(name, args);
  }
};

const words = (list: readonly Word[]): readonly (readonly Word[])[] => (list.length > 0 ? [list] : []);

const prefixed = (name: string, args: readonly Word[]): readonly Inner[] => {
  const prefix = PREFIXES[name];
  const first = args[0];
  if (!prefix || (first && prefix.idle?.test(first.value))) return [];
  const rest = afterOptions(args, prefix).slice(prefix.operands ?? 0);
  const start = prefix.assigns ? rest.findIndex((arg) => arg.value !== '-' && !/^[A-Za-z_]\w*=/.test(arg.value)) : 0;
  const inner = start < 0 ? [] : rest.slice(start);
  return inner[0]?.value.startsWith('-') ? [] : words(inner).map((list) => ({ words: list }));
};

/** What is left once options, and the values that they take, are passed over. */
const afterOptions = (args: readonly Word[], prefix: Prefix): readonly Word[] => {
  let at = 0;
  for (let arg = args[at]; arg !== undefined; arg = args[at]) {
    const { value } = arg;
    if (value === '--') return args.slice(at + 1);
    if (value === '-' || !value.startsWith('-')) break;
    at += takesNext(value, prefix) ? 2 : 1;
  }
  return args.slice(at);
};
const takesNext = (option: string, { short = '', long = [] }: Prefix): boolean => {
  if (option.startsWith('--')) return long.includes(option);
  // In a bundle only the last letter can take the next word; one before it takes the rest of the bundle.
  const letters = Array.from(option).slice(1);
  const taker = letters.findIndex((letter) => short.includes(letter));
  return taker >= 0 && taker === letters.length - 1;
};

const text = (by: string, list: readonly Word[]): Inner =>
  list.some((word) => word.dynamic) ? { unknown: by } : { text: list.map((word) => word.value).join(' ') };

/** `trap TEXT SIGNAL…`; `trap - SIGNAL…` and `trap -p` run nothing. */
const trap = (args: readonly Word[]): readonly Inner[] => (args.length < 2 || args[0]?.value.startsWith('-') ? [] : [text('trap', args.slice(0, 1))]);

/** `su -c TEXT`, `flock FILE -c TEXT`. */
const optionText = (name: string, args: readonly Word[]): readonly Inner[] => {
  const at = args.findIndex((arg) => arg.value === '-c' || arg.value === '--command');
  const attached = args.find((arg) => arg.value.startsWith('--command='));
  if (attached) return [attached.dynamic ? { unknown: name } : { text: attached.value.slice('--command='.length) }];
  const word = at < 0 ? undefined : args[at + 1];
  return word ? [text(name, [word])] : [];
};

const shell = (name: string, args: readonly Word[], command: Command): readonly Inner[] => {
  const { options, operand } = shellArguments(args);
  if (options.some((option) => option.dynamic)) return [{ unknown: name }];
  if (options.some(({ value }) => /^-[^-]*c/.test(value))) return operand ? [text(`${name} -c`, [operand])] : [];
  if (operand?.pipe) return [{ unknown: name }];
  if (operand && operand.value !== '-') return [];
  return command.given.map((given) => (given.dynamic ? { unknown: name } : { text: given.text }));
};
/** `bash -o pipefail -c TEXT`: options come first, and some take the next word. */
const shellArguments = (args: readonly Word[]): { readonly options: readonly Word[]; readonly operand: Word | undefined } => {
  const options: Word[] = [];
  let at = 0;
  for (let arg = args[at]; arg && /^[-+]./.test(arg.value); arg = args[at]) {
    at += /^(--rcfile|--init-file|[-+][^-]*[oO])$/.test(arg.value) ? 2 : 1;
    if (arg.value === '--') break;
    options.push(arg);
  }
  return { options, operand: args[at] };
};

const find = (args: readonly Word[]): readonly Inner[] => {
  const found: Inner[] = [];
  for (let at = 0; at < args.length; at++) {
    if (!FIND_RUNS.has(args[at]?.value ?? '')) continue;
    const end = args.findIndex((arg, index) => index > at && (arg.value === ';' || arg.value === '+'));
    const inner = args.slice(at + 1, end < 0 ? undefined : end);
    if (inner.length > 0) found.push({ words: inner });
  }
  return found;
};

/** `git -C DIR push` is `git push`. */
const git = (args: readonly Word[]): readonly Inner[] => {
  let at = 0;
  for (let arg = args[at]; arg?.value.startsWith('-'); arg = args[at]) at += GIT_VALUES.has(arg.value) ? 2 : 1;
  return at === 0 || at >= args.length ? [] : [{ words: [plainWord('git'), ...args.slice(at)] }];
};

/** `env -S TEXT`, else `env -i NAME=VALUE … COMMAND`. */
const env = (args: readonly Word[]): readonly Inner[] => {
  const split = args.findIndex((arg) => /^(-[i0v]*S|--split-string)/.test(arg.value));
  const option = args[split];
  if (!option) return prefixed('env', args);
  const attached = option.value.replace(/^(-[i0v]*S|--split-string=?)/, '');
  return [text('env -S', [...(attached === '' ? [] : [{ ...option, value: attached }]), ...args.slice(split + 1)])];
};
