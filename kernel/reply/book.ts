import type { Usage } from '../data.ts';
import type { StepContext } from '../hooks/subjects.ts';
import type { Session } from '../session/session.ts';
import { addUsage, NO_USAGE } from '../session/tally.ts';
import { estimateTokens } from '../session/view.ts';
import type { Heard } from './listen.ts';

/** One event a request. Without numbers from the provider they are estimated, and marked as such. */
export const bookUsage = (session: Session, model: string, heard: Heard, at: StepContext): void => {
  if (heard.usage) {
    const { promptTokens, completionTokens, totalTokens } = heard.usage;
    book(session, model, { ...addUsage(NO_USAGE, heard.usage), totalTokens: totalTokens ?? promptTokens + completionTokens });
    return;
  }
  if ('error' in heard || at.signal.aborted) return;
  const promptTokens = session.view().reduce((sum, message) => sum + message.tokens, 0);
  const completionTokens = estimateTokens(heard.message);
  book(session, model, { ...NO_USAGE, promptTokens, completionTokens, totalTokens: promptTokens + completionTokens }, true);
};
const book = (session: Session, model: string, usage: Usage, isEstimated = false): void => {
  session.tally.usage = addUsage(session.tally.usage, usage);
  session.emit('usage', { usage, model, purpose: 'main', ...(isEstimated ? { estimated: true } : {}) });
};
