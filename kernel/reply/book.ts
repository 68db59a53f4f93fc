import type { ModelInfo, ModelRequest, Usage } from '../data.ts';
import type { StepContext } from '../hooks/subjects.ts';
import type { Session } from '../session/session.ts';
import { addUsage, NO_USAGE } from '../session/tally.ts';
import { estimateMessage, estimateRequest } from '../tokens.ts';
import type { Heard } from './listen.ts';

/** One event a request. Without numbers from the provider they are estimated, and marked as such. */
export const bookUsage = (session: Session, request: ModelRequest, heard: Heard, at: StepContext): void => {
  if (heard.usage) {
    const { promptTokens, completionTokens, totalTokens } = heard.usage;
    book(session, request, { ...addUsage(NO_USAGE, heard.usage), totalTokens: totalTokens ?? promptTokens + completionTokens });
    return;
  }
  if ('error' in heard || at.signal.aborted) return;
  const promptTokens = estimateRequest(request);
  const completionTokens = estimateMessage(heard.message);
  book(session, request, { ...NO_USAGE, promptTokens, completionTokens, totalTokens: promptTokens + completionTokens }, true);
};

/** Counts what one request used, with what it cost where the provider does not say and the price is known. */
export const book = (session: Session, { provider, model, purpose }: ModelRequest, used: Usage, isEstimated = false): Usage => {
  const price = used.cost === undefined ? session.provider(provider).info?.(model)?.price : undefined;
  const usage = price ? { ...used, cost: costOf(used, price) } : used;
  session.used({ usage, provider, model, purpose, ...(isEstimated ? { estimated: true } : {}) });
  return usage;
};

const costOf = (usage: Usage, price: NonNullable<ModelInfo['price']>): number => {
  const { promptTokens, completionTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const plain = Math.max(0, promptTokens - cacheReadTokens - cacheWriteTokens);
  const cached = cacheReadTokens * (price.cacheRead ?? price.in) + cacheWriteTokens * (price.cacheWrite ?? price.in);
  return (plain * price.in + cached + completionTokens * price.out) / 1e6;
};
