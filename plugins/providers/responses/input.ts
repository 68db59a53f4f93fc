/** The conversation as input items: each call with its one output, what came as an item back as it came. */
import type OpenAI from 'openai';
import type { Image, Message, ModelRequest } from '../../../kernel/index.ts';
import { pairCalls, plainId, type SentCall, shortId, type Turn } from '../pairing.ts';
import type { HostTraits } from '../wire.ts';
import { type Slot, slotsOf } from './kept.ts';
import { BETWEEN_MESSAGES } from './shown.ts';

export type InputItem = OpenAI.Responses.ResponseInputItem;
type InputContent = OpenAI.Responses.ResponseInputContent;

const NO_RESPONSE = '(no response)';

export const inputItems = (request: ModelRequest, host: HostTraits): readonly InputItem[] =>
  pairCalls(request.messages, host.quirks.shortIds ? shortId : plainId).flatMap((turn) => {
    if (turn.role === 'user') return userItems(turn.message);
    return replyItems(turn, host.quirks.plainItems ? [] : slotsOf(turn.message, host, request.model));
  });

// ---- the user's side ----

const userItems = (message: Message): readonly InputItem[] => {
  const text = textIn(message, '\n');
  const images = message.blocks.filter((block) => block.type === 'image').map((block) => imagePart(block.image));
  const content: readonly InputContent[] = [...(text === '' ? [] : [textPart(text)]), ...images];
  return content.length === 0 ? [] : [userMessage(content)];
};

const userMessage = (content: readonly InputContent[]): InputItem => ({ type: 'message', role: 'user', content: [...content] });
const textPart = (text: string): InputContent => ({ type: 'input_text', text });
const imagePart = ({ mediaType, data }: Image): InputContent => ({
  type: 'input_image',
  detail: 'auto',
  image_url: `data:${mediaType};base64,${data}`,
});

// ---- the model's side, with the outputs of its calls ----

const replyItems = (turn: Extract<Turn, { role: 'assistant' }>, slots: readonly Slot[]): readonly InputItem[] => {
  const { message, calls, images } = turn;
  const reply = inOrder(message.raw ?? textIn(message, ''), calls, slots);
  const isEmpty = reply.every((item) => item.type === 'reasoning');
  return [
    ...reply,
    ...(isEmpty ? [assistantMessage(NO_RESPONSE)] : []),
    ...calls.map((call): InputItem => ({ type: 'function_call_output', call_id: call.id, output: call.result })),
    ...imagesOfOutputs(images.map((block) => block.image)),
  ];
};

/** Slots say where what was; text and calls that have none stand behind the reasoning, text first. */
const inOrder = (text: string, calls: readonly SentCall[], slots: readonly Slot[]): readonly InputItem[] => {
  const texts = textsOf(text, slots);
  const left = { texts: [...texts.inSlots], calls: [...calls] };
  const items = slots.flatMap((slot): readonly InputItem[] => {
    if (slot.type === 'reasoning') return [slot.item as unknown as InputItem];
    if (slot.type === 'message') return messageItems(left.texts.shift() ?? '', slot);
    const call = left.calls.shift();
    return call ? [callItem(call, slot.id)] : [];
  });
  const firstCall = items.findIndex((item) => item.type === 'function_call');
  const place = firstCall < 0 ? items.length : firstCall;
  return [...items.slice(0, place), ...messageItems(texts.rest), ...items.slice(place), ...left.calls.map((call) => callItem(call))];
};

/** The text cut as it came; all of it in the last message when it was changed since. */
const textsOf = (text: string, slots: readonly Slot[]): { readonly inSlots: readonly string[]; readonly rest: string } => {
  const messages = slots.filter((slot) => slot.type === 'message');
  if (messages.length === 0) return { inSlots: [], rest: text };
  const total = messages.reduce((sum, slot) => sum + (slot.chars ?? Number.NaN), 0);
  if (total !== text.length) return { inSlots: messages.map((_slot, index) => (index === messages.length - 1 ? text : '')), rest: '' };
  let from = 0;
  const inSlots = messages.map((slot, index) => {
    const piece = text.slice(from, from + (slot.chars ?? 0));
    from += slot.chars ?? 0;
    return index > 0 && piece.startsWith(BETWEEN_MESSAGES) ? piece.slice(BETWEEN_MESSAGES.length) : piece;
  });
  return { inSlots, rest: '' };
};

const messageItems = (text: string, slot?: Extract<Slot, { type: 'message' }>): readonly InputItem[] =>
  text === '' ? [] : [assistantMessage(text, slot?.id, slot?.phase)];

const assistantMessage = (text: string, id?: string, phase?: string): InputItem => {
  const item = {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text, annotations: [] }],
    ...(id === undefined ? {} : { id, status: 'completed' }),
    ...(phase === undefined ? {} : { phase }),
  };
  // Our own messages have no id, which the types of the package do not foresee.
  return item as unknown as InputItem;
};

const callItem = (call: SentCall, id?: string): InputItem => ({
  type: 'function_call',
  ...(id === undefined ? {} : { id }),
  call_id: call.id,
  name: call.tool,
  arguments: call.arguments,
});

/** Not every host takes images as an output, so they follow in a message of the user's. */
const imagesOfOutputs = (images: readonly Image[]): readonly InputItem[] => {
  if (images.length === 0) return [];
  const words = images.length === 1 ? 'The image of the result above:' : 'The images of the results above:';
  return [userMessage([textPart(words), ...images.map(imagePart)])];
};

const textIn = (message: Message, between: string): string =>
  message.blocks
    .filter((block) => block.type === 'text')
    .map((block) => block.text)
    .join(between);
