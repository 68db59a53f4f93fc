/** Makes an outgoing history one that strict providers take: each call with an id of its own and its result right behind it. */
import type { Block, CallBlock, Message, ResultBlock } from '../../kernel/index.ts';
import { isFields, parseJson } from './values.ts';

export interface SentCall {
  readonly id: string;
  readonly tool: string;
  /** A JSON object. */
  readonly arguments: string;
  readonly result: string;
}
type ImageBlock = Extract<Block, { type: 'image' }>;
export type Turn =
  | { readonly role: 'user'; readonly message: Message }
  | { readonly role: 'assistant'; readonly message: Message; readonly calls: readonly SentCall[]; readonly images: readonly ImageBlock[] };

const NO_RESULT = 'No result: the call did not run to its end. Check the state of things before you repeat it.';
const NO_OUTPUT = '(no output)';
const MAX_BAD_ARGUMENTS = 4000;

/** Results stand behind their calls, whatever came between; those without a call are left out. */
export const pairCalls = (messages: readonly Message[], toId: (id: string) => string): readonly Turn[] => {
  const ids = new UniqueIds(toId);
  const turns: Turn[] = [];
  messages.forEach((message, place) => {
    if (message.role === 'user') turns.push({ role: 'user', message });
    if (message.role !== 'assistant') return;
    const answers = answersTo(messages, place);
    const results = byCall(answers.filter((block) => block.type === 'result'));
    const calls = message.blocks.filter((block) => block.type === 'call').map((call) => sentCall(call, ids, results.get(call.id)?.shift()));
    turns.push({ role: 'assistant', message, calls, images: answers.filter((block) => block.type === 'image') });
  });
  return turns;
};

/** Blocks of tool messages up to the next reply. */
const answersTo = (messages: readonly Message[], place: number): readonly Block[] => {
  const next = messages.findIndex((message, index) => index > place && message.role === 'assistant');
  const until = next < 0 ? messages.length : next;
  return messages.slice(place + 1, until).flatMap((message) => (message.role === 'tool' ? message.blocks : []));
};

/** Two calls of one reply may have the same id: their results are taken in order. */
const byCall = (results: readonly ResultBlock[]): Map<string, ResultBlock[]> => {
  const map = new Map<string, ResultBlock[]>();
  for (const result of results) map.set(result.id, [...(map.get(result.id) ?? []), result]);
  return map;
};

const sentCall = (call: CallBlock, ids: UniqueIds, result: ResultBlock | undefined): SentCall => ({
  id: ids.take(call.id),
  tool: call.tool.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'unknown',
  arguments: toObject(call.arguments),
  result: result === undefined ? NO_RESULT : result.content || NO_OUTPUT,
});

/** Arguments as a JSON object: those that are one stay byte for byte. */
export const toObject = (raw: string): string => {
  const text = raw.trim();
  if (text === '' || text === 'null') return '{}';
  const value = parseJson(text);
  if (isFields(value)) return text;
  if (typeof value === 'string' && isFields(parseJson(value))) return value.trim();
  if (value === undefined) return JSON.stringify({ error: 'these arguments were no JSON', raw: text.slice(0, MAX_BAD_ARGUMENTS) });
  return JSON.stringify({ value });
};

/** Providers number calls anew in each reply, but refuse an id that occurs twice. */
class UniqueIds {
  readonly #taken = new Set<string>();
  readonly #toId: (id: string) => string;
  constructor(toId: (id: string) => string) {
    this.#toId = toId;
  }
  take(wanted: string): string {
    let id = this.#toId(wanted);
    for (let count = 2; this.#taken.has(id); count++) id = this.#toId(`${wanted}_${count}`);
    this.#taken.add(id);
    return id;
  }
}

/** Ids as they came, as far as providers take them. */
export const plainId = (id: string): string => (/^[\w.:-]{1,64}$/.test(id) ? id : `call_${shortId(id)}`);

/** Nine letters and digits, all that Mistral takes; the same for the same id. */
export const shortId = (id: string): string => {
  if (/^[A-Za-z0-9]{9}$/.test(id)) return id;
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(id)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(36).padStart(9, '0').slice(-9);
};
