/** Why a person should look at a command first. Judged on its parsed parts, never on its text. */
import type { Analysis } from './analysis.ts';
import type { Command } from './grammar.ts';
import { isShell, nameOf } from './wrappers.ts';

export const dangersIn = ({ commands, bomb, unclear }: Analysis): readonly string[] => {
  const reasons = new Set<string>();
  if (unclear !== undefined) reasons.add(`cannot be parsed: ${unclear}`);
  if (bomb) reasons.add('a fork bomb');
  const assigned = commands.flatMap((command) => [...command.assignments, ...command.words.map((word) => word.raw).filter((raw) => /^\w+\+?=/.test(raw))]);
  for (const command of commands) for (const reason of dangersOf(command, assigned)) reasons.add(reason);
  return [...reasons];
};

/** Words behind the name, as options and operands see them. */
type Args = readonly string[];
type Check = (args: Args, command: Command) => string | undefined;

const dangersOf = (command: Command, assigned: readonly string[]): readonly string[] => {
  const found = command.writes.some(isBlockDevice) ? ['writes to a block device'] : [];
  if (command.words.length === 0) return found;
  const name = nameOf(command);
  if (name === undefined) return [...found, 'runs a command whose name is only known at run time'];
  const args = command.words.slice(1).flatMap((word) => [...(word.splits ? optionsIn(word.raw, assigned) : []), word.value]);
  const check = CHECKS[name] ?? (name.startsWith('mkfs') ? always('mkfs makes a new file system') : isShell(name) ? pipedShell : undefined);
  const reason = check?.(args, command);
  return reason === undefined ? found : [...found, reason];
};

