/** Commands that choose providers and models. Their code is loaded when one of them is given. */
import type { Command, CommandContext } from '../../../kernel/index.ts';
import type { Desk } from './desk.ts';

type Run = (desk: Desk, args: string, at: CommandContext) => ReturnType<Command['run']>;

const isBare = (args: string): boolean => args.trim() === '';

type LateCommand = Omit<Command, 'run'> & { readonly load: () => Promise<Run> };

const slot = (name: 'subagent' | 'plan', summary: string): LateCommand => ({
  name: `${name}-model`,
  summary,
  args: '[MODEL | off]',
  whileRunning: isBare,
  load: async () => {
    const { runSlot } = await import('./slot.ts');
    return (desk, args, at) => runSlot(desk, name, args, at);
  },
});

/** Those that only look may be given while a turn runs. */
const COMMANDS: readonly LateCommand[] = [
  {
    name: 'provider',
    summary: 'Shows, adds, switches and removes providers of models',
    args: '[NAME [MODEL] | find | add NAME URL [KEY|env:VARIABLE] | delete NAME | NAME reasoning DIALECT|auto]',
    whileRunning: (args) => isBare(args) || args.trim() === 'list',
    load: async () => (await import('./provider.ts')).runProvider,
  },
  {
    name: 'model',
    summary: 'Shows the models of the provider, or chooses one',
    args: '[MODEL | off SLOT]',
    whileRunning: isBare,
    load: async () => (await import('./model.ts')).runModel,
  },
  slot('subagent', 'The model of sub-agents'),
  slot('plan', 'The model of plan mode'),
  {
    name: 'reasoning',
    summary: 'How much the model reasons',
    args: '[LEVEL | default]',
    whileRunning: isBare,
    load: async () => (await import('./reasoning.ts')).runReasoning,
  },
];

export const addCommands = (desk: Desk): void => {
  for (const { load, ...command } of COMMANDS) desk.scope.registries.commands.add({ ...command, run: async (args, at) => (await load())(desk, args, at) });
};
