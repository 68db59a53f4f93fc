import { ERRORS, type ErrorCode } from '../errors.ts';
import type { EndReason } from '../events.ts';
import type { TurnEnd } from '../hooks/subjects.ts';
import type { Session } from './session.ts';

/** The last events of a turn. */
export const tellEnd = (session: Session, end: TurnEnd): void => {
  const { steps, toolCalls, usage, startedAt, clientId } = session.tally;
  const code = (end.code ?? 'INTERNAL') as ErrorCode;
  const isError = end.reason === 'failed' || end.reason === 'stopped';
  if (isError) {
    const fix = end.suggestedFix === undefined ? {} : { suggestedFix: end.suggestedFix };
    session.emit('error', { code, message: end.detail ?? 'the turn failed', retryable: ERRORS[code].retryable, ...fix });
  }
  const exitCode = isError ? ERRORS[code].exit : end.reason === 'aborted' ? 130 : 0;
  const durationMs = session.clock.now() - startedAt;
  const client = clientId === undefined ? {} : { clientId };
  session.emit('turn.ended', { turn: session.turn, reason: reasonOf(end), exitCode, steps, toolCalls, usage, durationMs, ...client });
};

const REASONS: Readonly<Record<string, EndReason>> = { TURN_LIMIT: 'limit', BUDGET_EXCEEDED: 'limit', CUT_OFF: 'cut_off', DISCONNECTED: 'disconnected' };
const reasonOf = (end: TurnEnd): EndReason => {
  if (end.reason === 'answered') return 'stop';
  return end.reason === 'aborted' ? 'aborted' : (REASONS[end.code ?? ''] ?? 'error');
};
