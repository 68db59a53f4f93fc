import { definePlugin, defineTool, jsonSchema, ToolError, type ToolInputs } from '../../kernel/index.ts';
import { promptOf } from './answer.ts';
import { LIMITS } from './limits.ts';
import { manifest } from './manifest.ts';
import { PendingForm } from './pending.ts';

const text = (maxLength: number, description?: string): object => ({
  type: 'string',
  minLength: 1,
  maxLength,
  ...(description === undefined ? {} : { description }),
});

const input = jsonSchema<ToolInputs['question']>({
  type: 'object',
  required: ['questions'],
  properties: {
    questions: {
      type: 'array',
      minItems: LIMITS.questions.least,
      maxItems: LIMITS.questions.most,
      items: {
        type: 'object',
        required: ['question', 'options'],
        properties: {
          question: text(LIMITS.textChars),
          options: {
            type: 'array',
            minItems: LIMITS.options.least,
            maxItems: LIMITS.options.most,
            items: {
              type: 'object',
              required: ['value', 'label'],
              properties: {
                value: text(LIMITS.labelChars, 'Short name of the option'),
                label: text(LIMITS.labelChars, 'What the user sees, and what you get as the answer'),
                description: text(LIMITS.textChars, 'What choosing it means'),
              },
            },
          },
          recommended: { type: 'string', description: 'Value of the option that you would take' },
          multi: { type: 'boolean', description: 'Any number of options may be chosen' },
          noFreeForm: { type: 'boolean', description: 'Only an option may be chosen; otherwise the user may answer in words of their own' },
        },
      },
    },
  },
});

const LATE = 'This question was closed before the answer came, and the answer counts for nothing. Say it again if it is to count.';

export default definePlugin({
  ...manifest,
  apply(scope) {
    const { hooks, events, session, registries } = scope;
    let given: { readonly id: string; readonly text: string } | undefined;
    const form = new PendingForm(scope, ({ id, fields, values }) => {
      given = { id, text: promptOf(fields, values) };
      scope.submit(given.text, 'answer');
    });
    scope.onDispose(() => form.withdraw());

    if (session.interactive) {
      registries.tools.add(
        defineTool({
          name: 'question',
          description:
            'Ask the user what only the user can decide; not what you can find out, and not for leave to do what was asked for. ' +
            'The turn ends with it, and the answers come as the next message. Ask all that you need to know in one call.',
          input,
          effect: 'read',
          exclusive: true,
          repair: true,
          aliases: ['ask_user', 'ask_user_question', 'ask_question', 'ask'],
          run: async ({ questions }, { signal }) => {
            if (form.isThere)
              throw new ToolError('CONFLICT', 'A question is open already, and only one can be at a time.', {
                fix: 'Wait for its answer, which comes as a message.',
              });
            const fields = (await import('./check.ts')).checkForm(questions);
            signal.throwIfAborted();
            await form.keep(fields);
            // At once: what is queued was written by who did not know the question, and the end of the turn does not wait for every tap.
            form.follow();
            const what = fields.length === 1 ? 'The question is' : `The ${fields.length} questions are`;
            return { content: `${what} put to the user. The turn ends here; what the user says comes as the next message.`, endsTurn: true };
          },
        }),
      );
    }

    // Another process may have the answer, and may have gone far with it: one that comes later must not turn that over unseen.
    let isLate = false;
    hooks.input.tap('an answer to what is no longer asked', ({ input: { source, text: said } }) => {
      isLate = given !== undefined && source === 'plugin' && said === given.text && !form.isOpen(given.id);
      return isLate ? { handled: LATE } : undefined;
    });

    // What a person says, be it an answer or not, closes the form: the conversation goes on with it.
    let hasSpoken = false;
    let isHeard = false;
    events.on('input.accepted', ({ origin }) => {
      isHeard = true;
      hasSpoken ||= origin === 'user' && !isLate;
    });
    const heed = async (): Promise<void> => {
      if (!hasSpoken) return;
      hasSpoken = false;
      await form.drop();
    };
    hooks.prepare.tap('a prompt closes the form', heed);
    hooks.ended.tap('a prompt closes the form', heed);

    hooks.open.tap('put what is pending', () => form.follow());
    events.on('branch.changed', () => form.follow());
    events.on('turn.ended', () => {
      if (!isHeard) form.askAgain();
      isHeard = false;
      form.follow();
    });
  },
});
