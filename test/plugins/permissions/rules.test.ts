import { expect, test } from 'vitest';
import { CastError, type ConfigView, type Origin } from '../../../kernel/index.ts';
import { configuredRules, parseRule } from '../../../plugins/permissions/rules.ts';

test.each([
  ['bash', { tool: 'bash' }],
  [' bash ', { tool: 'bash' }],
  ['bash(git status:*)', { tool: 'bash', pattern: 'git status:*' }],
  ['bash(echo (a) b)', { tool: 'bash', pattern: 'echo (a) b' }],
  ['edit(src/**)', { tool: 'edit', pattern: 'src/**' }],
  ['web_fetch(domain:example.org)', { tool: 'web_fetch', pattern: 'domain:example.org' }],
  ['mcp(server/tool)', { tool: 'mcp', pattern: 'server/tool' }],
  ['mcp__a__b', { tool: 'mcp__a__b' }],
])('%j is a rule', (text, expected) => expect(parseRule(text)).toEqual(expected));

test.each([
  '',
  'bash(',
  'bash)',
  'bash()',
  'bash(:*)',
  'bash(*)',
  'bash(ls) x',
  '(ls)',
  '*',
  'two words',
  'web_fetch(example.org)',
  'web_fetch(domain:)',
  'mcp(server)',
  'mcp(a/b/c)',
])('%j is none', (text) => expect(parseRule(text)).toBeTypeOf('string'));

const config = (permissions: object, origins: Record<string, Origin>): ConfigView => ({
  value: { permissions },
  origin: (key) => origins[key],
  entries: () => [],
});

test('rules of the configuration know where they come from', () => {
  const view = config(
    { allow: ['bash(ls:*)', 'edit'], deny: ['bash(rm:*)'] },
    { 'permissions.allow.0': { layer: 'flags' }, 'permissions.allow.1': { layer: 'user', file: '/x' }, 'permissions.deny': { layer: 'project' } },
  );
  expect(configuredRules(view).map(({ text, decision, from }) => [text, decision, from])).toEqual([
    ['bash(rm:*)', 'deny', 'config'],
    ['bash(ls:*)', 'allow', 'flags'],
    ['edit', 'allow', 'user'],
  ]);
});
test('a malformed rule names key, layer and file', () => {
  const view = config({ deny: ['bash', 'bash('] }, { 'permissions.deny.1': { layer: 'project', file: 'cast.config.ts' } });
  const read = (): unknown => configuredRules(view);
  expect(read).toThrow(CastError);
  expect(read).toThrow(/permissions\.deny: "bash\(" is no rule \(from project, cast\.config\.ts\)/);
});
