/** A plugin that hands work to child sessions, and a model that answers each session by what it was told. */
import { definePlugin, defineTool, jsonSchema, ToolError, type CastEvent, type ChildEnd, type ModelRequest } from 'cast';
import type { Beat } from 'cast/testkit';

interface Input {
  readonly prompt: string;
  readonly label?: string;
  readonly model?: string;
  readonly maxSteps?: number;
}
export interface Delegations {
  readonly ends: ChildEnd[];
  readonly events: CastEvent[];
}

/** `task` runs one child; its result is what the child said last, or an error with the reason. */
export const delegatePlugin = (seen: Delegations = { ends: [], events: [] }, effect: 'read' | 'exec' = 'read') =>
  definePlugin({
    name: 'delegate',
    capabilities: ['children'],
    activation: ['session'],
    apply({ registries, powers }) {
      registries.tools.add(
        defineTool({
          name: 'task',
          description: 'Hands work to another agent.',
          input: jsonSchema<Input>({
            type: 'object',
            required: ['prompt'],
            properties: { prompt: { type: 'string' }, label: { type: 'string' }, model: { type: 'string' }, maxSteps: { type: 'integer' } },
          }),
          effect,
          run: async ({ label = 'worker', ...order }, { signal }) => {
            const end = await powers.children.run({ ...order, label, watch: (event) => seen.events.push(event) }, signal);
            seen.ends.push(end);
            if (end.error) throw new ToolError('UNAVAILABLE', `${end.error.code}: ${end.error.message}. It said: ${end.text}`);
            return end.text;
          },
        }),
      );
    },
  });

const textOf = ({ blocks }: ModelRequest['messages'][number]): string => blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');

/** What a session was told, and how many results it has. */
export type Answers = (prompt: string, results: readonly { readonly status: string; readonly content: string }[]) => Beat;
export const answering = (answers: Answers, requests = 200): readonly Beat[] => {
  const beat: Beat = (request, signal) => {
    const prompts = request.messages.flatMap((message) => (message.role === 'user' ? [textOf(message)] : []));
    const prompt = prompts.findLast((text) => !text.startsWith('<')) ?? '';
    const results = request.messages.flatMap(({ blocks }) => blocks.flatMap((block) => (block.type === 'result' ? [block] : [])));
    return answers(prompt, results)(request, signal);
  };
  return Array.from({ length: requests }, () => beat);
};
