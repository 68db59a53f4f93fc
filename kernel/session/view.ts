/** Entries as messages for the model: calls paired with results, what was turned back left out, what was compacted replaced. */
import type { Block, CallBlock, Entry, EntryData, Message, NewEntry } from '../data.ts';
import type { ViewMessage } from '../hooks/subjects.ts';
import { withoutImages } from '../images.ts';
import { estimateMessage } from '../tokens.ts';
import { type Branch, cutIn, keptFrom, type MessageEntry } from './branch.ts';

type Mask = EntryData['mask'];

/** What a command printed or a summary quotes may stand in it, and must not end it. */
const CLOSING = /<\s*\/(?=\s*system-reminder)/gi;
export const reminder = (text: string): string => `<system-reminder>\n${text.replace(CLOSING, '<\\/')}\n</system-reminder>`;
export const callsOf = (message: Message): readonly CallBlock[] => message.blocks.filter((block) => block.type === 'call');
export const textOf = (message: Message): string => message.blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
/** As surfaces may have it: what the model wrote before it was made presentable stays inside. */
export const withoutRaw = (message: Message): Message => {
  const { raw, ...shown } = message;
  return raw === undefined ? message : shown;
};
/** A note for the model, as it is stored. */
export const reminderBy = (origin: string, text: string): NewEntry => ({
  kind: 'message',
  data: { role: 'user', origin, reminder: true, blocks: [{ type: 'text', text: reminder(text) }] },
});
/** Whether it is an input, as opposed to a reminder of the kernel or a plugin. */
export const isPrompt = (entry: Entry): entry is MessageEntry => entry.kind === 'message' && entry.data.role === 'user' && entry.data.reminder !== true;
/** What the newest turn was started with. */
export const runningPrompt = ({ entries, carried }: Held): MessageEntry | undefined => {
  const start = entries.findLastIndex((entry) => entry.kind === 'turn' && entry.data.phase === 'start');
  // Where its start is no longer held, a later prompt is one that was steered into it.
  return start < 0 && carried ? carried : entries.slice(start + 1).find(isPrompt);
};

type Held = Pick<Branch, 'entries' | 'carried'>;

export const viewOf = ({ entries, carried }: Held): readonly ViewMessage[] => {
  const compaction = cutIn(entries);
  const view = render(entries.slice(keptFrom(entries)));
  if (!compaction) return view;
  const summary = plain(compaction.id, reminder(`Summary of the conversation so far:\n\n${compaction.data.summary}`));
  const id = compaction.data.prompt;
  const prompt = carried?.id === id ? carried : entries.find((entry) => entry.id === id);
  return [summary, ...(prompt?.kind === 'message' ? [shown(prompt, masksIn(entries))] : []), ...view];
};

/** Entries of which the model gets what they say: those of the view that no note stands in for. Without its images a message still says something. */
export const inContext = (held: Held, view: readonly ViewMessage[] = viewOf(held)): ReadonlySet<string> => {
  const masks = masksIn(held.entries);
  const isMasked = (entry: string): boolean => masks.has(entry) && masks.get(entry)?.only === undefined;
  return new Set(view.flatMap(({ entry }) => (isMasked(entry) ? [] : [entry])));
};

const render = (entries: readonly Entry[]): readonly ViewMessage[] => {
  const masks = masksIn(entries);
  const lastReply = entries.findLastIndex(isReply);
  return entries.flatMap((entry, index): readonly ViewMessage[] => {
    // Turned back, and no later reply was accepted.
    if (entry.kind === 'rejected') return index > lastReply ? turnedBack(entry) : [];
    if (entry.kind !== 'message' || entry.data.role === 'tool') return [];
    return isReply(entry) ? [shown(entry, masks), ...resultsOf(entry, entries, index + 1, masks)] : [shown(entry, masks)];
  });
};
/** Of each entry; what replaces all of it wins over what replaces its images. */
export const masksIn = (entries: readonly Entry[]): ReadonlyMap<string, Mask> => {
  const masks = new Map<string, Mask>();
  for (const entry of entries) {
    if (entry.kind !== 'mask') continue;
    const { data } = entry;
    const known = masks.get(data.entry);
    if (!known || known.only === 'images' || data.only === undefined) masks.set(data.entry, data);
  }
  return masks;
};
const isReply = (entry: Entry): entry is MessageEntry => entry.kind === 'message' && entry.data.role === 'assistant';

