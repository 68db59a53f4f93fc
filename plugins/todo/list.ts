/** A list of todos, and how it is written. */
import type { Sketch, ToolInputs } from '../../kernel/index.ts';
import { LIMITS } from './limits.ts';

/** Its text is its identity: no two of a list have the same. */
export type Todo = Readonly<Required<ToolInputs['todo_write']['todos'][number]>>;
export type Todos = readonly Todo[];

export const STATUSES: readonly Todo['status'][] = ['pending', 'in_progress', 'completed', 'cancelled'];
export const PRIORITIES: readonly Todo['priority'][] = ['high', 'medium', 'low'];
const MARKS: Readonly<Record<Todo['status'], string>> = { pending: '[ ]', in_progress: '[~]', completed: '[x]', cancelled: '[-]' };

export const openIn = (todos: Todos): Todos => todos.filter(({ status }) => status === 'pending' || status === 'in_progress');

const lineOf = ({ content, status, priority }: Todo): string => `- ${MARKS[status]} (${priority}) ${content}`;
export const linesOf = (todos: Todos): string => todos.map(lineOf).join('\n');
/** As a note to the model names them. */
export const namedIn = (open: Todos): string => {
  const more = open.length - LIMITS.named;
  return `${linesOf(open.slice(0, LIMITS.named))}${more > 0 ? `\n(${more} more)` : ''}`;
};

/** What was cancelled is no part of the work. */
export const progressOf = (todos: Todos): Extract<Sketch, { kind: 'progress' }> => {
  const wanted = todos.filter(({ status }) => status !== 'cancelled');
  const current = todos.find(({ status }) => status === 'in_progress') ?? todos.find(({ status }) => status === 'pending');
  return { kind: 'progress', text: current?.content ?? '', done: wanted.length - openIn(wanted).length, total: wanted.length };
};
export const sketchOf = (todos: Todos): Sketch =>
  todos.length === 0 ? { kind: 'text', text: 'There are no todos.' } : { kind: 'rows', rows: [progressOf(todos), { kind: 'text', text: linesOf(todos) }] };
