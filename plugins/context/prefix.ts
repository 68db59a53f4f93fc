/** What a prefix was made of, so that a later process can tell what changed in it. */
import { createHash } from 'node:crypto';
import { estimateRequest, type ModelRequest, type Section } from '../../kernel/index.ts';
import type { Difference } from './cache.ts';

export interface Prefix {
  readonly provider: string;
  readonly model: string;
  readonly system: string;
  readonly sections: Readonly<Record<string, string>>;
  readonly tools: Readonly<Record<string, string>>;
  /** Estimated. */
  readonly tokens: number;
}

export const prefixOf = ({ provider, model, system, tools }: ModelRequest, sections: readonly Section[]): Prefix => ({
  provider,
  model,
  system: hash(system),
  sections: Object.fromEntries(sections.map((section) => [section.name, hash(section.text() ?? '')])),
  tools: Object.fromEntries(tools.map((tool) => [tool.name, hash(JSON.stringify(tool))])),
  tokens: estimateRequest({ system, tools, messages: [] }),
});

/** The first of what differs, as a provider reads it; undefined when nothing does. */
export const prefixBreak = (before: Prefix, now: Prefix): Difference | undefined => {
  const { tokens } = before;
  if (before.provider !== now.provider || before.model !== now.model) return { at: 'model', what: `${before.provider}/${before.model}`, tokens };
  if (before.system !== now.system) return { at: 'system', what: changedIn(before.sections, now.sections, 'section') ?? 'system', tokens };
  const tool = changedIn(before.tools, now.tools, 'tool');
  return tool === undefined ? undefined : { at: 'tools', what: tool, tokens };
};

const changedIn = (before: Prefix['sections'], now: Prefix['sections'], kind: string): string | undefined => {
  const gone = Object.keys(before).find((name) => now[name] === undefined);
  const name = gone ?? Object.keys(now).find((each) => now[each] !== before[each]);
  return name === undefined ? undefined : `${kind} ${name}${gone === undefined ? (before[name] === undefined ? ' (new)' : '') : ' (gone)'}`;
};

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);
