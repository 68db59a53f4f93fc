/** The result of a tool that fills the context window most, and what stands in its place. */
import type { ViewMessage } from '../../kernel/index.ts';

/** UTF-8 bytes. What is smaller frees too little to be worth a request. */
const LEAST_BYTES = 16_384;
/** UTF-8 bytes by a token of the window: in a small one less is much. A result of this size fills an eighth of it. */
const LEAST_BY_TOKEN = 1 / 2;

/** Longer than any note, so that none is taken for a result. */
const SHORTEST = 1_024;

export interface LargeResult {
  /** Id of its entry. */
  readonly entry: string;
  /** Id of the call that it answers. */
  readonly call: string;
  readonly tool: string;
  /** UTF-8 bytes. */
  readonly bytes: number;
}

/** Undefined when none is large. What was left out before has a short note by now, so it is never found again. */
export const largestResult = (view: readonly ViewMessage[], window: number): LargeResult | undefined => {
  const least = Math.min(LEAST_BYTES, Math.max(SHORTEST, Math.floor(window * LEAST_BY_TOKEN)));
  let largest: LargeResult | undefined;
  for (const { entry, blocks } of view)
    for (const block of blocks) {
      if (block.type !== 'result') continue;
      const bytes = Buffer.byteLength(block.content);
      if (bytes >= Math.max(least, (largest?.bytes ?? 0) + 1)) largest = { entry, call: block.id, tool: block.tool, bytes };
    }
  return largest;
};

export const sizeOf = ({ bytes }: LargeResult): string => `${Math.ceil(bytes / 1024)} KiB`;

/** In place of the result. */
export const trimNote = (result: LargeResult): string =>
  `[This result of ${result.tool} (${sizeOf(result)}) was left out: it was too large for the context window. To see it, ask for less at a time: a range of lines, a narrower search, or output cut down by a filter.]`;

/** For the model, beside the note: the same call would end the same way. */
export const trimReminder = (result: LargeResult): string =>
  `The conversation did not fit into the context window, so the result of the call ${result.call} (${result.tool}, ${sizeOf(result)}) was left out. Do not repeat that call as it was: get what you need of it in smaller pieces.`;
