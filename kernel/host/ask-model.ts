/** A plugin's own question to the model: one request without tools, counted like any other. */
import type { ModelRequest, Usage } from '../data.ts';
import { CastError } from '../errors.ts';
import type { Powers } from '../contracts/powers.ts';
import type { Session } from '../session/session.ts';
import { book } from '../reply/book.ts';
import { outgoing } from '../reply/outgoing.ts';
import { addUsage, NO_USAGE } from '../session/tally.ts';

type Asked = Parameters<Powers['model']['ask']>[0];

export const askModel = async (plugin: string, session: Session | null, asked: Asked, signal: AbortSignal): ReturnType<Powers['model']['ask']> => {
  if (!session)
    throw new CastError('PLUGIN_INVALID', `plugin ${plugin} asks a model outside of a session`, { plugin, fix: 'Ask from a tap, a tool or a command.' });
  const at = { session: session.face, turn: session.turn, step: session.tally.steps, attempt: 1, signal };
  const request = await outgoing(session, requestOf(plugin, session, asked), at);
  let text = '';
  let usage: Usage | undefined;
  for await (const delta of session.stream(request, signal)) {
    if (delta.type === 'text') text += delta.text;
    if (delta.type === 'usage') usage = { ...addUsage(NO_USAGE, delta), totalTokens: delta.totalTokens ?? delta.promptTokens + delta.completionTokens };
  }
  return usage ? { text, usage: book(session, request, usage) } : { text };
};

const requestOf = (plugin: string, session: Session, { purpose, prompt, system = '', model, maxOutputTokens }: Asked): ModelRequest => ({
  purpose,
  session: session.id,
  ...session.route(purpose, model),
  system,
  messages: [{ role: 'user', origin: plugin, blocks: [{ type: 'text', text: prompt }] }],
  tools: [],
  ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
});
