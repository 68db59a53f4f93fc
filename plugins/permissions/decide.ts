/** The decision about one call. A pure function: everything it goes by is handed to it. */
import type { PermissionsConfig, ShellPart, ShellService, Vote } from '../../kernel/index.ts';
import { covers, isUnnamed, meets } from './commands.ts';
import { accessOf, guardOf, isSecret, pathOf, type Places } from './places.ts';
import { parseRule, type Rule } from './rules.ts';
import { escapeGlob, fits, namesGuarded, speaksFor, subjectsOf, type Judged } from './subjects.ts';
import { questionOf, refusalOf } from './wording.ts';

export type Mode = NonNullable<PermissionsConfig['mode']>;
export interface Policy {
  readonly mode: Mode;
  readonly rules: readonly Rule[];
  /** Absent: no command is understood. */
  readonly shell: ShellService | undefined;
  readonly places: Places;
  /** Whether a person can be asked. */
  readonly interactive: boolean;
}

/** Deny rules first; then whatever needs a yes and has no rule that covers all of it. */
export const decide = (call: Judged, policy: Policy): Vote => {
  const rules = policy.rules.filter((rule) => (rule.folder === undefined || rule.folder === call.cwd) && speaksFor(rule, call));
  const command = commandOf(call);
  const parts = command === undefined ? undefined : policy.shell?.parts(command);
  const denied = deniedBy(call, rules, command, parts, policy);
  if (denied !== undefined) return { deny: denied };
  const reasons = command === undefined ? reasonsOfPaths(call, policy) : reasonsOfCommand(command, parts, call.cwd, policy);
  if (reasons.length === 0 && (policy.mode !== 'ask' || call.effect === 'read')) return undefined;
  if (isAllowed(call, rules, command, parts, policy)) return undefined;
  const rule = suggestion(call, command, policy.places);
  return { ask: questionOf({ call, command, reasons, rule, interactive: policy.interactive }), ...(rule === undefined ? {} : { rule }) };
};

const commandOf = (call: Judged): string | undefined => {
  const { command } = call.input as { readonly command?: unknown };
  return call.tool === 'bash' && typeof command === 'string' ? command : undefined;
};

type Parts = readonly ShellPart[] | undefined;

const deniedBy = (call: Judged, rules: readonly Rule[], command: string | undefined, parts: Parts, { places }: Policy): string | undefined => {
  const deny = rules.filter((rule) => rule.decision === 'deny');
  const rule = deny.find((each) => isDenied(each, call, command, parts, places));
  if (rule) return refusalOf(call, command, `the rule ${rule.text} (${rule.from}) denies it`);
  if (command === undefined || deny.length === 0) return undefined;
  // Rules that forbid are worth nothing if text that nobody can read gets past them.
  if (!parts) return refusalOf(call, command, 'it cannot be parsed, so the deny rules for bash cannot be checked; write it more simply');
  if (parts.some(isUnnamed))
    return refusalOf(call, command, 'the deny rules for bash cannot be checked, as a command name is only known at run time; spell it out');
  return undefined;
};
const isDenied = (rule: Rule, call: Judged, command: string | undefined, parts: Parts, places: Places): boolean => {
  const { pattern } = rule;
  if (pattern === undefined) return true;
  if (command !== undefined) return pattern === command.trim() || (parts?.some((part) => meets(pattern, part)) ?? false);
  return subjectsOf(call).some((subject) => fits(rule, subject, call, places));
};

const reasonsOfCommand = (command: string, parts: Parts, cwd: string, { shell, places }: Policy): readonly string[] => {
  if (!shell) return ['cannot be parsed: there is no shell grammar'];
  const reasons = new Set(shell.dangers(command));
  if (!parts && reasons.size === 0) reasons.add('cannot be parsed');
  const folders = foldersOf(parts ?? [], cwd, places);
  for (const part of parts ?? []) for (const folder of folders) for (const reason of reasonsOfPart(part, folder, cwd, places)) reasons.add(reason);
  return [...reasons];
};

