/** Events of the Responses API, turned into deltas. A body that is no stream holds the response itself. */
import type { Delta, ProviderError } from '../../../kernel/index.ts';
import type { SseEvent } from '../stream/sse.ts';
import { type UsageDelta, usageOf } from '../usage.ts';
import { type Fields, fieldsOf, isFields, listOf, parseJson, textOf } from '../values.ts';
import type { ReplyReader } from '../wire.ts';
import { type InputKind, ItemAssembler, type Piece, TEXT_KINDS, type TextKind } from './items.ts';
import { callSlot, type KeptReply, messageSlot, reasoningSlot, type Slot } from './kept.ts';
import { callIn, isRefusal, type ReadCall, textIn, thoughtsIn } from './output.ts';
import { type ItemKey, Shown } from './shown.ts';

type EndReason = Extract<Delta, { type: 'end' }>['reason'];

export interface ResponsesReaderOptions {
  readonly model: string;
  /** Where it comes from; undefined: it does not matter. */
  readonly host?: string | undefined;
  /** Makes an error of what the provider said inside the reply. */
  readonly fail: (body: unknown) => ProviderError;
}
interface Final {
  readonly response: Fields;
  readonly items: readonly Fields[];
}

const NOTHING: readonly Delta[] = [];
/** The reply is still being made, so a response in this state is none yet. */
const UNFINISHED = new Set(['queued', 'in_progress']);

export class ResponsesReader implements ReplyReader {
  readonly #options: ResponsesReaderOptions;
  readonly #items = new ItemAssembler();
  readonly #shown = new Shown();
  /** Which kind of reasoning an item shows: some send both, saying the same. */
  readonly #thinking = new Map<ItemKey, TextKind>();
  #final: Final | undefined;
  #damaged = false;
  #began = false;
  #done = false;

  constructor(options: ResponsesReaderOptions) {
    this.#options = options;
  }

  get began(): boolean {
    return this.#began;
  }
  get complete(): boolean {
    return this.#final !== undefined;
  }
  get done(): boolean {
    return this.#done;
  }

  push(event: SseEvent): readonly Delta[] {
    if (this.#done) return NOTHING;
    if (/^\s*\[done\]\s*$/i.test(event.data)) {
      this.#done = true;
      return NOTHING;
    }
    const data = parseJson(event.data);
    if (!isFields(data)) return this.#unreadable(event);
    const type = textOf(data['type']) ?? event.event;
    if (isError(data, type)) throw this.#options.fail(data);
    return event.whole ? this.#whole(data) : this.#event(type, data);
  }

  *finish(): Generator<Delta> {
    yield* this.#shown.end();
    if (!this.#final) return;
    const { response, items } = this.#final;
    const calls = items.flatMap((item) => callIn(item) ?? []);
    const bad = calls.find((call) => call.missing.length > 0);
    if (bad) throw this.#options.fail(failure(`the provider sent a call of "${bad.tool}" without ${bad.missing.join(' and ')}`));
    for (const { id, tool, arguments: text } of calls) yield { type: 'call', id, tool, arguments: text };
    const slots = this.#slots(items);
    const { model, host } = this.#options;
    if (slots.length > 0) yield { type: 'item', data: { api: 'responses', model, ...(host === undefined ? {} : { host }), slots } satisfies KeptReply };
    const usage: UsageDelta | undefined = usageOf(response);
    if (usage) yield usage;
    yield { type: 'end', reason: reasonOf(response, items, calls) };
  }

  /** What is not known is of no account: states of tools that the provider runs itself, and what is new. */
  #event(type: string, data: Fields): readonly Delta[] {
    const text = TEXT_EVENTS.get(type);
    if (text) return this.#show(text.isWhole ? this.#items.whole(data, text.kind) : this.#items.more(data, text.kind));
    const input = INPUT_EVENTS.get(type);
    if (input) {
      this.#began = true;
      this.#items.input(data, input);
      return NOTHING;
    }
    if (ITEM_EVENTS.has(type)) return this.#items.take(data, type === ITEM_DONE).flatMap((piece) => this.#show(piece));
    const status = ENDS.get(type);
    return status === undefined ? NOTHING : this.#end({ ...fieldsOf(data, 'response'), ...status });
  }

  #show({ item, kind, index, text }: Piece): readonly Delta[] {
    if (text === '') return NOTHING;
    this.#began = true;
    if (kind.item === 'message') return this.#shown.text(item, text);
    const shown = this.#thinking.get(item) ?? kind;
    this.#thinking.set(item, shown);
    return shown === kind ? this.#shown.reasoning(`${item} ${index}`, text) : NOTHING;
  }

