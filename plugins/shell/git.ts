/** What `git` runs besides itself: aliases and programs of a configuration that a command brings along, and commands that its own commands take. */
import { plainWord, type Word } from './grammar.ts';
import { text, type Inner } from './inner.ts';

/** Options before the subcommand that take the next word. */
const VALUES = new Set(['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--exec-path', '--config-env', '--super-prefix', '--attr-source']);

/** Keys of the configuration whose value a shell runs. */
const RUN_KEYS = new RegExp(
  [
    String.raw`^core\.(pager|editor|sshcommand|fsmonitor|askpass)$`,
    String.raw`^(sequence\.editor|interactive\.difffilter|uploadpack\.packobjectshook|pager\..+)$`,
    String.raw`^(diff\.(external|.+\.(command|textconv))|merge\..+\.driver|(difftool|mergetool)\..+\.cmd)$`,
    String.raw`^(filter\..+\.(clean|smudge|process)|credential\.(.+\.)?helper|gpg\.(.+\.)?program)$`,
  ].join('|'),
  'i',
);

/** `git -C DIR push` is `git push`. */
export const gitInner = (args: readonly Word[]): readonly Inner[] => {
  let at = 0;
  const found: Inner[] = [];
  for (let arg = args[at]; arg?.value.startsWith('-'); arg = args[at]) {
    const next = args[at + 1];
    if (arg.value === '-c' && next) found.push(...configured(next));
    if (arg.value.startsWith('--config-env')) found.push({ unknown: 'git' });
    at += VALUES.has(arg.value) ? 2 : 1;
  }
  const [sub, ...rest] = args.slice(at);
  if (at > 0 && sub) return [...found, { words: [plainWord('git'), sub, ...rest] }];
  return sub ? runBy(sub.value, rest) : [];
};

/** `-c alias.x=push`, `-c core.pager=TEXT`. */
const configured = (setting: Word): readonly Inner[] => {
  const [, key = '', value = ''] = /^([^=]+)=([^]*)$/.exec(setting.value) ?? [];
  const isAlias = /^alias\..+$/i.test(key);
  if (!isAlias && !RUN_KEYS.test(key)) return [];
  return [text('git', [{ ...setting, value: isAlias && !value.startsWith('!') ? `git ${value}` : value.replace(/^!/, '') }])];
};

/** Subcommands that take a command. */
const runBy = (sub: string, args: readonly Word[]): readonly Inner[] => {
  switch (sub) {
    case 'rebase':
      return valuesOf(args, /^(-x|--exec)$/);
    case 'filter-branch':
      return valuesOf(args, /^--[a-z]+-filter$/);
    case 'submodule': {
      const inner = args.slice(args.findIndex((arg) => arg.value === 'foreach') + 1 || args.length).filter((arg) => arg.value !== '--recursive');
      return inner.length > 0 ? [text('git submodule foreach', inner)] : [];
    }
    case 'bisect':
      return args[0]?.value === 'run' && args.length > 1 ? [{ words: args.slice(1) }] : [];
    default:
      return [];
  }
};

/** Values of options, in the next word or behind `=`. */
const valuesOf = (args: readonly Word[], option: RegExp): readonly Inner[] =>
  args.flatMap((arg, index) => {
    const [name = '', attached] = /^(--[a-z-]+)=([^]*)$/.exec(arg.value)?.slice(1) ?? [arg.value];
    if (!option.test(name)) return [];
    const value = attached === undefined ? args[index + 1] : { ...arg, value: attached };
    return value ? [text('git', [value])] : [];
  });
