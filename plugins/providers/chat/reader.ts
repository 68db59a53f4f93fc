/** Chunks of a Chat Completions reply, turned into deltas. */
import type { Delta, ProviderError, ToolCard } from '../../../kernel/index.ts';
import { CallAssembler, type WholeCall } from './calls.ts';
import { ReasoningReader, thinkingOf } from './reasoning.ts';
import { objectIn } from '../pairing.ts';
import { XmlCalls } from './xml-calls.ts';
import type { SseEvent } from '../stream/sse.ts';
import { HalfKeeper, type Part, ThinkSplitter } from '../stream/think.ts';
import { type UsageDelta, usageOf } from '../usage.ts';
import type { ReplyReader } from '../wire.ts';
import { type Fields, fieldsOf, isFields, listOf, numberOf, parseJson, placeOf, textOf } from '../values.ts';

type EndReason = Extract<Delta, { type: 'end' }>['reason'];

/** What a reply leaves to be sent back: kept as an `item`, read again by the request. */
export interface ChatItem {
  readonly model: string;
  readonly host?: string;
  /** Reasoning text goes back in this field. */
  readonly reasoningField?: 'reasoning_content';
  readonly details?: readonly Fields[];
  /** By the place of the call in its message. */
  readonly extras?: Readonly<Record<number, unknown>>;
}

export interface ChatReaderOptions {
  readonly model: string;
  /** Where it comes from; undefined: it does not matter. */
  readonly host?: string | undefined;
  /** Those of the request. */
  readonly tools: readonly ToolCard[];
  /** Makes an error of what the provider said inside the reply. */
  readonly fail: (body: unknown) => ProviderError;
}

const REASONS: Readonly<Record<string, EndReason>> = {
  tool_calls: 'calls',
  tool_call: 'calls',
  function_call: 'calls',
  tool_use: 'calls',
  length: 'length',
  max_tokens: 'length',
  max_output_tokens: 'length',
  model_length: 'length',
  content_filter: 'refused',
  refusal: 'refused',
  safety: 'refused',
  recitation: 'refused',
  prohibited_content: 'refused',
  sensitive: 'refused',
};
/** The provider itself says that the reply is no good. */
const FAILED = new Set(['error', 'abort', 'aborted', 'cancelled', 'network_error', 'insufficient_system_resource']);

/** No limit on the reply: there is no room left for it, and asking for a shorter one would not help. */
const FULL = 'model_context_window_exceeded';

export class ChatReader implements ReplyReader {
  readonly #options: ChatReaderOptions;
  readonly #think = new ThinkSplitter();
  readonly #halves = { text: new HalfKeeper(), reasoning: new HalfKeeper() };
  readonly #reasoning = new ReasoningReader();
  readonly #calls = new CallAssembler();
  /** Undefined where no tools are offered: there is nothing to call. */
  readonly #xml: XmlCalls | undefined;
  #finish: string | undefined;
  #refused = false;
  #usage: UsageDelta | undefined;
  /** Usage came last, with nothing of the reply beside it or after it: some providers give no other sign of the end. */
  #closedByUsage = false;
  /** A chunk that may have held part of a call could not be read. */
  #damaged = false;
  #native = false;
  #began = false;
  #done = false;

  constructor(options: ChatReaderOptions) {
    this.#options = options;
    this.#xml = options.tools.length === 0 ? undefined : new XmlCalls(options.tools);
  }

  get began(): boolean {
    return this.#began;
  }
  get complete(): boolean {
    return this.#finish !== undefined || this.#done;
  }
  get done(): boolean {
    return this.#done;
  }

  push(event: SseEvent): Iterable<Delta> {
    const out: Delta[] = [];
    try {
      this.#read(event, out);
      return out;
    } catch (error) {
      return thenFail(out, error);
    }
  }
  #read(event: SseEvent, out: Delta[]): void {
    if (this.#done) return;
    if (/^\s*\[done\]\s*$/i.test(event.data)) {
      this.#done = true;
      return;
    }
    const parsed = parseJson(event.data);
    const chunk = Array.isArray(parsed) ? parsed[0] : parsed;
    if (!isFields(chunk)) return this.#unreadable(event);
    if (isError(chunk, event)) throw this.#options.fail(chunk);
    this.#chunk(chunk, out);
    if (event.whole) this.#done = true;
  }

