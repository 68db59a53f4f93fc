/** What is tried, rung by rung, when a request does not fit into the context window. */
import type { Failure, Recovery, Scope, SessionFace } from '../../kernel/index.ts';
import { attempt } from './attempt.ts';
import { largestResult, sizeOf, trimNote, trimReminder } from './trim.ts';

export interface LadderParts extends Pick<Scope<unknown, never>, 'notice'> {
  readonly session: SessionFace;
  /** Whether a compaction may come without being asked for. */
  readonly auto: boolean;
}
export interface Ladder {
  /** Undefined when nothing is left to try: the error of the provider stands. */
  climb(failure: Pick<Failure, 'provider' | 'model'>, signal: AbortSignal): Promise<Recovery | undefined>;
  /** A new input: each rung may be taken once more. */
  reset(): void;
}

type Rung = 'trim' | 'compact';

const TOO_LARGE = 'the conversation does not fit into the context window';

export const createLadder = ({ session, notice, auto }: LadderParts): Ladder => {
  /** Of each model, as another one may have a smaller window. */
  const taken = new Set<string>();

  const trim = async (): Promise<Recovery | undefined> => {
    const result = largestResult(session.view(), session.window);
    if (!result) return undefined;
    await session.mask(result.entry, trimNote(result));
    notice(`The conversation does not fit into the context window: the result of ${result.tool} (${sizeOf(result)}) was left out.`, 'TOOL_RESULT_TRIMMED');
    return { retry: { reason: TOO_LARGE, remind: trimReminder(result) } };
  };

  const compact = async (signal: AbortSignal): Promise<Recovery | undefined> =>
    auto && (await attempt(session, 'overflow', signal)) ? { retry: { reason: TOO_LARGE } } : undefined;

  return {
    climb: async (failure, signal) => {
      const on = (rung: Rung): string => `${rung} ${failure.provider}/${failure.model}`;
      const byTrim = taken.has(on('trim')) ? undefined : await trim();
      // Where there was no large result there may be one later in the turn.
      if (byTrim) taken.add(on('trim'));
      if (byTrim || taken.has(on('compact'))) return byTrim;
      taken.add(on('compact'));
      return compact(signal);
    },
    reset: () => taken.clear(),
  };
};
