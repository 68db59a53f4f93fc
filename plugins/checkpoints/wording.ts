/** What a person is told of a rewind. */
import { relative } from 'node:path';
import { LIMITS } from './limits.ts';
import type { Plan } from './plan.ts';
import type { Untracked } from './points.ts';
import type { Prompt } from './prompts.ts';
import type { Move } from './unwind.ts';

export type Part = 'conversation' | 'files' | 'both';

export const NOTHING_TO_UNDO = 'There is nothing to undo.';

export interface Done {
  readonly restored: readonly Move[];
  /** Conflicts that were not overwritten. */
  readonly left: readonly Move[];
  readonly failed: readonly { readonly path: string; readonly why: string }[];
  readonly untracked: readonly Untracked[];
  readonly gone: readonly number[];
}

const named = (title: string, lines: readonly string[]): readonly string[] => {
  if (lines.length === 0) return [];
  const more = lines.length - LIMITS.named;
  return [title, ...lines.slice(0, LIMITS.named).map((line) => `  ${line}`), ...(more > 0 ? [`  and ${more} more`] : [])];
};
const shownIn =
  (cwd: string) =>
  (path: string): string => {
    const way = relative(cwd, path);
    return way === '' ? '.' : way.startsWith('..') ? path : way;
  };

const wordFor = (move: Move): string => {
  if (move.kind === 'same') return '';
  if (move.to?.state.kind === 'absent') return 'removed';
  if (move.now.kind === 'absent') return 'brought back';
  return move.kind === 'restore' && move.isMerged ? 'merged: changes of others stay' : 'put back';
};
const whyOf = (move: Move): string => (move.kind === 'conflict' ? move.why : '');

export const conflictText = (conflicts: readonly Move[], cwd: string): string => {
  const shown = shownIn(cwd);
  return named(
    'These files are not what the agent left, or nobody knows who changed them:',
    conflicts.map((each) => `${shown(each.path)}: ${whyOf(each)}`),
  ).join('\n');
};

const restOf = ({ untracked, gone }: Pick<Plan, 'untracked' | 'gone'>, cwd: string): readonly string[] => {
  const shown = shownIn(cwd);
  return [
    ...named(
      'Not tracked, so not taken back:',
      untracked.map(({ path, why }) => `${shown(path)}: ${why}`),
    ),
    ...named(
      'Nothing is kept any more of what these turns changed:',
      gone.map((turn) => `turn ${turn}`),
    ),
  ];
};

const restoredLines = (moves: readonly Move[], cwd: string): readonly string[] => moves.map((each) => `${shownIn(cwd)(each.path)}: ${wordFor(each)}`);

export const previewText = (prompt: Prompt, part: Part, plan: Plan, cwd: string): string => {
  const goals = plan.moves.filter((each) => each.kind === 'restore');
  const conflicts = plan.moves.filter((each) => each.kind === 'conflict');
  const files = [
    ...named('Files that would change:', restoredLines(goals, cwd)),
    ...named(
      'Conflicts, left as they are unless you say otherwise:',
      conflicts.map((each) => `${shownIn(cwd)(each.path)}: ${whyOf(each)}`),
    ),
    ...restOf(plan, cwd),
  ];
  const conversation = part === 'files' ? [] : [`The conversation would go back to before turn ${prompt.turn}.`];
  return [...conversation, ...(part === 'conversation' ? [] : files.length > 0 ? files : ['No file would change.'])].join('\n');
};

export const doneText = (what: {
  readonly prompt: Prompt;
  readonly part: Part;
  readonly cwd: string;
  readonly done?: Done;
  readonly failure?: string;
}): string => {
  const { prompt, part, cwd, done, failure } = what;
  const conversation =
    failure !== undefined
      ? [`The conversation was NOT taken back: ${failure}`]
      : part === 'files'
        ? ['The conversation stays as it is.']
        : [`The conversation is back before turn ${prompt.turn}.`];
  if (!done) return conversation.join('\n');
  const files = [
    ...named('Files:', restoredLines(done.restored, cwd)),
    ...named(
      'Conflicts, left as they are:',
      done.left.map((each) => `${shownIn(cwd)(each.path)}: ${whyOf(each)}`),
    ),
    ...named(
      'Could not be restored:',
      done.failed.map(({ path, why }) => `${shownIn(cwd)(path)}: ${why}`),
    ),
    ...restOf(done, cwd),
  ];
  return [...conversation, ...(files.length > 0 ? files : ['No file was changed.'])].join('\n');
};
