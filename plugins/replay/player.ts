/** Gives the recorded replies, each to the request that asks for one of its purpose. */
import { CastError, ProviderError, type Clock, type Delta, type ErrorCode, type Purpose } from '../../kernel/index.ts';
import { LONGEST_WAIT_MS } from './limits.ts';
import type { Beat, Break, Recording, Step } from './recording.ts';

export interface Player {
  play(purpose: Purpose, signal: AbortSignal): AsyncIterable<Delta>;
}
export interface PlayerOptions {
  readonly clock: Clock;
  readonly keepsDelays: boolean;
  /** Told where the recorded turn was told to stop; without it such a reply just breaks off. */
  readonly abort?: () => void;
  /** Whether side work that was not recorded is a mistake. */
  readonly isStrict?: boolean;
}

export const createPlayer = ({ steps }: Recording, { clock, keepsDelays, abort, isStrict = false }: PlayerOptions): Player => {
  const played = new Map<Purpose, number>();
  const next = (purpose: Purpose): Step => {
    const own = steps.filter((step) => step.purpose === purpose);
    const index = played.get(purpose) ?? 0;
    played.set(purpose, index + 1);
    const step = own[index];
    if (step) return step;
    // Side work was perhaps not recorded; the conversation itself cannot go on without its reply.
    if (purpose !== 'main' && !isStrict) return { purpose, deltas: [{ type: 'end', reason: 'stop' }] };
    const what = purpose === 'main' ? 'replies' : `replies for ${purpose}`;
    throw new CastError('REPLAY_INVALID', `the recording has ${own.length} ${what}, and one more was asked for`, {
      fix: 'The conversation differs from the recorded one; record it again.',
    });
  };
  return {
    async *play(purpose, signal) {
      for (const { afterMs = 0, ...beat } of next(purpose).deltas) {
        if (keepsDelays) await pause(clock, Math.min(afterMs, LONGEST_WAIT_MS), signal);
        signal.throwIfAborted();
        if (beat.type === 'aborted' && abort) await stopped(abort, signal);
        else if (beat.type !== 'aborted') yield deltaOf(beat);
      }
    },
  };
};

/** In pieces: a clock that only counts gives others real time behind a long wait, and nobody waits for anything here. */
const pause = async (clock: Clock, ms: number, signal: AbortSignal): Promise<void> => {
  for (let left = ms; left > 0; left -= PIECE_MS) await clock.sleep(Math.min(left, PIECE_MS), signal);
};
const PIECE_MS = 500;

const stopped = async (abort: () => void, signal: AbortSignal): Promise<void> => {
  abort();
  signal.throwIfAborted();
};

const deltaOf = (beat: Beat | Break): Delta => {
  if (beat.type === 'error') throw errorOf(beat);
  // An id may be left out: the kernel gives one.
  return (beat.type === 'call' ? { ...beat, id: beat.id ?? '' } : beat) as Delta;
};
const errorOf = ({ kind, message, code, status, retryAfterMs }: Extract<Break, { type: 'error' }>): Error => {
  if (code !== undefined) return new CastError(code as ErrorCode, message);
  return new ProviderError(kind, message, { ...(status === undefined ? {} : { status }), ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
};
