/** What a rule with a pattern is compared with, for every tool but the shell. */
import picomatch from 'picomatch';
import { posix } from 'node:path';
import type { ToolCall } from '../../kernel/index.ts';
import { isProtected, isSecret, type Places } from './places.ts';
import type { RuleText } from './rules.ts';

/** What is judged of a call. */
export type Judged = Pick<ToolCall, 'tool' | 'effect' | 'input' | 'paths' | 'cwd'>;

/** Tools for whose calls a rule speaks: `edit` for all that change files, `read` for all that read them, `mcp` for all of its servers. */
export const speaksFor = (rule: RuleText & { readonly decision: 'allow' | 'deny' }, call: Judged): boolean => {
  if (rule.tool === call.tool) return true;
  const changes = call.effect === 'write' && call.paths.length > 0;
  if (rule.tool === 'edit') return changes;
  // Who forbids writing a file means it, with whatever tool; who allows it has not allowed other tools.
  if (rule.tool === 'write') return changes && rule.decision === 'deny';
  if (rule.tool === 'read') return call.effect === 'read' && call.paths.length > 0;
  return rule.tool === 'mcp' && call.tool.startsWith('mcp_');
};

/** The texts that the pattern of a rule must fit: each of them to allow, one of them to deny. */
export const subjectsOf = (call: Judged): readonly string[] => {
  const input: Readonly<Record<string, unknown>> = call.input;
  const server = serverToolOf(call);
  if (server !== undefined) return [server];
  if (call.tool === 'web_fetch') return [domainOf(input['url']) ?? ''];
  if (call.paths.length > 0) return call.paths;
  return Object.values(input).filter((value) => typeof value === 'string');
};

/** `server/tool`, from the fields of the input or the name `mcp__server__tool`. */
const serverToolOf = (call: Judged): string | undefined => {
  if (!call.tool.startsWith('mcp')) return undefined;
  const { server, tool } = call.input as { readonly server?: unknown; readonly tool?: unknown };
  if (typeof server === 'string' && typeof tool === 'string') return `${server}/${tool}`;
  const match = /^mcp__(.+?)__(.+)$/.exec(call.tool);
  return match ? `${match[1]}/${match[2]}` : undefined;
};
const domainOf = (url: unknown): string | undefined => {
  if (typeof url !== 'string' || !URL.canParse(url)) return undefined;
  // With a dot at its end it is the same host.
  return new URL(url).hostname.toLowerCase().replace(/\.$/, '');
};

export const fits = (rule: RuleText & { readonly decision: 'allow' | 'deny' }, subject: string, call: Judged, places: Places): boolean => {
  const { pattern } = rule;
  if (pattern === undefined) return true;
  if (pattern.startsWith('domain:')) return fitsDomain(pattern.slice('domain:'.length).toLowerCase(), subject, rule.decision);
  if (call.paths.includes(subject)) return matcherOf(absolute(pattern, places))(subject);
  return matcherOf(pattern)(subject);
};

/** Denying a domain denies what is below it; allowing it does not. `*.example.org` names what is below. */
const fitsDomain = (domain: string, host: string, decision: 'allow' | 'deny'): boolean => {
  if (domain.startsWith('*.')) return host.endsWith(domain.slice(1));
  return host === domain || (decision === 'deny' && host.endsWith(`.${domain}`));
};

/** Patterns of paths count from the project's root. */
const absolute = (pattern: string, { root, home }: Places): string => {
  if (pattern.startsWith('/')) return pattern;
  if (pattern.startsWith('~/')) return posix.join(escapeGlob(home), pattern.slice(2));
  return posix.join(escapeGlob(root), pattern);
};
/** A rule must name a protected path or a secret; a pattern that merely takes it in is not meant for it. */
export const namesGuarded = (rule: RuleText, places: Places): boolean => {
  if (rule.pattern === undefined) return false;
  const path = absolute(rule.pattern, places);
  return isProtected(path, places) || isSecret(path, places);
};

export const escapeGlob = (path: string): string => path.replace(/[\\*?[\]{}()!+@|]/g, '\\$&');

const matchers = new Map<string, (text: string) => boolean>();
const MAX_MATCHERS = 500;
const matcherOf = (pattern: string): ((text: string) => boolean) => {
  const known = matchers.get(pattern);
  if (known) return known;
  if (matchers.size >= MAX_MATCHERS) matchers.clear();
  const made = picomatch(pattern, { dot: true, nonegate: true });
  matchers.set(pattern, made);
  return made;
};
