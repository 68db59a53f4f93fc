/** The command has nobody to ask. */
import { expect, test } from 'vitest';
import { call, say, type Received } from '../../provider.ts';
import { useCommand } from '../../cli/command.ts';
import { linesOf, streamFaults } from '../../cli/program.ts';

const { cast, project, provide } = useCommand();
const toolsOf = ({ body }: Received): readonly string[] => (body.tools ?? []).map((tool) => (tool as { function: { name: string } }).function.name);

test('cast run offers no question, and keeps a list of todos all the same', async () => {
  const place = project();
  const todos = [{ content: 'Read it', status: 'completed', priority: 'high' }];
  const provider = await provide(call('question', { questions: [] }), call('todo_write', { todos }), say('done'));
  const outcome = await cast(['run', '--format', 'stream-json', 'go'], { place, provider });
  expect([outcome.code, streamFaults(outcome)]).toEqual([0, []]);
  expect(toolsOf(provider.requests[0] as Received)).toContain('todo_write');
  expect(toolsOf(provider.requests[0] as Received)).not.toContain('question');
  const lines = linesOf(outcome);
  expect(lines[0]?.['tools']).not.toContain('question');
  expect(lines.filter(({ type }) => type === 'tool_end')).toMatchObject([
    { name: 'question', status: 'error', error: { code: 'INVALID_ARGUMENT' } },
    { name: 'todo_write', status: 'ok', result: JSON.stringify({ todos, remaining: 0 }) },
  ]);
  expect(lines.filter(({ name }) => name === 'todos_updated')).toMatchObject([{ type: 'plugin', plugin: 'todo', data: { todos } }]);

  const shown = await cast(['run', '-c', '/todo'], { place, provider });
  expect([shown.code, shown.stdout]).toEqual([0, '1/1\n- [x] (high) Read it\n']);
});

test('what is left open is said where people read it', async () => {
  const provider = await provide(call('todo_write', { todos: [{ content: 'Read it', status: 'pending' }] }), say('done'));
  const outcome = await cast(['run', 'go'], { provider });
  expect([outcome.code, outcome.stdout]).toEqual([0, 'done\ndone\ndone\n']);
  expect(outcome.stderr).toContain('The model has stopped with 1 todo open.');
});
