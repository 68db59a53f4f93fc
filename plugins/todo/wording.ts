/** What the model is told about its list, besides the results of its calls. */
import { namedIn, progressOf, type Todos } from './list.ts';

/** When its own calls are no longer in view. */
export const listReminder = (todos: Todos, open: Todos): string => {
  const { done, total } = progressOf(todos);
  return `Your todo list, ${done} of ${total} done. These are open:\n${namedIn(open)}\nKeep it up to date with todo_write.`;
};

export const nudge = (open: Todos): string =>
  `You have stopped while todos are open:\n${namedIn(open)}\n` +
  'Go on with them. What is done or no longer needed, mark so with todo_write. If you cannot go on without the user, say what you need.';

export const CLEARED = 'The user has cleared the todo list: nothing on it is to be done any more unless the user asks for it.';
