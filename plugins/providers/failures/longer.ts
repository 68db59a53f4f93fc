/** A reply that was cut at the limit on its length, or that left none of it for an answer, is asked for again with twice as much. */
import type { Failure, ModelRequest } from '../../../kernel/index.ts';
import type { StepKey } from './retry.ts';

export interface Longer {
  note(failure: Pick<Failure, 'kind'>, at: StepKey): void;
  /** What to change of the request; undefined when there is no reason to. The kernel sees to it that model and window allow it. */
  ask(request: Pick<ModelRequest, 'maxOutputTokens'>, at: StepKey & { readonly attempt: number }): { maxOutputTokens: number } | undefined;
}

export const createLonger = (): Longer => {
  let cut: StepKey | undefined;
  return {
    note: ({ kind }, { turn, step }) => {
      if (kind === 'cut' || kind === 'empty') cut = { turn, step };
    },
    ask: ({ maxOutputTokens: limit }, at) => {
      // The first attempt of a step that is taken again after a rewind is nothing that was cut.
      if (limit === undefined || at.attempt === 1 || cut?.turn !== at.turn || cut.step !== at.step) return undefined;
      return { maxOutputTokens: 2 * limit };
    },
  };
};
