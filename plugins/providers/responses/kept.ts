/** What a reply leaves to be sent back: its items in their order. Text and calls are not repeated: the message holds them. */
import type { Message } from '../../../kernel/index.ts';
import type { HostTraits } from '../wire.ts';
import { type Fields, isFields, isFromHost, listOf, numberOf, textOf } from '../values.ts';

export type Slot =
  /** As it came. */
  | { readonly type: 'reasoning'; readonly item: Fields }
  /** `chars`: how much of the reply's text is in it; absent when that is not known. */
  | { readonly type: 'message'; readonly id?: string; readonly phase?: string; readonly chars?: number }
  /** The next call of the reply. */
  | { readonly type: 'call'; readonly id?: string };

/** Kept as an `item`; goes back to the same provider, host and model, in the same format. */
export interface KeptReply {
  readonly api: 'responses';
  readonly model: string;
  readonly host?: string;
  readonly slots: readonly Slot[];
}

/** Longer ids are refused by hosts that sent them. */
const MAX_ID = 64;

export const reasoningSlot = (item: Fields): Slot | undefined => {
  const id = textOf(item['id']);
  if (id === undefined) return undefined;
  const encrypted = textOf(item['encrypted_content']);
  const content = listOf(item['content']);
  return {
    type: 'reasoning',
    item: {
      type: 'reasoning',
      id,
      summary: listOf(item['summary']),
      ...(encrypted === undefined ? {} : { encrypted_content: encrypted }),
      ...(content.length === 0 ? {} : { content }),
    },
  };
};

export const messageSlot = (item: Fields, chars: number | undefined): Slot => {
  const phase = textOf(item['phase']);
  return { type: 'message', ...idOf(item), ...(phase === undefined ? {} : { phase }), ...(chars === undefined ? {} : { chars }) };
};

/** A call of a custom tool goes back as one of a function, to which its id would not fit. */
export const callSlot = (item: Fields): Slot => ({ type: 'call', ...(item['type'] === 'function_call' ? idOf(item) : {}) });

const idOf = (fields: Fields): { readonly id?: string } => {
  const id = textOf(fields['id']);
  return id === undefined || id.length > MAX_ID ? {} : { id };
};

/** Of an earlier reply; none when it came from elsewhere. What is stored is read as carefully as what is sent. */
export const slotsOf = (message: Message, { provider, host }: Pick<HostTraits, 'provider' | 'host'>, model: string): readonly Slot[] => {
  for (const block of message.blocks) {
    if (block.type !== 'item' || block.provider !== provider || !isFields(block.data)) continue;
    const { api, model: from, slots } = block.data;
    if (api === 'responses' && from === model && isFromHost(block.data, host)) return listOf(slots).flatMap(readSlot);
  }
  return [];
};

const readSlot = (slot: unknown): readonly Slot[] => {
  if (!isFields(slot)) return [];
  if (slot['type'] === 'message') return [messageSlot(slot, numberOf(slot['chars']))];
  if (slot['type'] === 'call') return [{ type: 'call', ...idOf(slot) }];
  const item = slot['item'];
  const reasoning = slot['type'] === 'reasoning' && isFields(item) ? reasoningSlot(item) : undefined;
  return reasoning ? [reasoning] : [];
};