/** Options that a word may turn into, as far as its source and the assignments of the same text show: `{-rf,x}`, `$(echo -rf x)`, `X=-rf; rm $X`. */
const optionsIn = (raw: string, assigned: readonly string[]): readonly string[] => {
  const names = [...raw.matchAll(/\$\{?(\w+)/g)].map((match) => match[1]);
  const values = assigned.filter((text) => names.includes(/^\w+/.exec(text)?.[0]));
  return [raw, ...values].flatMap((text) => text.replace(/:[-=+?]/g, ' ').match(/(?<![\w-])--?[A-Za-z][\w-]*/g) ?? []);
};

// Own and parent properties must not be confused: `constructor` is a possible command name.
const table = (checks: Record<string, Check>): Readonly<Record<string, Check>> => Object.assign(Object.create(null) as Record<string, Check>, checks);
const always = (reason: string): Check => {
  return () => reason;
};

/** Options before `--`. */
const options = (args: Args): Args => {
  const end = args.indexOf('--');
  return (end < 0 ? args : args.slice(0, end)).filter((arg) => arg.startsWith('-') && arg !== '-');
};
const operands = (args: Args): Args => {
  const end = args.indexOf('--');
  return args.filter((arg, index) => (end >= 0 && index > end) || (!arg.startsWith('-') && arg !== '--'));
};
/** Whether a bundle such as `-xvf` holds one of these letters. */
const hasShort = (args: Args, letters: RegExp): boolean => options(args).some((arg) => /^-[^-]/.test(arg) && letters.test(arg.slice(1)));
/** Long options may be shortened: `--recur` is `--recursive`. */
const hasLong = (args: Args, ...names: readonly string[]): boolean =>
  options(args).some((arg) => {
    const option = arg.split('=', 1)[0] ?? '';
    return option.length > 3 && names.some((name) => `--${name}`.startsWith(option));
  });

const isBlockDevice = (path: string): boolean => /^\/dev\/(sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|loop|dm-|md\d|mapper\/|ram)/.test(path);
const EVERYTHING = new Set(['.', './', ':/', '*', './*']);

const pipedShell: Check = (_args, command) => {
  if (command.feeders.length === 0 || readsAFile(command)) return undefined;
  const names = command.feeders.map(nameOf);
  if (names.includes('curl') || names.includes('wget')) return 'a download is piped into a shell';
  const decodes = command.feeders.some((feeder) => nameOf(feeder) === 'base64' && decoding(feeder.words.slice(1).map((word) => word.value)));
  return decodes ? 'decoded base64 is piped into a shell' : 'text is piped into a shell';
};
const decoding = (args: Args): boolean => hasShort(args, /[dD]/) || hasLong(args, 'decode');
/** A shell that is given a script or text to run does not run what it is piped; `-s` says that it does. */
const readsAFile = (command: Command): boolean => {
  const args = command.words.slice(1).map((word) => word.value);
  return !hasShort(args, /s/) && (hasShort(args, /c/) || operands(args).length > 0);
};

/** An interpreter without arguments runs what it is piped; with some it reads it as data. */
const pipedProgram: Check = (args, command) => {
  const names = command.feeders.map(nameOf);
  return args.every((arg) => arg === '-') && (names.includes('curl') || names.includes('wget')) ? 'a download is piped into an interpreter' : undefined;
};
const toDevice: Check = (args) => (operands(args).some(isBlockDevice) ? 'writes to a block device' : undefined);
const runlevel: Check = (args) => (args.some((arg) => /^[06]$/.test(arg)) ? 'init stops the machine' : undefined);

const power = (name: string): Check => always(`${name} stops the machine`);
const flush: Check = (args) => (hasShort(args, /F/) || hasLong(args, 'flush') ? 'iptables -F drops the firewall rules' : undefined);
const publish: Check = (args) => (operands(args)[0] === 'publish' ? 'publishes a package' : undefined);

const everything = (args: Args): boolean => operands(args).some((path) => EVERYTHING.has(path));
const isDryRun = (args: Args): boolean => hasShort(args, /n/) || hasLong(args, 'dry-run');
const keepsFiles = (args: Args): boolean => (hasShort(args, /S/) || hasLong(args, 'staged')) && !hasShort(args, /W/) && !hasLong(args, 'worktree');
const isForced = (args: Args): boolean => hasShort(args, /f/) || hasLong(args, 'force');

const GIT = table({
  push: (args) => (isForced(args) || operands(args).some((ref) => ref.startsWith('+')) ? 'git push with force' : undefined),
  reset: (args) => (hasLong(args, 'hard') ? 'git reset --hard' : undefined),
  clean: (args) => ((isForced(args) || hasShort(args, /d/)) && !isDryRun(args) ? 'git clean removes files' : undefined),
  checkout: (args) => (everything(args) ? 'git checkout . throws changes away' : undefined),
  restore: (args) => (everything(args) && !keepsFiles(args) ? 'git restore . throws changes away' : undefined),
});
const git: Check = ([sub = '', ...rest], command) => GIT[sub]?.(rest, command);

const rm: Check = (args, command) => {
  const runner = command.via.find((name) => name === 'xargs' || name === 'parallel' || name === 'find');
  if (runner) return `${runner} runs rm`;
  return hasShort(args, /[rRf]/) || hasLong(args, 'recursive', 'force') ? 'rm with -r or -f' : undefined;
};

/** `kill -9 -1`, not `kill -1 PID`. */
const kill: Check = (args) => (args.slice(1).includes('-1') ? 'kill -1 ends every process' : undefined);

const CHECKS = table({
  rm,
  git,
  kill,
  sudo: always('sudo'),
  doas: always('doas'),
  chmod: (args) => (operands(args).some((mode) => /^0?777$|^(a|ugo)[+=]rwx$/.test(mode)) ? 'chmod 777' : undefined),
  dd: (args) => (args.some((arg) => arg.startsWith('if=') || arg.startsWith('of=/dev/')) ? 'dd copies raw data' : undefined),
  shutdown: power('shutdown'),
  reboot: power('reboot'),
  poweroff: power('poweroff'),
  halt: power('halt'),
  systemctl: (args) => (/^(poweroff|reboot|halt|kexec)$/.test(operands(args)[0] ?? '') ? 'systemctl stops the machine' : undefined),
  npm: publish,
  pnpm: publish,
  yarn: (args) => (operands(args).slice(0, 2).includes('publish') ? 'publishes a package' : undefined),
  killall: always('killall'),
  pkill: always('pkill'),
  rsync: (args) => (args.some((arg) => /^--del(ete|$)/.test(arg)) ? 'rsync --delete removes files' : undefined),
  find: (args) => (args.includes('-delete') ? 'find -delete removes files' : undefined),
  crontab: (args) => (hasShort(args, /r/) ? 'crontab -r removes all jobs' : undefined),
  iptables: flush,
  ip6tables: flush,
  init: runlevel,
  telinit: runlevel,
  python: pipedProgram,
  python3: pipedProgram,
  node: pipedProgram,
  perl: pipedProgram,
  ruby: pipedProgram,
  php: pipedProgram,
  cp: toDevice,
  mv: toDevice,
  tee: toDevice,
  shred: toDevice,
  wipefs: toDevice,
  truncate: toDevice,
});
