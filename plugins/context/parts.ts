/** What a request is made of, each part with its owner and its estimated tokens. */
import { estimateText, type Message, type Section, type Tool, type ViewMessage } from '../../kernel/index.ts';

export interface Part {
  readonly kind: 'section' | 'tool' | 'messages';
  readonly name: string;
  /** The plugin that brought it, `user`, `model` or `kernel`. */
  readonly from: string;
  /** Messages in it; 1 for sections and tools. */
  readonly count: number;
  readonly tokens: number;
  /** Tokens of it that a compaction would summarise; absent for sections and tools. */
  readonly dropped?: number;
}
type Owned<T> = T & { readonly from: string };

export interface Sources {
  readonly sections: readonly Owned<Section>[];
  readonly tools: readonly Owned<Pick<Tool, 'name' | 'card'>>[];
  readonly messages: readonly ViewMessage[];
  /** Entries that a compaction would summarise. */
  readonly drops?: ReadonlySet<string>;
}

/** In the order of a request: sections, tools, then messages by what they are, the largest first. */
export const partsOf = ({ sections, tools, messages, drops = new Set() }: Sources): readonly Part[] => {
  const owners = new Map(tools.map((tool) => [tool.name, tool.from]));
  const ofSections = sections.flatMap((section): Part[] => {
    const text = section.text()?.trim() ?? '';
    return text === '' ? [] : [{ kind: 'section', name: section.name, from: section.from, count: 1, tokens: estimateText(text) }];
  });
  const ofTools = tools.map((tool): Part => ({ kind: 'tool', name: tool.name, from: tool.from, count: 1, tokens: estimateText(JSON.stringify(tool.card)) }));
  return [...ofSections, ...ofTools.toSorted(bySize), ...ofMessages(messages, owners, drops)];
};

const ofMessages = (messages: readonly ViewMessage[], owners: ReadonlyMap<string, string>, drops: ReadonlySet<string>): readonly Part[] => {
  const parts = new Map<string, Part>();
  for (const message of messages) {
    const { name, from } = describeMessage(message, owners);
    const key = `${name}\n${from}`;
    const known = parts.get(key);
    const dropped = (known?.dropped ?? 0) + (drops.has(message.entry) ? message.tokens : 0);
    parts.set(key, { kind: 'messages', name, from, count: (known?.count ?? 0) + 1, tokens: (known?.tokens ?? 0) + message.tokens, dropped });
  }
  return [...parts.values()].sort(bySize);
};
const bySize = (one: Part, other: Part): number => other.tokens - one.tokens;

/** What a message is, in words, and who put it there. */
export const describeMessage = (message: Message, owners: ReadonlyMap<string, string> = new Map()): { readonly name: string; readonly from: string } => {
  if (message.role === 'assistant') return { name: 'replies', from: 'model' };
  if (message.role === 'user') return { name: message.reminder ? 'reminders' : 'prompts', from: message.origin };
  const tool = message.blocks.find((block) => block.type === 'result')?.tool ?? 'a tool';
  return { name: `results of ${tool}`, from: owners.get(tool) ?? message.origin };
};
