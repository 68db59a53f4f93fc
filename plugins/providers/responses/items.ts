/** Puts streamed items together. They are told apart by `output_index`: some hosts change the id of an item with every event. */
import { type Fields, isFields, listOf, numberOf, textOf } from '../values.ts';
import type { ItemKey } from './shown.ts';

/** A kind of text that comes in pieces: where it belongs in its item. */
export interface TextKind {
  readonly item: 'message' | 'reasoning';
  readonly list: 'content' | 'summary';
  /** Of the number of the part, in events. */
  readonly index: 'content_index' | 'summary_index';
  readonly part: string;
  readonly field: 'text' | 'refusal';
}
/** By the name of their events, without `.delta` and `.done`. */
export const TEXT_KINDS: Readonly<Record<string, TextKind>> = {
  'response.output_text': { item: 'message', list: 'content', index: 'content_index', part: 'output_text', field: 'text' },
  'response.refusal': { item: 'message', list: 'content', index: 'content_index', part: 'refusal', field: 'refusal' },
  'response.reasoning_summary_text': { item: 'reasoning', list: 'summary', index: 'summary_index', part: 'summary_text', field: 'text' },
  'response.reasoning_text': { item: 'reasoning', list: 'content', index: 'content_index', part: 'reasoning_text', field: 'text' },
};

/** Arguments of a function or input of a custom tool: a piece (`delta`), or all of it. */
export interface InputKind {
  readonly item: 'function_call' | 'custom_tool_call';
  readonly field: 'delta' | 'arguments' | 'input';
}

interface OpenPart {
  readonly kind: TextKind;
  readonly index: number;
  text: string;
}
interface OpenItem {
  readonly key: ItemKey;
  fields: Fields;
  readonly parts: OpenPart[];
  /** Arguments of a function, or input of a custom tool. */
  input: string;
  /** The item is whole, or at least its arguments are. */
  isDone: boolean;
}
/** A piece of text that is new. */
export interface Piece {
  readonly item: ItemKey;
  readonly kind: TextKind;
  readonly index: number;
  readonly text: string;
}

export class ItemAssembler {
  readonly #items = new Map<ItemKey, OpenItem>();
  #last: OpenItem | undefined;

  /** What an item holds from the beginning or at its end; the text of it that had not come in pieces. */
  take(event: Fields, isDone: boolean): readonly Piece[] {
    const fields = event['item'];
    if (!isFields(fields)) return [];
    const item = this.#find(event, textOf(fields['type']) ?? '', textOf(fields['id']));
    item.fields = { ...item.fields, ...fields };
    item.isDone ||= isDone;
    return isDone ? textParts(fields).map(({ kind, index, text }) => this.#complete(item, kind, index, text)) : [];
  }

  more(event: Fields, kind: TextKind): Piece {
    const item = this.#find(event, kind.item);
    const index = numberOf(event[kind.index]) ?? 0;
    const text = textOf(event['delta']) ?? '';
    partOf(item, kind, index).text += text;
    return { item: item.key, kind, index, text };
  }
  /** The whole of a part; what is new in it. */
  whole(event: Fields, kind: TextKind): Piece {
    const item = this.#find(event, kind.item);
    return this.#complete(item, kind, numberOf(event[kind.index]) ?? 0, textOf(event[kind.field]) ?? '');
  }

  input(event: Fields, { item: type, field }: InputKind): void {
    const item = this.#find(event, type);
    const text = textOf(event[field]) ?? '';
    if (field === 'delta') item.input += text;
    else {
      item.input = text === '' ? item.input : text;
      item.isDone = true;
    }
  }

  /** In their order; without calls whose end has not come, unless the reply itself is `whole`. */
  all(whole: boolean): readonly Fields[] {
    const items = [...this.#items.values()].sort((one, other) => Number(one.key) - Number(other.key) || 0);
    return items.filter((item) => whole || item.isDone || !isCall(item.fields)).map(assembled);
  }

  #complete(item: OpenItem, kind: TextKind, index: number, text: string): Piece {
    const part = partOf(item, kind, index);
    const fresh = text.startsWith(part.text) ? text.slice(part.text.length) : '';
    part.text = text === '' ? part.text : text;
    return { item: item.key, kind, index, text: fresh };
  }

  /** The item of an event; made when nothing announced it. */
  #find(event: Fields, type: string, id = textOf(event['item_id'])): OpenItem {
    const key = numberOf(event['output_index']) ?? this.#withId(id)?.key ?? id ?? this.#last?.key ?? 0;
    let item = this.#items.get(key);
    if (!item) {
      item = { key, fields: { type }, parts: [], input: '', isDone: false };
      this.#items.set(key, item);
    }
    this.#last = item;
    return item;
  }
  #withId(id: string | undefined): OpenItem | undefined {
    return id === undefined ? undefined : [...this.#items.values()].find((item) => item.fields['id'] === id);
  }
}

const isCall = ({ type }: Fields): boolean => type === 'function_call' || type === 'custom_tool_call';

const partOf = (item: OpenItem, kind: TextKind, index: number): OpenPart => {
  const last = item.parts.at(-1);
  if (last?.kind === kind && last.index === index) return last;
  const known = item.parts.find((part) => part.kind === kind && part.index === index);
  if (known) return known;
  const part = { kind, index, text: '' };
  item.parts.push(part);
  return part;
};

/** Summaries first: where there is one, it is shown instead of the reasoning itself. */
const textParts = (item: Fields): readonly { readonly kind: TextKind; readonly index: number; readonly text: string }[] =>
  (['summary', 'content'] as const).flatMap((list) =>
    listOf(item[list]).flatMap((part, index) => {
      const kind = Object.values(TEXT_KINDS).find((each) => isFields(part) && each.part === part['type'] && each.item === item['type']);
      const text = kind && isFields(part) ? textOf(part[kind.field]) : undefined;
      return kind && text !== undefined ? [{ kind, index, text }] : [];
    }),
  );

/** As the provider gave it; what it left out is filled in from the pieces. */
const assembled = ({ fields, parts, input, isDone }: OpenItem): Fields => {
  const listed = (list: 'content' | 'summary'): readonly unknown[] => {
    const given = listOf(fields[list]);
    const built = parts.filter((part) => part.kind.list === list && part.text !== '').sort((one, other) => one.index - other.index);
    return built.length === 0 || (isDone && given.length > 0) ? given : built.map(({ kind, text }) => ({ type: kind.part, [kind.field]: text }));
  };
  return {
    ...fields,
    content: listed('content'),
    summary: listed('summary'),
    ...(input === '' || textOf(fields['arguments']) !== undefined ? {} : { arguments: input }),
    ...(input === '' || textOf(fields['input']) !== undefined ? {} : { input }),
  };
};
