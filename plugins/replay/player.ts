import { CastError, type Clock, type Delta, type Purpose } from '../../kernel/index.ts';
import type { Recording, Step } from './recording.ts';

export interface Player {
  play(purpose: Purpose, signal: AbortSignal): AsyncIterable<Delta>;
}

/** A wait of a recording that was edited by hand must not last for ever. */
const LONGEST_WAIT_MS = 60_000;

export const createPlayer = ({ steps }: Recording, { clock, keepsDelays }: { readonly clock: Clock; readonly keepsDelays: boolean }): Player => {
  const played = new Map<Purpose, number>();
  const next = (purpose: Purpose): Step => {
    const own = steps.filter((step) => step.purpose === purpose);
    const index = played.get(purpose) ?? 0;
    played.set(purpose, index + 1);
    const step = own[index];
    if (step) return step;
    // Side work was perhaps not recorded; the conversation itself cannot go on without its reply.
    if (purpose !== 'main') return { purpose, deltas: [{ type: 'end', reason: 'stop' }] };
    throw new CastError('REPLAY_INVALID', `the recording has ${own.length} replies, and one more was asked for`, {
      fix: 'The conversation differs from the recorded one; record it again.',
    });
  };
  return {
    async *play(purpose, signal) {
      for (const { afterMs = 0, ...delta } of next(purpose).deltas) {
        if (keepsDelays && afterMs > 0) await clock.sleep(Math.min(afterMs, LONGEST_WAIT_MS), signal);
        signal.throwIfAborted();
        // An id may be left out: the kernel gives one.
        yield (delta.type === 'call' ? { ...delta, id: delta.id ?? '' } : delta) as Delta;
      }
    },
  };
};
