/** A reply that was cut at the limit on its length, or that left none of it for an answer, is asked for again with twice as much. */
import type { Failure, ModelInfo, ModelRequest } from '../../../kernel/index.ts';
import type { StepKey } from './retry.ts';

/** Tokens of the window that are asked for by nobody: the size of a prompt is an estimate. */
const MARGIN = 1_024;

export interface Longer {
  note(failure: Pick<Failure, 'kind'>, at: StepKey): void;
  /** What to change of the request; `room` is asked for only then. Undefined when there is no reason to, or no room. */
  ask(request: Pick<ModelRequest, 'maxOutputTokens'>, at: StepKey & { readonly attempt: number }, room: () => Room): { maxOutputTokens: number } | undefined;
}
/** In tokens. */
interface Room extends Pick<ModelInfo, 'maxOutput'> {
  readonly window: number;
  readonly prompt: number;
}

export const createLonger = (): Longer => {
  let cut: StepKey | undefined;
  return {
    note: ({ kind }, { turn, step }) => {
      if (kind === 'cut' || kind === 'empty') cut = { turn, step };
    },
    ask: ({ maxOutputTokens: limit }, at, room) => {
      // The first attempt of a step that is taken again after a rewind is nothing that was cut.
      if (limit === undefined || at.attempt === 1 || cut?.turn !== at.turn || cut.step !== at.step) return undefined;
      const { maxOutput = Infinity, window, prompt } = room();
      const longer = Math.min(2 * limit, maxOutput, window - prompt - MARGIN);
      return longer > limit ? { maxOutputTokens: longer } : undefined;
    },
  };
};
