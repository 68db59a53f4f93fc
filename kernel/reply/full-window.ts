import type { Delta, ModelRequest } from '../data.ts';
import { ProviderError } from '../errors.ts';
import { estimateRequest } from '../tokens.ts';

export interface Filled {
  readonly request: ModelRequest;
  readonly usage: Extract<Delta, { type: 'usage' }> | undefined;
  /** Tokens; undefined when nobody knows it. */
  readonly window: number | undefined;
}

/**
 * Some hosts shorten a prompt that is too long in silence, or answer with nothing: an empty or cut reply at the end of the window is
 * an overflow, which asking once more for the same would not mend.
 */
export const orOverflow = (problem: ProviderError, { request, usage, window }: Filled): ProviderError => {
  if (window === undefined || (problem.kind !== 'empty' && problem.kind !== 'cut')) return problem;
  // An estimate may be far above, which is no reason to take a reply that was cut for more than that.
  const used = usage ? usage.promptTokens + usage.completionTokens : problem.kind === 'empty' ? estimateRequest(request) : 0;
  if (used < window) return problem;
  return new ProviderError('overflow', `${problem.message}: the conversation fills the context window of ${window} tokens`, {
    fix: 'Compact the conversation (/compact) or choose a model with a larger context window.',
  });
};
