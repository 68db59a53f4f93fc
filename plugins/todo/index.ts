import { CastError, checkedBy, definePlugin, defineTool, jsonSchema, type ToolInputs, type ViewMessage } from '../../kernel/index.ts';
import { OpenWorkGate } from './gate.ts';
import { LIMITS } from './limits.ts';
import { openIn, PRIORITIES, progressOf, sketchOf, STATUSES, type Todo, type Todos } from './list.ts';
import { manifest } from './manifest.ts';
import { CLEARED, listReminder } from './wording.ts';

const TOOL = 'todo_write';

const input = jsonSchema<ToolInputs['todo_write']>({
  type: 'object',
  required: ['todos'],
  properties: {
    todos: {
      type: 'array',
      maxItems: LIMITS.todos,
      description: 'All todos, also those that are done: they replace the list',
      items: {
        type: 'object',
        required: ['content', 'status'],
        properties: {
          content: {
            type: 'string',
            minLength: 1,
            maxLength: LIMITS.contentChars,
            description: 'One line; keep it word for word as long as it is the same todo',
          },
          status: { enum: STATUSES, description: 'At most one todo is in_progress' },
          priority: { enum: PRIORITIES, description: 'Default: medium' },
        },
      },
    },
  },
});

const isTodo = (value: unknown): boolean => {
  const { content, status, priority } = (value ?? {}) as Partial<Todo>;
  return typeof content === 'string' && STATUSES.some((each) => each === status) && PRIORITIES.some((each) => each === priority);
};
/** The whole list, so that the newest record alone is enough. */
const LIST = checkedBy<{ readonly todos: Todos }>('a list of todos', ({ todos }) => Array.isArray(todos) && todos.every(isTodo));

/** Whether the model can still read what its list says. */
const isInView = (view: readonly ViewMessage[]): boolean =>
  view.some(
    ({ origin, blocks }) => origin === manifest.name || blocks.some((block) => block.type === 'result' && block.tool === TOOL && block.status === 'ok'),
  );

export default definePlugin({
  ...manifest,
  apply(scope) {
    const { hooks, events, session, registries } = scope;
    const list = scope.state<Todos, typeof LIST>({ name: 'list', data: LIST, initial: [], fold: (_, { todos }) => todos });
    const panel = registries.panels.add({
      name: 'todo',
      place: 'above-input',
      draw: () => (openIn(list.value).length === 0 ? undefined : progressOf(list.value)),
    });
    let told = list.value;
    const tell = (): void => {
      told = list.value;
      panel.redraw();
      events.emit('todos_updated', { todos: list.value });
    };
    const replace = async (todos: Todos): Promise<void> => {
      await list.record({ todos });
      tell();
    };

    registries.tools.add(
      defineTool({
        name: TOOL,
        description:
          'Keep a list of what is to be done, for work of three steps or more: it keeps you from forgetting anything and shows the user how far you are. ' +
          'Each call writes the whole list. Mark a todo in_progress when you begin it and completed as soon as it is done; cancelled when it is no longer needed.',
        input,
        effect: 'read',
        exclusive: true,
        repair: true,
        aliases: ['todo', 'todowrite', 'update_todos', 'write_todos', 'update_plan'],
        run: async ({ todos }, { signal }) => {
          const checked = (await import('./check.ts')).checkTodos(todos);
          signal.throwIfAborted();
          await replace(checked);
          return { content: JSON.stringify({ todos: checked, remaining: openIn(checked).length }), view: sketchOf(checked) };
        },
      }),
    );
    registries.commands.add({
      name: 'todo',
      summary: 'Shows the todo list, or clears it',
      args: '[clear]',
      whileRunning: (args) => args.trim() !== 'clear',
      complete: (args) => ['clear'].filter((word) => word.startsWith(args.trim())),
      run: async (args) => {
        const word = args.trim();
        if (word === '') return sketchOf(list.value);
        if (word !== 'clear') throw new CastError('CLI_USAGE', `/todo does not know ${JSON.stringify(word)}`, { fix: '/todo [clear]' });
        if (list.value.length > 0) {
          await replace([]);
          await scope.remind(CLEARED);
        }
        return 'The todo list is empty.';
      },
    });

    // A resume, a compaction and a rewind may all have left the list out of view.
    let isUnsure = true;
    events.on('compacted', () => {
      isUnsure = true;
    });
    events.on('branch.changed', () => {
      isUnsure = true;
      if (list.value !== told) tell();
    });
    hooks.prepare.tap('the list, when it is out of view', async () => {
      if (!isUnsure) return;
      isUnsure = false;
      const open = openIn(list.value);
      if (open.length > 0 && !isInView(session.view())) await scope.remind(listReminder(list.value, open));
    });

    const gate = new OpenWorkGate(scope);
    events.on('input.accepted', ({ origin }) => {
      if (origin === 'user') gate.reset();
    });
    // Who cannot write the list cannot close it.
    let isOffered = false;
    hooks.offer.tap('see whether the list can be written', { stage: 'late' }, ({ tools }) => {
      isOffered = tools.some(({ name }) => name === TOOL);
    });
    hooks.settle.tap('open work', () => (isOffered ? gate.pass(list.value) : undefined));
  },
});
