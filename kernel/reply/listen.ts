/** One attempt: the provider's deltas become a message, and what may be shown is shown as it comes. */
import type { Block, CallBlock, Delta, Message, ModelRequest } from '../data.ts';
import { isProviderError, ProviderError, type ProviderFailure } from '../errors.ts';
import type { StepContext } from '../hooks/subjects.ts';
import { LIMITS } from '../limits.ts';
import { createStreamRedactor, type Exits } from '../session/exits.ts';
import type { Session } from '../session/session.ts';
import { uniqueIds } from '../call/arguments.ts';
import { orOverflow } from './full-window.ts';
import { Pipe } from './pipe.ts';
import { StringBuilder } from './string-builder.ts';

type UsageDelta = Extract<Delta, { type: 'usage' }>;
interface Common {
  /** As the model wrote it. */
  readonly text: string;
  /** As it was shown, filters applied. */
  readonly visible: string;
  /** Characters shown. */
  readonly shown: number;
  readonly began: boolean;
  readonly usage?: UsageDelta;
}
export type Broken = Common & { readonly error: unknown; readonly kind: ProviderFailure };
export type Heard = (Common & { readonly message: Message }) | Broken;

export const listen = async (session: Session, at: StepContext, request: ModelRequest): Promise<Heard> => {
  const pipe = new Pipe((plugin, message) => session.pluginFault(plugin, 'stream', 'filter', message));
  await session.hooks.settleGuards('stream', at.signal);
  session.hooks.sync('stream', pipe, at);
  const reply = new Incoming((type, text) => session.emit(type, { text }), pipe, session.exits);
  try {
    const provider = session.provider(request.provider);
    await follow(session.stream(request, at.signal), at.signal, (delta) => reply.take(delta));
    reply.flush();
    reply.dropUnbegun();
    at.signal.throwIfAborted();
    const problem = reply.problem();
    if (problem) {
      const window = provider.info?.(request.model)?.contextWindow ?? session.generation.config.value.limits?.contextWindow;
      const error = orOverflow(problem, { request, usage: reply.common().usage, window });
      return { ...reply.common(), error, kind: error.kind };
    }
    return { ...reply.common(), message: reply.message(provider.name) };
  } catch (error) {
    return { ...reply.common(), error, kind: isProviderError(error) ? error.kind : 'other' };
  }
};

