/** What the store works out of an entry: its row for readers, the title of its session, and the count of messages. */
import type { Block, Entry, Message } from '../../kernel/index.ts';

const TITLE_CHARS = 60;
/** Characters of a prompt that are looked at for its title. */
const TITLE_SOURCE_CHARS = 2_000;

/** The message that an entry holds; undefined when it holds none. */
export const messageIn = (entry: Entry): Message | undefined => {
  if (entry.kind === 'message') return entry.data;
  return entry.kind === 'rejected' ? entry.data.message : undefined;
};

/** `{ content, … }`: the visible text, and of the message whatever that text does not say. Images are kept in the entry alone. */
export const contentJson = (message: Message): string => {
  const { blocks, ...rest } = message;
  return JSON.stringify({ content: contentOf(message), ...rest, blocks: blocks.map(withoutContent).filter((block) => block !== undefined) });
};

const contentOf = (message: Message): string =>
  message.role === 'tool' ? message.blocks.map((block) => (block.type === 'result' ? block.content : '')).join('') : textOf(message);

const textOf = (message: Message): string => message.blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');

const withoutContent = (block: Block): object | undefined => {
  if (block.type === 'text') return undefined;
  if (block.type === 'image') return { ...block, image: { mediaType: block.image.mediaType } };
  if (block.type !== 'result') return block;
  const { content: _, ...rest } = block;
  return rest;
};

export interface Summary {
  readonly title: string;
  readonly messages: number;
}

/** Title and count of a session after these entries. The first message of a person gives the title, unless there is one. */
export const summarise = (before: Summary, batch: readonly Entry[]): Summary => {
  let { title, messages } = before;
  for (const entry of batch) {
    if (entry.kind !== 'message' || !isCounted(entry.data)) continue;
    if (messages === 0 && title === '') title = titleOf(entry.data);
    messages += 1;
  }
  return { title, messages };
};

/** A person's messages, and replies that are no mere step towards one. */
const isCounted = (message: Message): boolean =>
  message.role === 'user' ? message.origin === 'user' : message.role === 'assistant' && !message.blocks.some((block) => block.type === 'call');

const titleOf = (message: Message): string => {
  // By code points, so that no character is cut in two.
  const line = [...textOf(message).trimStart().slice(0, TITLE_SOURCE_CHARS).replace(/\s+/g, ' ').trim()];
  return line.length > TITLE_CHARS ? `${line.slice(0, TITLE_CHARS).join('')}…` : line.join('');
};
