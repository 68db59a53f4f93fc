/** What is in an output item. Items of kinds that are not known here hold nothing for us. */
import { type Fields, isFields, listOf, textOf } from '../values.ts';

export const partsOf = (item: Fields, list: 'content' | 'summary'): readonly Fields[] => listOf(item[list]).filter(isFields);

/** Of a message; what a refusal says is text as well. */
export const textIn = (item: Fields): string =>
  item['type'] === 'message'
    ? partsOf(item, 'content')
        .map((part) => textOf(part['type'] === 'refusal' ? part['refusal'] : part['text']) ?? '')
        .join('')
    : '';

export const isRefusal = (item: Fields): boolean => item['type'] === 'message' && partsOf(item, 'content').some((part) => part['type'] === 'refusal');

/** Of an item of reasoning: its summary, or where there is none the reasoning itself. */
export const thoughtsIn = (item: Fields): readonly string[] => {
  if (item['type'] !== 'reasoning') return [];
  const read = (list: 'content' | 'summary'): readonly string[] => partsOf(item, list).map((part) => textOf(part['text']) ?? '');
  const summary = read('summary');
  return summary.some((text) => text !== '') ? summary : read('content');
};

export interface ReadCall {
  /** `call_id`, by which its output answers it; the item's own id is another. */
  readonly id: string;
  readonly tool: string;
  /** Raw: those of a custom tool are plain text. */
  readonly arguments: string;
  /** Fields without which nothing can answer it. */
  readonly missing: readonly string[];
}

/** Of a call; undefined for other items, and for a call whose arguments were cut off. */
export const callIn = (item: Fields): ReadCall | undefined => {
  const { type } = item;
  if ((type !== 'function_call' && type !== 'custom_tool_call') || item['status'] === 'incomplete') return undefined;
  const id = textOf(item['call_id']) ?? '';
  const tool = textOf(item['name']) ?? '';
  const missing = [...(id === '' ? ['call_id'] : []), ...(tool === '' ? ['name'] : [])];
  return { id, tool, arguments: argumentsOf(item[type === 'function_call' ? 'arguments' : 'input']), missing };
};

const argumentsOf = (value: unknown): string => {
  if (typeof value !== 'string') return isFields(value) ? JSON.stringify(value) : '{}';
  return value.trim() === '' ? '{}' : value;
};