/** Hands over every delta; gives up at once when the signal aborts, even on a provider that does not listen to it. */
const follow = async (deltas: AsyncIterable<Delta>, signal: AbortSignal, take: (delta: Delta) => void): Promise<void> => {
  const iterator = deltas[Symbol.asyncIterator]();
  let giveUp: ((reason: unknown) => void) | undefined;
  const onAbort = (): void => giveUp?.(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  let isDone = false;
  try {
    for (;;) {
      signal.throwIfAborted();
      const next = await new Promise<IteratorResult<Delta>>((resolve, reject) => {
        giveUp = reject;
        iterator.next().then(resolve, reject);
      });
      isDone = next.done === true;
      if (next.done) return;
      take(next.value);
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    // Not waited for: it may be the one that hangs.
    if (!isDone) iterator.return?.().then(undefined, () => undefined);
  }
};

type Part = GrowingText | CallBlock;
interface GrowingText {
  readonly type: 'text' | 'reasoning';
  readonly text: StringBuilder;
}

class Incoming {
  readonly #visible = new StringBuilder();
  #began = false;
  /** Characters. */
  #size = 0;
  #usage: UsageDelta | undefined;
  #end: Extract<Delta, { type: 'end' }>['reason'] | undefined;
  readonly #parts: Part[] = [];
  readonly #items: unknown[] = [];
  readonly #show: (type: 'text.delta' | 'reasoning.delta', text: string) => void;
  readonly #pipe: Pipe;
  readonly #redactor: ReturnType<typeof createStreamRedactor>;
  readonly #reasoning: ReturnType<typeof createStreamRedactor>;

  constructor(show: (type: 'text.delta' | 'reasoning.delta', text: string) => void, pipe: Pipe, exits: Exits) {
    this.#show = show;
    this.#pipe = pipe;
    this.#redactor = createStreamRedactor(exits);
    this.#reasoning = createStreamRedactor(exits);
  }

  take(delta: Delta): void {
    this.#size += sizeOf(delta);
    if (this.#size > LIMITS.replyChars) throw new ProviderError('other', `the reply is longer than ${LIMITS.replyChars} characters, and was given up`);
    if (delta.type === 'usage') this.#usage = delta;
    else if (delta.type === 'end') this.#end = delta.reason;
    else {
      this.#began = true;
      if (delta.type === 'item') this.#items.push(delta.data);
      else if (delta.type === 'call') this.#parts.push(delta);
      else if (delta.text !== '') this.#takeText(delta.type, delta.text);
    }
  }
  #takeText(type: 'text' | 'reasoning', text: string): void {
    this.#growing(type).add(text);
    if (type === 'reasoning') return this.#reveal('reasoning.delta', this.#reasoning.push(text));
    this.#reveal('text.delta', this.#redactor.push(this.#pipe.push(text)));
  }
  #growing(type: 'text' | 'reasoning'): StringBuilder {
    const last = this.#parts.at(-1);
    if (last?.type === type) return last.text;
    const text = new StringBuilder();
    this.#parts.push({ type, text });
    return text;
  }
  /** What filters held back, and the end that might have been the beginning of a credential. */
  flush(): void {
    this.#reveal('reasoning.delta', this.#reasoning.end());
    this.#reveal('text.delta', this.#redactor.push(this.#pipe.end()) + this.#redactor.end());
  }
  #reveal(type: 'text.delta' | 'reasoning.delta', text: string): void {
    if (text === '') return;
    if (type === 'text.delta') this.#visible.add(text);
    this.#show(type, text);
  }

  /** A reply that ends at its limit may end before the first character of its last call's arguments: that is no call without any. */
  dropUnbegun(): void {
    const last = this.#parts.findLast((part) => part.type === 'call');
    if (this.#end === 'length' && last?.arguments.trim() === '') this.#parts.splice(this.#parts.lastIndexOf(last), 1);
  }
  /** Why this is no reply, although the provider did not throw. */
  problem(): ProviderError | undefined {
    const hasCalls = this.#parts.some(({ type }) => type === 'call');
    const text = this.#text().trim();
    if (this.#end === 'refused') return new ProviderError('refused', text === '' ? 'the model refused to answer' : `the model refused: ${text.slice(0, 500)}`);
    if (this.#end === undefined) return new ProviderError('network', 'the stream ended before the reply was complete');
    if (this.#end === 'length' && !hasCalls)
      return text === ''
        ? new ProviderError('empty', 'the reply was cut off at its length limit before any text')
        : new ProviderError('cut', 'the reply was cut off at its length limit');
    if (text === '' && !hasCalls) return new ProviderError('empty', 'the model returned nothing');
    return undefined;
  }
  common(): Common {
    const visible = this.#visible.toString();
    return { text: this.#text(), visible, shown: visible.length, began: this.#began, ...(this.#usage ? { usage: this.#usage } : {}) };
  }
  /** As the model wrote it. */
  #text(): string {
    return this.#parts.map((part) => (part.type === 'text' ? part.text.toString() : '')).join('');
  }
  message(provider: string): Message {
    const items = this.#items.map((data): Block => ({ type: 'item', provider, data }));
    return { role: 'assistant', origin: 'model', blocks: [...uniqueIds(this.#parts.map(toBlock)), ...items] };
  }
}

const sizeOf = (delta: Delta): number => (delta.type === 'call' ? delta.arguments.length : 'text' in delta ? delta.text.length : 0);

const toBlock = (part: Part): Block => (part.type === 'call' ? part : { type: part.type, text: part.text.toString() });
