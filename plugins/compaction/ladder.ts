/** What is tried, rung by rung, when a request does not fit into the context window. */
import { type Failure, messageOf, type Recovery, type Scope, type SessionFace } from '../../kernel/index.ts';
import { largestResult, sizeOf, trimNote, trimReminder } from './trim.ts';

export interface LadderParts extends Pick<Scope<unknown, never>, 'notice' | 'warn'> {
  readonly session: SessionFace;
}
export interface Ladder {
  /** Undefined when nothing is left to try, or the failure is of another kind: the error of the provider stands. */
  climb(failure: Pick<Failure, 'kind'>, signal: AbortSignal): Promise<Recovery | undefined>;
  /** Each rung may be taken once more. */
  reset(): void;
}

type Rung = 'trim' | 'compact';

const TOO_LARGE = 'the conversation does not fit into the context window';

export const createLadder = ({ session, notice, warn }: LadderParts): Ladder => {
  /** Rungs on which something was done, or that were found to be of no use. */
  const taken = new Set<Rung>();
  let hasHelped = false;

  const trim = async (): Promise<Recovery | undefined> => {
    taken.add('trim');
    const result = largestResult(session.view());
    if (!result) return undefined;
    await session.mask(result.entry, trimNote(result));
    hasHelped = true;
    notice(`The conversation does not fit into the context window: the result of ${result.tool} (${sizeOf(result)}) was left out.`, 'TOOL_RESULT_TRIMMED');
    return { retry: { reason: TOO_LARGE, remind: trimReminder(result) } };
  };

  const compact = async (signal: AbortSignal): Promise<Recovery | undefined> => {
    taken.add('compact');
    try {
      if (!(await session.compact('overflow', signal))) return undefined;
    } catch (error) {
      // Stopped by a person: no failure of the compaction.
      if (!signal.aborted) warn(`The conversation could not be compacted: ${messageOf(error)}`, 'COMPACTION_FAILED');
      hasHelped = false;
      return undefined;
    }
    hasHelped = true;
    return { retry: { reason: TOO_LARGE } };
  };

  const giveUp = (): undefined => {
    if (!hasHelped) return;
    hasHelped = false;
    warn(`The conversation was made smaller and still does not fit into the context window${leftIn(session)}.`, 'COMPACTION_FAILED');
  };

  return {
    climb: async (failure, signal) => {
      if (failure.kind !== 'overflow') return undefined;
      const byTrim = taken.has('trim') ? undefined : await trim();
      if (byTrim) return byTrim;
      const byCompaction = taken.has('compact') ? undefined : await compact(signal);
      return byCompaction ?? giveUp();
    },
    reset: () => {
      taken.clear();
      hasHelped = false;
    },
  };
};

/** What fills it: without that nobody could do anything about it. */
const leftIn = (session: SessionFace): string => {
  const view = session.view();
  const largest = view.reduce<(typeof view)[number] | undefined>((most, message) => (message.tokens > (most?.tokens ?? 0) ? message : most), undefined);
  if (!largest) return '';
  const total = view.reduce((sum, { tokens }) => sum + tokens, 0);
  const what = { user: 'an input', assistant: 'a reply', tool: 'the result of a call' }[largest.role];
  return `: its messages have about ${total} tokens, the largest of them, ${what}, about ${largest.tokens}`;
};
