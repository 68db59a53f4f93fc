import { GUARD_HOOKS, GUARD_STAGES, HOOKS, STAGES, type FaultPolicy, type HookClass, type HookName, type HookTrait } from '../../kernel/hooks/catalogue.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { membersOf, typesOf } from './declarations.ts';
import { block, code, duration, page, table } from './markdown.ts';

const CATALOGUE = 'kernel/hooks/catalogue.ts';
const SUBJECTS = 'kernel/hooks/subjects.ts';

const CLASSES: Readonly<Record<HookClass, string>> = {
  series: 'every tap runs, one after another; none has an answer',
  waterfall: 'each tap sees what the one before it made of the subject, and may change it further',
  bail: 'taps run until one answers; that answer counts',
  sync: 'every tap runs at once, without waiting; a promise is a fault',
};
const POLICIES: Readonly<Record<FaultPolicy, string>> = {
  skip: 'the tap is left out, the rest goes on',
  refuse: 'what the hook is about (a call, a child process, a question) is refused',
  fail: 'the turn ends as failed',
};

const INTRODUCTION = `# Hooks

A hook is a point in a session at which plugins may look, change something or say no. The kernel calls the taps of a hook and waits for them.
What only wants to know what happened listens to [events](events.md) instead: that costs nobody any time. [turn.md](turn.md) shows where in a turn each hook stands.

A plugin taps in \`apply\`. The label says what the tap does; \`cast plugins list\` shows it.

${block(`scope.hooks.gate.tap('no pushes to main', { stage: 'policy', when: { tool: 'bash' } }, ({ input }) =>
  input.command.includes('push origin main') ? { deny: 'Pushing to main is done by people here.' } : undefined,
);`)}

## Order

Taps run by stage: ${STAGES.map(code).join(', ')}. Without a word a tap is in \`normal\`. Within a stage the taps of a plugin come after those of the plugins that it
\`requires\` or comes \`after\`; otherwise plugins stand by name. There is no "before that one": the order must not depend on who else is there.
`;

const times = ({ budget }: HookTrait): string =>
  budget === null
    ? 'no limit'
    : budget.default === budget.ceiling
      ? duration(budget.default)
      : `${duration(budget.default)}, up to ${duration(budget.ceiling)} with \`budgetMs\``;

const faults = (): string => `## What a faulty tap costs

A tap is at fault when it throws, takes longer than its time, or answers with something its hook does not know. What that costs is the hook's policy:

${table(
  ['Policy', 'A fault means that'],
  Object.entries(POLICIES).map(([name, text]) => [code(name), text]),
)}

After ${LIMITS.strikes} faults a tap is closed. A closed tap is left out, except a guard: taps of ${[...GUARD_HOOKS].map(code).join(', ')} and all taps in the stages
${[...GUARD_STAGES].map(code).join(', ')} then refuse what they guard; where a person can be asked, they are asked whether to try again, switch the plugin off or stop.
A tap that only helps can say \`onFault: 'skip'\`; in the guarding stages that is not allowed. The clock of a tap stands still while the kernel works for it: a question, a
child process, a model request, a compaction.

## How answers combine

${table(
  ['Class', 'How'],
  Object.entries(CLASSES).map(([name, text]) => [code(name), text]),
)}`;

const overview = (): string => `## All hooks, in the order of a turn

${table(
  ['Hook', 'Class', 'Policy', 'Time of a tap'],
  Object.entries(HOOKS).map(([name, trait]) => [`[\`${name}\`](#${name})`, trait.class, trait.policy, times(trait)]),
)}`;

const signatures = (): ReadonlyMap<string, { readonly text: string; readonly comment: string }> => {
  const members = [...membersOf(CATALOGUE, 'Hooks'), ...membersOf(CATALOGUE, 'CallHooks')];
  return new Map(members.map(({ name, type, comment }) => [name, { text: type.replace(/\bS\./g, ''), comment }]));
};

const details = (): string => {
  const known = signatures();
  const section = ([name, trait]: [string, HookTrait]): string => {
    const member = known.get(name);
    if (!member || member.comment === '') throw new Error(`${CATALOGUE}: hook ${name} has no comment`);
    const guards = GUARD_HOOKS.has(name as HookName) ? ' All its taps guard.' : '';
    return `### ${name}\n\n${member.comment}\n\n${block(member.text)}\n\n\`${trait.class}\`: ${CLASSES[trait.class]}. On a fault \`${trait.policy}\`: ${POLICIES[trait.policy]}.${guards} Time: ${times(trait)}.`;
  };
  return Object.entries(HOOKS).map(section).join('\n\n');
};

const subjects = (): string => {
  const sections = typesOf(SUBJECTS).map(({ name, comment, text }) => [`### ${name}`, ...(comment ? [comment] : []), block(text)].join('\n\n'));
  return ['## What taps are handed', ...sections].join('\n\n');
};

export const hooksPage = (): string => page(INTRODUCTION.trim(), faults(), overview(), details(), subjects());