  /** The response at its end. What it holds replaces what came in pieces; some leave it empty. */
  #end(response: Fields): readonly Delta[] {
    const { status } = response;
    if (status === 'failed' || status === 'cancelled') throw this.#options.fail(failureOf(response, status));
    this.#began = true;
    this.#done = true;
    const given = listOf(response['output']).filter(isFields);
    // A call of which a piece was lost is no call.
    if (given.length === 0 && this.#damaged) return NOTHING;
    this.#final = { response, items: given.length > 0 ? given : this.#items.all(status !== 'incomplete') };
    return this.#rest(this.#final.items);
  }

  #whole(data: Fields): readonly Delta[] {
    const response = isFields(data['response']) ? data['response'] : data;
    if (!Array.isArray(response['output']) && response['object'] !== 'response') throw this.#options.fail(data);
    this.#done = true;
    return UNFINISHED.has(String(response['status'])) ? NOTHING : this.#end(response);
  }

  #unreadable(event: SseEvent): readonly Delta[] {
    const isPage = event.whole && event.data.trimStart().startsWith('<');
    if (event.event === 'error' || isPage) throw this.#options.fail(event.data);
    // A body of JSON that cannot be read was cut off; an event that held no call can be missed.
    if (event.whole || /arguments|input/.test(event.data)) this.#damaged = true;
    return NOTHING;
  }

  /** What the items hold and was not shown: all of it, where nothing came in pieces. */
  #rest(items: readonly Fields[]): readonly Delta[] {
    const { raw, hasReasoning } = this.#shown;
    const deltas = items.flatMap((item, place) => {
      const thoughts = hasReasoning ? [] : thoughtsIn(item);
      return [
        ...thoughts.flatMap((text, index) => this.#shown.reasoning(`${place} ${index}`, text)),
        ...(raw === '' ? this.#shown.text(place, textIn(item)) : []),
      ];
    });
    const text = items.map(textIn).join('');
    const last = this.#shown.segments.at(-1)?.message ?? 0;
    return raw !== '' && text.startsWith(raw) ? [...deltas, ...this.#shown.text(last, text.slice(raw.length))] : deltas;
  }

  #slots(items: readonly Fields[]): readonly Slot[] {
    const { segments } = this.#shown;
    const messages = items.filter((item) => textIn(item) !== '');
    const chars = messages.length === segments.length ? segments.map((segment) => segment.chars) : [];
    return items.flatMap((item) => {
      if (item['type'] === 'reasoning') return reasoningSlot(item) ?? [];
      const place = messages.indexOf(item);
      if (place >= 0) return messageSlot(item, chars[place]);
      return callIn(item) ? callSlot(item) : [];
    });
  }
}

// ---- events ----

interface TextEvent {
  readonly kind: TextKind;
  readonly isWhole: boolean;
}
const TEXT_EVENTS: ReadonlyMap<string, TextEvent> = new Map(
  Object.entries(TEXT_KINDS).flatMap(([name, kind]): (readonly [string, TextEvent])[] => [
    [`${name}.delta`, { kind, isWhole: false }],
    [`${name}.done`, { kind, isWhole: true }],
  ]),
);
const INPUT_EVENTS: ReadonlyMap<string, InputKind> = new Map([
  ['response.function_call_arguments.delta', { item: 'function_call', field: 'delta' }],
  ['response.function_call_arguments.done', { item: 'function_call', field: 'arguments' }],
  ['response.custom_tool_call_input.delta', { item: 'custom_tool_call', field: 'delta' }],
  ['response.custom_tool_call_input.done', { item: 'custom_tool_call', field: 'input' }],
]);
const ITEM_DONE = 'response.output_item.done';
const ITEM_EVENTS: ReadonlySet<string> = new Set(['response.output_item.added', ITEM_DONE]);
/** With what they say of the response, whatever it says of itself. */
const ENDS: ReadonlyMap<string, { readonly status?: string }> = new Map([
  ['response.completed', {}],
  ['response.incomplete', { status: 'incomplete' }],
  ['response.failed', { status: 'failed' }],
  ['response.cancelled', { status: 'cancelled' }],
]);

// ---- how it ended ----

const isError = (data: Fields, type: string): boolean => {
  if (type === 'error' || data['object'] === 'error') return true;
  // A response says there why it failed, which is read with its status.
  return data['object'] !== 'response' && (isFields(data['error']) || textOf(data['error']) !== undefined);
};

const failureOf = (response: Fields, status: string): object =>
  isFields(response['error']) ? { error: response['error'] } : failure(`the provider ended the reply as ${status}`);
const failure = (message: string): object => ({ error: { type: 'server_error', message } });

/** A filter counts before a refusal, that before a limit. */
const reasonOf = (response: Fields, items: readonly Fields[], calls: readonly ReadCall[]): EndReason => {
  const why = textOf(fieldsOf(response, 'incomplete_details')['reason']);
  if (why === 'content_filter') return 'refused';
  if (items.some(isRefusal) && calls.length === 0) return 'refused';
  if (response['status'] === 'incomplete') return 'length';
  return calls.length > 0 ? 'calls' : 'stop';
};
