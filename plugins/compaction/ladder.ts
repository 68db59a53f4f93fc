/** What is tried, rung by rung, when a request does not fit into the context window. */
import { type Failure, messageOf, type Recovery, type Scope, type SessionFace } from '../../kernel/index.ts';
import { largestResult, sizeOf, trimNote, trimReminder } from './trim.ts';

export interface LadderParts extends Pick<Scope<unknown, never>, 'notice' | 'warn'> {
  readonly session: SessionFace;
}
export interface Ladder {
  /** Undefined when nothing is left to try, or the failure is of another kind: the error of the provider stands. */
  climb(failure: Pick<Failure, 'kind' | 'provider' | 'model'>, signal: AbortSignal): Promise<Recovery | undefined>;
  /** A new input: each rung may be taken once more. */
  reset(): void;
}

type Rung = 'trim' | 'compact';

const TOO_LARGE = 'the conversation does not fit into the context window';

export const createLadder = ({ session, notice, warn }: LadderParts): Ladder => {
  /** Of each model, as another one may have a smaller window. */
  const taken = new Set<string>();
  let hasHelped = false;
  let isWarned = false;

  const warnOnce = (text: string): void => {
    if (!isWarned) warn(text, 'COMPACTION_FAILED');
    isWarned = true;
  };

  const trim = async (): Promise<Recovery | undefined> => {
    const result = largestResult(session.view());
    if (!result) return undefined;
    await session.mask(result.entry, trimNote(result));
    hasHelped = true;
    notice(`The conversation does not fit into the context window: the result of ${result.tool} (${sizeOf(result)}) was left out.`, 'TOOL_RESULT_TRIMMED');
    return { retry: { reason: TOO_LARGE, remind: trimReminder(result) } };
  };

  const compact = async (signal: AbortSignal): Promise<Recovery | undefined> => {
    try {
      if (!(await session.compact('overflow', signal))) return undefined;
    } catch (error) {
      // Stopped by a person: no failure of the compaction.
      if (!signal.aborted) warnOnce(`The conversation could not be compacted: ${messageOf(error)}`);
      return undefined;
    }
    hasHelped = true;
    return { retry: { reason: TOO_LARGE } };
  };

  const giveUp = (): void => {
    const what = hasHelped ? 'was made smaller and still does not fit' : 'does not fit';
    const why = hasHelped ? '' : ', and nothing in it could be made smaller';
    warnOnce(`The conversation ${what} into the context window${why}${leftIn(session)}.`);
  };

  return {
    climb: async (failure, signal) => {
      if (failure.kind !== 'overflow') return undefined;
      const on = (rung: Rung): string => `${rung} ${failure.provider}/${failure.model}`;
      const byTrim = taken.has(on('trim')) ? undefined : await trim();
      // Where there was no large result there may be one later in the turn.
      if (byTrim) taken.add(on('trim'));
      const recovery = byTrim ?? (taken.has(on('compact')) ? undefined : await compact(signal));
      if (!byTrim) taken.add(on('compact'));
      if (!recovery && !signal.aborted) giveUp();
      return recovery;
    },
    reset: () => {
      taken.clear();
      hasHelped = false;
      isWarned = false;
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
