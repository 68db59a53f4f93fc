/** Where a conversation is cut: what is older becomes a summary, what is newer stays. */
import type { Compaction, ViewMessage } from '../../kernel/index.ts';
import { LIMITS } from './limits.ts';

export interface Split {
  readonly keepFrom: string;
  /** Entries that leave the view, the oldest first. */
  readonly dropped: readonly string[];
  /** Their estimated tokens. */
  readonly tokens: number;
}
interface Cut {
  readonly id: string;
  readonly index: number;
  readonly isPrompt: boolean;
  /** Tokens that stay, with a prompt that is carried along. */
  readonly tail: number;
  /** Messages with a text that stay. */
  readonly texts: number;
  readonly dropped: number;
}
type Job = Pick<Compaction, 'messages' | 'cuts' | 'prompt' | 'target'>;

/** Undefined when no lawful cut frees anything but notes, which come again. */
export const splitOf = (job: Job, view: readonly ViewMessage[]): Split | undefined => {
  const cuts = cutsOf(job, view);
  const total = tokensOf(job.messages);
  const isLong = total >= LIMITS.long;
  const wanted = isLong ? clamp(total * LIMITS.tailShare) : total * LIMITS.tailShare;
  const from = startOfTail(job, wanted);
  const most = Math.max(wanted, Math.min(job.target, total * (1 - LIMITS.tailShare)));
  const cut =
    pick(cuts, from, (each) => each.tail <= most && (!isLong || each.texts >= LIMITS.leastTexts)) ??
    pick(cuts, from, (each) => each.tail <= most) ??
    // What stays is large whatever is done: as little of it as can be.
    cuts.at(-1);
  if (!cut) return undefined;
  const dropped = job.messages.slice(0, cut.index).flatMap(({ id }) => (id === job.prompt ? [] : [id]));
  return { keepFrom: cut.id, dropped, tokens: cut.dropped };
};
const tokensOf = (messages: Job['messages']): number => messages.reduce((sum, { tokens }) => sum + tokens, 0);
const clamp = (tokens: number): number => Math.min(LIMITS.mostTail, Math.max(LIMITS.leastTail, tokens));

const hasText = ({ role, blocks }: ViewMessage): boolean => role !== 'tool' && blocks.some((block) => block.type === 'text' && block.text.trim() !== '');

const cutsOf = ({ messages, cuts, prompt }: Job, view: readonly ViewMessage[]): readonly Cut[] => {
  const speaking = new Set(view.flatMap((message) => (!message.reminder && hasText(message) ? [message.entry] : [])));
  const lawful = new Set(cuts);
  const promptAt = messages.findIndex(({ id }) => id === prompt);
  const [total, first] = [tokensOf(messages), firstCut(messages, view, prompt)];
  const found: Cut[] = [];
  let [stays, texts] = [0, 0];
  for (let index = messages.length - 1; index >= first; index--) {
    const message = messages[index];
    if (!message) continue;
    stays += message.tokens;
    if (speaking.has(message.id)) texts++;
    if (!lawful.has(message.id)) continue;
    const carried = promptAt < index ? (messages[promptAt]?.tokens ?? 0) : 0;
    found.push({ id: message.id, index, isPrompt: message.by !== 'model', tail: stays + carried, texts, dropped: total - stays - carried });
  }
  return found.reverse();
};

/** The first place with something before it that is neither a note nor the newest prompt. */
const firstCut = (messages: Job['messages'], view: readonly ViewMessage[], prompt: string | undefined): number => {
  const notes = new Set(view.flatMap(({ entry, reminder }) => (reminder ? [entry] : [])));
  const said = messages.findIndex(({ id }) => id !== prompt && !notes.has(id));
  return said < 0 ? messages.length : said + 1;
};

/** The place behind which there is about as much as is to stay. */
const startOfTail = ({ messages }: Job, wanted: number): number => {
  let stays = 0;
  let index = messages.length;
  while (index > 0 && stays < wanted) stays += messages[--index]?.tokens ?? 0;
  return index;
};

/** Before a prompt rather than inside of a turn, and rather less than more of what is old. */
const pick = (cuts: readonly Cut[], from: number, fits: (cut: Cut) => boolean): Cut | undefined => {
  const fitting = cuts.filter(fits);
  for (const isPrompt of [true, false]) {
    const some = fitting.filter((cut) => cut.isPrompt === isPrompt);
    const found = some.find(({ index }) => index >= from) ?? some.at(-1);
    if (found) return found;
  }
  return undefined;
};