  finish(): Iterable<Delta> {
    const out: Delta[] = [];
    this.#heldBack(out);
    const isEnded = !this.#damaged && (this.complete || this.#closedByUsage);
    const calls = isEnded ? this.#wholeCalls() : [];
    if (isEnded) this.#parts(calls, out);
    if (this.#usage) out.push(this.#usage);
    if (isEnded) out.push({ type: 'end', reason: this.#reason(calls) });
    return out;
  }

  #heldBack(out: Delta[]): void {
    this.#shown(this.#think.end(), out);
    this.#emit('text', this.#xml?.end() ?? '', out);
    for (const type of ['reasoning', 'text'] as const) {
      const half = this.#halves[type].end();
      if (half !== '') out.push({ type, text: half });
    }
  }

  /** Calls in the text count where the structured ones are missing or of no use; else they only repeat them. */
  #wholeCalls(): readonly WholeCall[] {
    const calls = this.#calls.whole();
    const written = this.#xml?.calls ?? [];
    if (written.length === 0 || (calls.length > 0 && calls.every((call) => isUsable(call, this.#options.tools)))) return calls;
    return written.map((call) => ({ id: '', extra: undefined, ...call }));
  }

  #parts(calls: readonly WholeCall[], out: Delta[]): void {
    for (const { id, tool, arguments: text } of calls) out.push({ type: 'call', id, tool, arguments: text });
    const item = this.#item(calls);
    if (item) out.push({ type: 'item', data: item });
  }

  #unreadable(event: SseEvent): void {
    const isPage = event.whole && event.data.trimStart().startsWith('<');
    if (event.event === 'error' || isPage) throw this.#options.fail(event.data);
    // A body of JSON that cannot be read was cut off; a chunk that held no call can be missed.
    if (event.whole || /tool_calls|arguments/.test(event.data)) this.#damaged = true;
  }

  #chunk(chunk: Fields, out: Delta[]): void {
    const choice = listOf(chunk['choices']).find(isFirst);
    const streamed = fieldsOf(choice, 'delta');
    const isWhole = isFields(choice) && isFields(choice['message']) && Object.keys(streamed).length === 0;
    const message = isWhole ? fieldsOf(choice, 'message') : streamed;
    const hasContent = carriesContent(message);
    this.#began ||= hasContent;
    if (hasContent) this.#message(message, isWhole, out);
    this.#ending(chunk, isFields(choice) ? choice : {}, hasContent);
  }

  #message(message: Fields, isWhole: boolean, out: Delta[]): void {
    const native = this.#reasoning.read(message);
    if (native !== '') {
      this.#native = true;
      this.#emit('reasoning', native, out);
    }
    this.#content(message['content'], out);
    const refusal = textOf(message['refusal']);
    if (refusal !== undefined) {
      this.#refused = true;
      this.#emit('text', refusal, out);
    }
    for (const piece of listOf(message['tool_calls'])) this.#calls.add(piece, isWhole);
  }

  /** A text, or a list of parts. */
  #content(content: unknown, out: Delta[]): void {
    if (typeof content === 'string') {
      if (content !== '') this.#shown(this.#think.push(content), out);
      return;
    }
    for (const part of listOf(content)) {
      if (!isFields(part)) continue;
      if (part['type'] === 'thinking') this.#emit('reasoning', thinkingOf(part), out);
      else this.#shown(this.#think.push(textOf(part['text']) ?? ''), out);
    }
  }

  /** Reasoning between tags repeats what came in a field of its own. */
  #shown(parts: readonly Part[], out: Delta[]): void {
    for (const { type, text } of parts) {
      if (type === 'text') this.#emit(type, this.#xml?.push(text) ?? text, out);
      else if (!this.#native) this.#emit(type, text, out);
    }
  }

  #emit(type: Part['type'], text: string, out: Delta[]): void {
    const whole = this.#halves[type].push(text);
    if (whole !== '') out.push({ type, text: whole });
  }

  #ending(chunk: Fields, choice: Fields, hasContent: boolean): void {
    const usage = usageOf(chunk);
    if (usage) this.#usage = usage;
    if (usage || hasContent) this.#closedByUsage = !hasContent;
    const finish = textOf(choice['finish_reason'])?.toLowerCase();
    if (finish === undefined) return;
    if (finish === FULL) throw this.#options.fail({ error: { code: 'context_window_exceeded', message: 'the reply reached the end of the context window' } });
    if (FAILED.has(finish)) throw this.#options.fail({ error: { type: 'server_error', message: `the provider ended the reply with "${finish}"` } });
    this.#finish = finish;
  }

  #reason(calls: readonly WholeCall[]): EndReason {
    const reason = REASONS[this.#finish ?? ''] ?? 'stop';
    if (this.#refused && calls.length === 0) return 'refused';
    if (calls.length > 0) return reason === 'stop' ? 'calls' : reason;
    return reason === 'calls' ? 'stop' : reason;
  }

  #item(calls: readonly WholeCall[]): ChatItem | undefined {
    const { details, cameAsContent } = this.#reasoning;
    const extras = Object.fromEntries(calls.flatMap((call, place) => (call.extra === undefined ? [] : [[place, call.extra]])));
    const { model, host } = this.#options;
    const item: Omit<ChatItem, 'model' | 'host'> = {
      ...(cameAsContent ? { reasoningField: 'reasoning_content' as const } : {}),
      ...(details.length > 0 ? { details } : {}),
      ...(Object.keys(extras).length > 0 ? { extras } : {}),
    };
    return Object.keys(item).length > 0 ? { model, ...(host === undefined ? {} : { host }), ...item } : undefined;
  }
}

const isUsable = ({ tool, arguments: text }: WholeCall, tools: readonly ToolCard[]): boolean =>
  tools.some(({ name }) => name === tool) && objectIn(text) !== undefined;

/** What stood before the failure is handed over first. */
function* thenFail(deltas: readonly Delta[], error: unknown): Generator<Delta> {
  yield* deltas;
  throw error;
}

/** The first of several replies. */
const isFirst = (choice: unknown): boolean => isFields(choice) && (placeOf(choice['index']) ?? 0) === 0;

// Asked for every token, so nothing is built for it.
const carriesContent = (message: Fields): boolean =>
  textOf(message['content']) !== undefined ||
  textOf(message['reasoning_content']) !== undefined ||
  textOf(message['reasoning']) !== undefined ||
  textOf(message['refusal']) !== undefined ||
  listOf(message['content']).length > 0 ||
  listOf(message['tool_calls']).length > 0 ||
  listOf(message['reasoning_details']).length > 0;

const isError = (chunk: Fields, event: SseEvent): boolean => {
  if (event.event === 'error' || chunk['type'] === 'error' || chunk['object'] === 'error') return true;
  if (isFields(chunk['error']) || textOf(chunk['error']) !== undefined) return true;
  if ((numberOf(fieldsOf(chunk, 'base_resp')['status_code']) ?? 0) !== 0) return true;
  return event.whole === true && !Array.isArray(chunk['choices']);
};
