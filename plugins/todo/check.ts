/** What a schema cannot say of a list. */
import { ToolError, type ToolInputs } from '../../kernel/index.ts';
import type { Todos } from './list.ts';

/** The list as it is kept, each todo on one line. Throws with the todo that is at fault. */
export const checkTodos = (given: ToolInputs['todo_write']['todos']): Todos => {
  const todos = given.map(({ content, status, priority = 'medium' }) => ({ content: onOneLine(content), status, priority }));
  const seen = new Map<string, number>();
  let current: number | undefined;
  for (const [index, { content, status }] of todos.entries()) {
    if (content === '') throw refusal(`todos[${index}].content is empty`, 'Say in one line what is to be done.');
    const same = seen.get(content);
    if (same !== undefined)
      throw refusal(`todos[${index}] has the same text as todos[${same}] (${JSON.stringify(content)})`, 'Give each todo a text of its own.');
    seen.set(content, index);
    if (status !== 'in_progress') continue;
    if (current !== undefined) throw refusal(`todos[${index}] is in_progress, and so is todos[${current}]`, 'At most one todo may be in_progress.');
    current = index;
  }
  return todos;
};

/** Without control characters, so that no text steers the terminal that shows it. */
const onOneLine = (text: string): string => text.replace(/[\s\p{Cc}]+/gu, ' ').trim();

const refusal = (what: string, fix: string): ToolError => new ToolError('INVALID_ARGUMENT', `${what}. The list was not changed.`, { fix });
