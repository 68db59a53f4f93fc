/** Rules as they are written: `tool` or `tool(pattern)`. */
import { CastError, type ConfigView, type Grant } from '../../kernel/index.ts';

export interface RuleText {
  readonly tool: string;
  /** Absent: every call of the tool. */
  readonly pattern?: string;
}
export interface Rule extends RuleText {
  /** As it was written. */
  readonly text: string;
  readonly decision: Grant['decision'];
  readonly from: Grant['from'];
  /** Working directory for which it was given; absent: any. */
  readonly folder?: string;
}

/** What is wrong with a rule, as a text; else its parts. */
export const parseRule = (text: string): RuleText | string => {
  const match = /^([A-Za-z][\w.-]*)(?:\(([\s\S]*)\))?$/.exec(text.trim());
  const tool = match?.[1];
  if (tool === undefined) return 'write `tool` or `tool(pattern)`, such as `bash(git status:*)`';
  const pattern = match?.[2]?.trim();
  if (pattern === undefined) return { tool };
  const problem = problemOf(tool, pattern);
  return problem ?? { tool, pattern };
};

const problemOf = (tool: string, pattern: string): string | undefined => {
  if (pattern === '' || pattern === ':*' || pattern === '*') return `the pattern covers everything; write \`${tool}\` if that is meant`;
  if (tool === 'web_fetch' && !/^domain:[^\s/]+$/.test(pattern)) return 'a pattern of web_fetch is `domain:example.org`';
  if (tool === 'mcp' && !/^[^/\s]+\/[^/\s]+$/.test(pattern)) return 'a pattern of mcp is `server/tool`';
  return undefined;
};

/** The rules of the configuration. Throws CONFIG_INVALID for the first one that cannot be read. */
export const configuredRules = (config: ConfigView): readonly Rule[] =>
  (['deny', 'allow'] as const).flatMap((decision) =>
    (config.value.permissions?.[decision] ?? []).map((text, index) => configuredRule(config, decision, text, index)),
  );

const configuredRule = (config: ConfigView, decision: Grant['decision'], text: string, index: number): Rule => {
  const key = `permissions.${decision}`;
  const origin = config.origin(`${key}.${index}`) ?? config.origin(key);
  const rule = parseRule(text);
  if (typeof rule === 'string') {
    const where = origin === undefined ? '' : ` (from ${origin.layer}${origin.file === undefined ? '' : `, ${origin.file}`})`;
    throw new CastError('CONFIG_INVALID', `${key}: ${JSON.stringify(text)} is no rule${where}: ${rule}`, { fix: 'Correct the rule or remove it.' });
  }
  return { ...rule, text, decision, from: originOf(origin?.layer) };
};
const originOf = (layer: string | undefined): Grant['from'] => {
  if (layer === 'flags') return 'flags';
  return layer === 'user' || layer === 'user-settings' ? 'user' : 'config';
};
