/** Where a request stops being what the one before it began with: from there on a provider's cache is of no use. */
import { estimateMessage, estimateRequest, type Message, type ModelRequest } from '../../kernel/index.ts';
import { describeMessage } from './parts.ts';

export interface CacheBreak {
  readonly turn: number;
  readonly step: number;
  readonly at: 'model' | 'system' | 'tools' | 'message';
  /** The section, tool or message that differs. */
  readonly what: string;
  /** Estimated tokens that were sent before and could not be reused. */
  readonly tokens: number;
}
export type Difference = Omit<CacheBreak, 'turn' | 'step'>;

/** Undefined when the whole of the shorter request is the beginning of the longer one. */
export const breakBetween = (before: ModelRequest, now: ModelRequest): Difference | undefined => {
  if (before.provider !== now.provider || before.model !== now.model)
    return { at: 'model', what: `${before.provider}/${before.model}`, tokens: estimateRequest(before) };
  if (before.system !== now.system) return { at: 'system', what: 'system', tokens: estimateRequest(before) };
  if (before.tools !== now.tools && JSON.stringify(before.tools) !== JSON.stringify(now.tools))
    return { at: 'tools', what: 'tools', tokens: estimateRequest(before) };
  const length = Math.min(before.messages.length, now.messages.length);
  for (let index = 0; index < length; index++) {
    const [old, fresh] = [before.messages[index], now.messages[index]];
    if (!old || !fresh || isSame(old, fresh)) continue;
    return {
      at: 'message',
      what: `message ${index + 1}, ${describeMessage(old).name}`,
      tokens: before.messages.slice(index).reduce((sum, message) => sum + estimateMessage(message), 0),
    };
  }
  return undefined;
};

/** Messages are never changed, so the same blocks are the same text; only a new view of them has to be compared. */
const isSame = (old: Message, fresh: Message): boolean =>
  old === fresh ||
  (old.role === fresh.role && old.raw === fresh.raw && (old.blocks === fresh.blocks || JSON.stringify(old.blocks) === JSON.stringify(fresh.blocks)));
