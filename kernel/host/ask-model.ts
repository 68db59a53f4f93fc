/** A plugin's own question to the model: one request without tools, counted like any other. */
import type { Delta, ModelRequest, Usage } from '../data.ts';
import { CastError, ProviderError } from '../errors.ts';
import type { Powers } from '../contracts/powers.ts';
import type { Session } from '../session/session.ts';
import { book } from '../reply/book.ts';
import { outgoing } from '../reply/outgoing.ts';
import { addUsage, NO_USAGE } from '../session/tally.ts';
import { estimateRequest, estimateText } from '../tokens.ts';

type Ask = Powers['model']['ask'];

export const askModel = async (plugin: string, session: Session | null, asked: Parameters<Ask>[0], signal: AbortSignal): ReturnType<Ask> => {
  if (!session)
    throw new CastError('PLUGIN_INVALID', `plugin ${plugin} asks a model outside of a session`, { plugin, fix: 'Ask from a tap, a tool or a command.' });
  const at = { session: session.face, turn: session.turn, step: session.tally.steps, attempt: 1, signal };
  const request = await outgoing(session, requestOf(plugin, session, asked), at);
  const reply = new Answer();
  try {
    for await (const delta of session.stream(request, signal)) reply.take(delta);
  } catch (error) {
    // What was used before it failed was used.
    if (reply.usage) book(session, request, reply.usage);
    throw error;
  }
  const usage = reply.usage ? book(session, request, reply.usage) : book(session, request, estimateOf(request, reply.text), true);
  return { text: reply.text, end: reply.end(), usage };
};

class Answer {
  text = '';
  usage: Usage | undefined;
  #end: Extract<Delta, { type: 'end' }>['reason'] | undefined;
  #hasCalls = false;

  take(delta: Delta): void {
    if (delta.type === 'text') this.text += delta.text;
    else if (delta.type === 'call') this.#hasCalls = true;
    else if (delta.type === 'end') this.#end = delta.reason;
    else if (delta.type === 'usage')
      this.usage = { ...addUsage(NO_USAGE, delta), totalTokens: delta.totalTokens ?? delta.promptTokens + delta.completionTokens };
  }
  /** Throws when it is no answer. */
  end(): 'stop' | 'calls' | 'length' {
    if (this.#end === undefined) throw new ProviderError('network', 'the stream ended before the reply was complete');
    if (this.#end === 'refused') throw new ProviderError('refused', 'the model refused to answer');
    return this.#hasCalls ? 'calls' : this.#end;
  }
}

const estimateOf = (request: ModelRequest, text: string): Usage => {
  const [promptTokens, completionTokens] = [estimateRequest(request), estimateText(text)];
  return { ...NO_USAGE, promptTokens, completionTokens, totalTokens: promptTokens + completionTokens };
};

const requestOf = (plugin: string, session: Session, { purpose, prompt, system = '', model, maxOutputTokens }: Parameters<Ask>[0]): ModelRequest => ({
  purpose,
  session: session.id,
  ...session.route(purpose, model),
  system,
  messages: [{ role: 'user', origin: plugin, blocks: [{ type: 'text', text: prompt }] }],
  tools: [],
  ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
});
