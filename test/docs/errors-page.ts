import { ERRORS, type ErrorTrait } from '../../kernel/errors.ts';
import { code, page, table } from './markdown.ts';

const INTRODUCTION = `# Errors

Every error that cast raises on purpose has a code. Codes are never renamed or reused, so scripts may rely on them. With the code come a message that says what went wrong
and where, and mostly a sentence on what to do next (\`fix\`, in output \`suggestedFix\`).

A tool that fails does not end the turn: the model gets the failure as the result of its call and can do better. The errors on this page are the others.`;

const EXITS: readonly (readonly [string, string])[] = [
  ['0', 'done'],
  ['1', 'the turn failed'],
  ['2', 'the provider cannot be reached, refuses the key, or limits requests'],
  ['3', 'a flag, the configuration, the session or the input is wrong; nothing was started'],
  ['130', 'interrupted'],
];

const GROUPS: Readonly<Record<string, string>> = {
  CONFIG: 'Configuration',
  CLI: 'Command line',
  PLUGIN: 'Plugins',
  HOOK: 'Hooks',
  SERVICE: 'Services and registries',
  REGISTRY: 'Services and registries',
  SESSION: 'Sessions',
  CHILD: 'Sessions',
  INPUT: 'Input',
  ANSWER: 'Input',
  TURN: 'Turns and replies',
  BUDGET: 'Turns and replies',
  REPLY: 'Turns and replies',
  EMPTY: 'Turns and replies',
  REFUSED: 'Turns and replies',
  CUT: 'Turns and replies',
  DISCONNECTED: 'Turns and replies',
  MODEL: 'Models and providers',
  COMPACTION: 'History',
  HISTORY: 'History',
  STORE: 'Store',
  TRUST: 'Trust',
  REPLAY: 'Replay',
  INTERNAL: 'Everything else',
};

const groupOf = (name: string): string => {
  const group = GROUPS[name.split('_')[0] ?? ''];
  if (group === undefined) throw new Error(`test/docs/errors-page.ts has no group for ${name}`);
  return group;
};

const row = ([name, { exit, retryable, about }]: [string, ErrorTrait]): readonly string[] => [code(name), String(exit), retryable ? 'yes' : 'no', about];

export const errorsPage = (): string => {
  const errors = Object.entries(ERRORS);
  const groups = [...new Set(errors.map(([name]) => groupOf(name)))];
  return page(
    INTRODUCTION,
    `## Exit codes\n\nThe same in every output format. A run that failed never exits with 0.\n\n${table(['Code', 'Meaning'], EXITS)}`,
    '## Codes\n\n"Again" says whether the same request may succeed later without anybody changing anything.',
    ...groups.map((group) => {
      const rows = errors.filter(([name]) => groupOf(name) === group).map(row);
      return `### ${group}\n\n${table(['Code', 'Exit', 'Again', 'Meaning'], rows)}`;
    }),
  );
};
