/** What `/compact` answers. */
import { CastError, type CommandContext, type EventMap } from '../../kernel/index.ts';
import type { Meter } from './meter.ts';
import { NOTHING } from './summarise.ts';

export interface CommandParts {
  readonly meter: Meter;
  /** What the newest compaction came to, or why there was none. */
  readonly outcome: () => EventMap['compacted'] | EventMap['compaction.failed'] | undefined;
}

export const compactNow = async (args: string, at: CommandContext, { meter, outcome }: CommandParts): Promise<string> => {
  const instructions = args.trim();
  const isDone = await at.session.compact('command', at.signal, instructions === '' ? undefined : instructions);
  const told = outcome();
  if (!isDone || !told || 'why' in told) {
    const why = told && 'why' in told ? told.why : 'nobody made a summary';
    if (why === NOTHING) return `Nothing was compacted: ${why}.${inTheWay(meter)}`;
    throw new CastError('COMPACTION_FAILED', `the conversation was not compacted: ${why}.${inTheWay(meter)}`, {
      fix: 'The conversation is as it was. Start a new one, or choose a model with a larger context window, when it does not fit.',
    });
  }
  const { messages, tokensBefore, tokensAfter } = told;
  const done = `${messages} ${messages === 1 ? 'message' : 'messages'} became a summary: about ${number(tokensBefore)} tokens are now ${number(tokensAfter)}.`;
  return `${done}${inTheWay(meter)}`;
};

/** What no compaction can change. */
const inTheWay = (meter: Meter): string =>
  meter.read().tokens <= meter.limit
    ? ''
    : ` What is left is still over the limit of ${number(Math.floor(meter.limit))} tokens: about ${number(meter.prefix)} are the system prompt and the tools, ${number(meter.read().tokens - meter.prefix)} the messages that have to stay.`;

const number = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',');
