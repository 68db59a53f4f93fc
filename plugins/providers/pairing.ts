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
  for (let place = 0; place < messages.length; place++) {
    const message = messages[place];
    if (message?.role === 'user') turns.push({ role: 'user', message });
    if (message?.role !== 'assistant') continue;
    const replies = repliesFrom(messages, place);
    place += replies.length - 1;
    turns.push(...answered(joined(replies), answersFrom(messages, place + 1), ids));
  }
  return turns;
};

/** Replies with nothing in between. */
const repliesFrom = (messages: readonly Message[], place: number): readonly Message[] => {
  let end = place;
  while (messages[end]?.role === 'assistant') end++;
  return messages.slice(place, end);
};

/** Blocks of tool messages up to the next reply. */
const answersFrom = (messages: readonly Message[], place: number): readonly Block[] => {
  const blocks: Block[] = [];
  for (let at = place; at < messages.length && messages[at]?.role !== 'assistant'; at++) {
    const message = messages[at];
    if (message?.role === 'tool') blocks.push(...message.blocks);
  }
  return blocks;
};

/** Calls and reasoning join the text that they stand beside; a second text is a message of its own. */
const joined = (replies: readonly Message[]): readonly Message[] => {
  const list: Message[] = [];
  for (const reply of replies) {
    const before = list.at(-1);
    if (before && mayJoin(before, reply)) list[list.length - 1] = join(before, reply);
    else list.push(reply);
  }
  return list;
};
/** What a provider gave to keep counts the calls of its own message. */
const mayJoin = (one: Message, other: Message): boolean =>
  (!hasText(one) || !hasText(other)) && (!has(other, 'item') || !(has(one, 'item') || has(one, 'call')));
const has = ({ blocks }: Message, type: Block['type']): boolean => blocks.some((block) => block.type === type);
const hasText = ({ raw, blocks }: Message): boolean => raw !== undefined || blocks.some((block) => block.type === 'text' && block.text !== '');
const join = (one: Message, other: Message): Message => {
  const raw = one.raw ?? other.raw;
  return { ...one, blocks: [...one.blocks, ...other.blocks], ...(raw === undefined ? {} : { raw }) };
};

const answered = (replies: readonly Message[], answers: readonly Block[], ids: UniqueIds): readonly Turn[] => {
  const results = byCall(answers.filter((block) => block.type === 'result'));
  const images = answers.filter((block) => block.type === 'image');
  return replies.map((message, place) => ({
    role: 'assistant',
    message,
    calls: message.blocks.filter((block) => block.type === 'call').map((call) => sentCall(call, ids, results.get(call.id)?.shift())),
    images: place === replies.length - 1 ? images : [],
  }));
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
  const object = objectIn(raw);
  if (object !== undefined) return object;
  const value = parseJson(raw);
  if (value === undefined) return JSON.stringify({ error: 'these arguments were no JSON', raw: raw.trim().slice(0, MAX_BAD_ARGUMENTS) });
  return JSON.stringify({ value });
};

/** The object that is meant, as it was written; undefined when there is none. */
export const objectIn = (raw: string): string | undefined => {
  const text = raw.trim();
  if (text === '' || text === 'null') return '{}';
  const value = parseJson(text);
  if (isFields(value)) return text;
  return typeof value === 'string' && isFields(parseJson(value)) ? value.trim() : undefined;
};

/** Providers number calls anew in each reply, but refuse an id that occurs twice. */
class UniqueIds {
  readonly #taken = new Set<string>();
  /** How often an id was given already, so that one given a thousand times is not counted up each time. */
  readonly #given = new Map<string, number>();
  readonly #toId: (id: string) => string;
  constructor(toId: (id: string) => string) {
    this.#toId = toId;
  }
  take(wanted: string): string {
    let id = this.#toId(wanted);
    let count = this.#given.get(wanted) ?? 1;
    while (this.#taken.has(id)) id = this.#toId(`${wanted}_${++count}`);
    this.#given.set(wanted, count);
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