/** More folders than anybody changes to in one command. */
const MAX_FOLDERS = 16;

/** Where the parts of a command may stand: here, and wherever a `cd` in it leads. Which of them is not worked out: each counts. */
const foldersOf = (parts: readonly ShellPart[], cwd: string, places: Places): readonly string[] => {
  const folders = new Set([cwd]);
  for (const { words } of parts) {
    if (words[0] !== 'cd' && words[0] !== 'pushd') continue;
    const target = words.slice(1).find((word) => !word.startsWith('-')) ?? '~';
    const reached = Array.from(folders, (folder) => pathOf(target, folder, places));
    for (const path of reached) if (path !== undefined && folders.size < MAX_FOLDERS) folders.add(path);
  }
  return [...folders];
};
/** Redirections and plain arguments only: what a program does with its arguments is for the sandbox to hold. */
const reasonsOfPart = (part: ShellPart, folder: string, cwd: string, places: Places): readonly string[] => {
  const writes = part.writes.flatMap((word) => {
    const path = pathOf(word, folder, places);
    const guard = path === undefined ? undefined : guardOf(path, 'write', cwd, places);
    return guard === undefined ? [] : [`writes ${word}, ${guard}`];
  });
  const reads = part.words.flatMap((word) => {
    const path = pathOf(word, folder, places);
    return path !== undefined && isSecret(path, places) ? [`names ${word}, a secret`] : [];
  });
  return [...writes, ...reads];
};

const reasonsOfPaths = (call: Judged, { places }: Policy): readonly string[] =>
  call.paths.flatMap((path) => {
    const guard = guardOf(path, accessOf(call.effect), call.cwd, places);
    return guard === undefined ? [] : [`${path} is ${guard}`];
  });

const isAllowed = (call: Judged, rules: readonly Rule[], command: string | undefined, parts: Parts, { places }: Policy): boolean => {
  const allow = rules.filter((rule) => rule.decision === 'allow');
  if (command !== undefined) return isCommandAllowed(allow, command, parts);
  const access = accessOf(call.effect);
  const subjects = subjectsOf(call);
  if (subjects.length === 0) return allow.some((rule) => rule.pattern === undefined);
  return subjects.every((subject) => {
    const guard = call.paths.includes(subject) ? guardOf(subject, access, call.cwd, places) : undefined;
    const mustName = guard === 'a protected path' || guard === 'a secret';
    return allow.some((rule) => fits(rule, subject, call, places) && (!mustName || namesGuarded(rule, places)));
  });
};
const isCommandAllowed = (allow: readonly Rule[], command: string, parts: Parts): boolean => {
  if (allow.some((rule) => rule.pattern === undefined || rule.pattern === command.trim())) return true;
  if (!parts || parts.length === 0) return false;
  return parts.every((part) => allow.some((rule) => rule.pattern !== undefined && covers(rule.pattern, part)));
};

const MAX_RULE = 2_000;

/** A rule that covers this call and nothing beyond what the question says; undefined when there is none. */
const suggestion = (call: Judged, command: string | undefined, places: Places): string | undefined => {
  const pattern = command === undefined ? patternOf(call, places) : command.trim();
  if (pattern === undefined) return call.paths.length > 1 ? undefined : call.tool;
  const rule = `${call.tool}(${pattern})`;
  const isExact = command === undefined || !pattern.endsWith(':*');
  return isExact && rule.length <= MAX_RULE && typeof parseRule(rule) !== 'string' ? rule : undefined;
};
const patternOf = (call: Judged, { root }: Places): string | undefined => {
  const [path] = call.paths;
  if (path !== undefined) return call.paths.length === 1 ? escapeGlob(path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path) : undefined;
  const [subject] = subjectsOf(call);
  if (call.tool === 'web_fetch' && subject) return `domain:${subject}`;
  return call.tool.startsWith('mcp') && subject?.includes('/') ? subject : undefined;
};
