/** Commands that run another command, and where in their words it stands. */
import { gitInner } from './git.ts';
import type { Command, Word } from './grammar.ts';

import { text, type Inner } from './inner.ts';

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
  arch: {},
  builtin: {},
  busybox: {},
  caffeinate: { short: 'tw' },
  choom: { short: 'n', long: ['--adjust'] },
  chronic: {},
  chrt: { operands: 1, short: 'TPD', long: ['--sched-runtime', '--sched-period', '--sched-deadline'] },
  chroot: { operands: 1, long: ['--userspec', '--groups'] },
  command: { idle: /^-[pvV]*[vV]/ },
  'dbus-run-session': { long: ['--config-file', '--dbus-daemon'] },
  doas: { short: 'uC' },
  'dumb-init': { short: 'r', long: ['--rewrite'] },
  eatmydata: {},
  entr: {},
  env: { short: 'uC', long: ['--unset', '--chdir'], assigns: true },
  exec: { short: 'a' },
  fakeroot: { short: 'lsib', long: ['--lib', '--faked'] },
  firejail: {},
  flock: { operands: 1, short: 'wE', long: ['--timeout', '--wait', '--conflict-exit-code'] },
  gosu: { operands: 1 },
  gtimeout: { operands: 1, short: 'ks', long: ['--kill-after', '--signal'] },
  ionice: { short: 'cnpPu', long: ['--class', '--classdata'] },
  ltrace: { short: 'aADeFlnopsuwx' },
  nice: { short: 'n', long: ['--adjustment'] },
  nohup: {},
  nsenter: { short: 'tSG', long: ['--target', '--setuid', '--setgid'] },
  numactl: { short: 'NCmipP' },
  parallel: { short: 'jIaNnLPS', long: ['--jobs', '--arg-file'] },
  pkexec: { long: ['--user'] },
  prlimit: {},
  proot: { short: 'rbqw' },
  proxychains: { short: 'f' },
  proxychains4: { short: 'f' },
  rlwrap: {},
  runuser: { short: 'ugG', long: ['--user', '--group', '--supp-group'] },
  script: { operands: 1, short: 'cEIlmoOBT' },
  setpriv: { long: ['--reuid', '--regid', '--groups', '--inh-caps', '--bounding-set', '--ambient-caps', '--securebits', '--pdeathsig'] },
  setsid: {},
  stdbuf: { short: 'ioe', long: ['--input', '--output', '--error'] },
  'su-exec': { operands: 1 },
  strace: { short: 'aeEIoOpPsSuU' },
  sudo: { short: 'ughpCcrtTURD', long: ['--user', '--group', '--host', '--prompt', '--chdir', '--role', '--type', '--close-from'], assigns: true },
  'systemd-run': { short: 'pEtuHM', long: ['--unit', '--property', '--setenv', '--description', '--slice', '--uid', '--gid', '--working-directory'] },
  taskset: { operands: 1 },
  time: { short: 'fo', long: ['--format', '--output'] },
  timeout: { operands: 1, short: 'ks', long: ['--kill-after', '--signal'] },
  tini: { short: 'pe' },
  torsocks: { short: 'uaP' },
  toybox: {},
  unbuffer: {},
  unshare: { short: 'RwSG', long: ['--root', '--wd', '--setuid', '--setgid', '--map-user', '--map-group', '--propagation'] },
  valgrind: {},
  xargs: { short: 'adEIJLnPRsS', long: ['--arg-file', '--delimiter', '--max-args', '--max-chars', '--max-lines', '--max-procs', '--replace'] },
  'xvfb-run': { short: 'enfps', long: ['--error-file', '--server-num', '--auth-file', '--xauth-protocol', '--server-args'] },
};
const SHELLS = new Set(['bash', 'sh', 'zsh', 'dash', 'ksh', 'mksh', 'ash', 'rbash', 'fish', 'csh', 'tcsh']);
const FIND_RUNS = new Set(['-exec', '-execdir', '-ok', '-okdir']);
const FD_RUNS = new Set(['-x', '-X', '--exec', '--exec-batch']);

/** Names of standard input as a file. */
const STDIN = /^(-|\/dev\/(stdin|fd\/0)|\/proc\/self\/fd\/0)$/;

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
    case 'alias':
      return aliases(args);
    case 'source':
    case '.':
      return sourced(name, args[0], command);
    case 'su':
      return optionText(name, args);
    case 'watch':
      return words(afterOptions(args, { short: 'nq', long: ['--interval', '--equexit'] })).map((inner) => text(name, inner));
    case 'find':
      return find(args);
    case 'fd':
    case 'fdfind':
      return words(args.slice(args.findIndex((arg) => FD_RUNS.has(arg.value)) + 1 || args.length)).map((list) => ({ words: list }));
    case 'git':
      return gitInner(args);
    case 'env':
      return env(args);
    case 'flock':
    case 'runuser':
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

/** `trap TEXT SIGNAL…`; `trap - SIGNAL…` and `trap -p` run nothing. */
const trap = (args: readonly Word[]): readonly Inner[] => (args.length < 2 || args[0]?.value.startsWith('-') ? [] : [text('trap', args.slice(0, 1))]);

/** `alias NAME=TEXT`: nobody follows where it is used, so it counts as run. */
const aliases = (args: readonly Word[]): readonly Inner[] =>
  args.filter((arg) => arg.value.includes('=')).map((arg) => text('alias', [{ ...arg, value: arg.value.slice(arg.value.indexOf('=') + 1) }]));

const sourced = (name: string, file: Word | undefined, command: Command): readonly Inner[] => {
  if (file?.pipe) return [{ unknown: name }];
  return STDIN.test(file?.value ?? '') ? standardInput(name, command) : [];
};

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
  const readsInput = !operand || STDIN.test(operand.value) || options.some(({ value }) => /^-[^-]*s/.test(value));
  return readsInput ? standardInput(name, command) : [];
};
/** What is run from standard input: text of the source itself, or what other commands print. */
const standardInput = (name: string, { given, feeders }: Command): readonly Inner[] => {
  if (given.length > 0) return given.map((each) => (each.dynamic ? { unknown: name } : { text: each.text }));
  return feeders.length > 0 ? [{ unknown: name }] : [];
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

/** `env -S TEXT`, else `env -i NAME=VALUE … COMMAND`. */
const env = (args: readonly Word[]): readonly Inner[] => {
  const split = args.findIndex((arg) => /^(-[i0v]*S|--split-string)/.test(arg.value));
  const option = args[split];
  if (!option) return prefixed('env', args);
  const attached = option.value.replace(/^(-[i0v]*S|--split-string=?)/, '');
  return [text('env -S', [...(attached === '' ? [] : [{ ...option, value: attached }]), ...args.slice(split + 1)])];
};