const isReplyAt = (entries: readonly Entry[], index: number): boolean => {
  const entry = entries[index];
  return entry !== undefined && isReply(entry);
};

/** One result for each call of a reply, in the order of the calls, whatever finished first and whatever was lost. */
const resultsOf = (reply: MessageEntry, entries: readonly Entry[], from: number, masks: ReadonlyMap<string, Mask>): readonly ViewMessage[] => {
  const calls = callsOf(reply.data);
  if (calls.length === 0) return [];
  // From here on, not from the beginning: with as many replies as a long session has, that would be their number squared.
  let next = from;
  while (next < entries.length && !isReplyAt(entries, next)) next += 1;
  const results = new Map<string, MessageEntry>();
  const begun = new Set<string>();
  for (const entry of entries.slice(from, next)) {
    if (entry.kind === 'started') begun.add(entry.data.call);
    else if (entry.kind === 'message') for (const id of resultIds(entry.data)) results.set(id, entry);
  }
  return calls.map((call) => {
    const result = results.get(call.id);
    return result ? shown(result, masks) : lost(reply, call, begun.has(call.id));
  });
};
const resultIds = (message: Message): readonly string[] => message.blocks.flatMap((block) => (block.type === 'result' ? [block.id] : []));

const lost = (reply: MessageEntry, call: CallBlock, begun: boolean): ViewMessage => {
  const content = begun
    ? 'This call was started and its outcome is unknown: cast stopped while it ran. Check what it did before you repeat it.'
    : 'This call was not started: cast stopped before it.';
  return result(`${reply.id}#${call.id}`, call, content, 'aborted');
};
const turnedBack = (entry: Extract<Entry, { kind: 'rejected' }>): readonly ViewMessage[] => {
  const { message, reasons } = entry.data;
  const unrun = callsOf(message).map((call) => result(`${entry.id}#${call.id}`, call, 'Not run: the reply that asked for it was turned back.', 'denied'));
  const note = plain(`${entry.id}#note`, reminder(`Your reply was not delivered:\n${reasons.map((reason) => `- ${reason}`).join('\n')}`));
  return [withTokens(entry.id, message), ...unrun, note];
};
const result = (id: string, call: CallBlock, content: string, status: 'aborted' | 'denied'): ViewMessage =>
  withTokens(id, { role: 'tool', origin: 'kernel', blocks: [{ type: 'result', id: call.id, tool: call.tool, content, status }] });
const plain = (id: string, text: string): ViewMessage => withTokens(id, { role: 'user', origin: 'kernel', reminder: true, blocks: [{ type: 'text', text }] });

const shown = (entry: MessageEntry, masks?: ReadonlyMap<string, Mask>): ViewMessage => {
  const mask = masks?.get(entry.id);
  return withTokens(entry.id, mask === undefined ? entry.data : maskedBy(mask, entry.data));
};
/** The same object for the same mask, so that its tokens are counted once. */
const maskedBy = (mask: Mask, message: Message): Message => {
  let masked = maskedMessages.get(mask);
  if (!masked) {
    masked = mask.only === 'images' ? withoutImages(message, mask.note) : { ...message, blocks: withoutContent(message, mask.note) };
    maskedMessages.set(mask, masked);
  }
  return masked;
};
const maskedMessages = new WeakMap<Mask, Message>();
/** A text must stay: an empty message is none. */
const withoutContent = ({ role, blocks }: Message, note: string): readonly Block[] => {
  const calls = blocks.filter((block) => block.type === 'call');
  return role === 'tool' ? blocks.flatMap((block) => (block.type === 'result' ? [{ ...block, content: note }] : [])) : [{ type: 'text', text: note }, ...calls];
};

/** Made once: a view is taken at each step, and most of it is as it was. */
const viewed = new WeakMap<Message, ViewMessage>();
const withTokens = (entry: string, message: Message): ViewMessage => {
  const known = viewed.get(message);
  if (known?.entry === entry) return known;
  const shown = { ...message, entry, tokens: estimateMessage(message) };
  viewed.set(message, shown);
  return shown;
};
