/** One turn, from an input to the point where the model has nothing left to do: admit → (assemble → converse → dispatch)* → settle. */
import type { Input } from '../data.ts';
import { CastError, isCastError, messageOf } from '../errors.ts';
import type { EndReason } from '../events.ts';
import type { TurnContext, TurnEnd } from '../hooks/subjects.ts';
import { LIMITS } from '../limits.ts';
import type { Session } from '../session/session.ts';
import { callsOf } from '../session/view.ts';
import { admit } from './admit.ts';
import { converse } from './converse.ts';
import { dispatch } from './dispatch.ts';
import { settle } from './settle.ts';

export const runTurn = async (session: Session, input: Input, signal: AbortSignal): Promise<TurnEnd> => {
  session.tally.begin(session.clock.now(), input.clientId);
  let end: TurnEnd;
  try {
    await session.boundary();
    await session.activateLate();
    await session.history.claim();
    session.turn += 1;
    end = await begun(session, { session: session.face, turn: session.turn, signal }, input);
  } catch (error) {
    end = endOf(error, signal);
  }
  await conclude(session, end);
  return end;
};

const begun = async (session: Session, turn: TurnContext, input: Input): Promise<TurnEnd> => {
  session.events.place = { turn: turn.turn };
  session.emit('turn.started', { turn: turn.turn, ...(input.clientId === undefined ? {} : { clientId: input.clientId }) });
  const handled = await admit(session, turn, input, true);
  if (handled !== undefined) return { reason: 'answered', detail: handled };
  for (let step = 1, continued = 0; ; step++) {
    turn.signal.throwIfAborted();
    if (step > session.limits.steps)
      return stopped(`${session.limits.steps} steps are done, which is the limit of a turn`, 'Go on with `cast -c`, or raise limits.maxSteps.');
    session.events.place = { turn: turn.turn, step };
    session.tally.steps = step;
    await session.activateLate();
    const steered = session.queue.takeSteered();
    if (steered) await admit(session, turn, steered);
    const at = { ...turn, step, attempt: 1 };
    const stop = await session.hooks.bail('prepare', at, undefined);
    if (stop) return stopped(stop.stop);
    const reply = await converse(session, at);
    const calls = callsOf(reply.message);
    if (calls.length > 0) {
      const results = await dispatch(session, at, calls, reply.offer);
      if (results.some((result) => result.endsTurn)) return { reason: 'answered' };
      continue;
    }
    const next = await settle(session, turn, continued);
    if (next === undefined) return { reason: 'answered' };
    if (next.source === 'plugin') continued += 1;
    await admit(session, turn, next);
  }
};

const stopped = (detail: string, suggestedFix?: string): TurnEnd => ({
  reason: 'stopped',
  code: 'TURN_LIMIT',
  detail,
  ...(suggestedFix === undefined ? {} : { suggestedFix }),
});

const endOf = (error: unknown, signal: AbortSignal): TurnEnd => {
  if (signal.aborted) return { reason: 'aborted', detail: messageOf(signal.reason) };
  if (!isCastError(error)) return { reason: 'failed', code: 'INTERNAL', detail: messageOf(error) };
  return { reason: 'failed', code: error.code, detail: error.message, ...(error.fix === undefined ? {} : { suggestedFix: error.fix }) };
};

/** What is left to do once a turn is over. The turn's own signal may be spent by now and must not cut it short. */
const conclude = async (session: Session, end: TurnEnd): Promise<void> => {
  const signal = AbortSignal.timeout(LIMITS.afterTurnMs);
  try {
    await session.append([
      { kind: 'turn', data: { turn: session.turn, phase: 'end', reason: end.reason, ...(end.code === undefined ? {} : { code: end.code }) } },
    ]);
    await session.hooks.series('ended', end, { session: session.face, turn: session.turn, signal });
    await Promise.race([session.settled(), session.clock.sleep(LIMITS.afterTurnMs)]);
  } catch (error) {
    if (!signal.aborted) session.warn(`After the turn: ${messageOf(error)}`);
  }
  await session.history.release();
  const { tally } = session;
  const error =
    end.reason === 'failed' || end.reason === 'stopped'
      ? new CastError((end.code ?? 'INTERNAL') as CastError['code'], end.detail ?? 'the turn failed')
      : undefined;
  if (error)
    session.emit('error', {
      code: error.code,
      message: error.message,
      retryable: error.retryable,
      ...(end.suggestedFix === undefined ? {} : { suggestedFix: end.suggestedFix }),
    });
  session.emit('turn.ended', {
    turn: session.turn,
    reason: reasonOf(end),
    exitCode: end.reason === 'answered' ? 0 : end.reason === 'aborted' ? 130 : (error?.exit ?? 1),
    steps: tally.steps,
    toolCalls: tally.toolCalls,
    usage: tally.usage,
    durationMs: session.clock.now() - tally.startedAt,
    ...(tally.clientId === undefined ? {} : { clientId: tally.clientId }),
  });
};

const reasonOf = (end: TurnEnd): EndReason => {
  if (end.reason === 'answered') return 'stop';
  if (end.reason === 'aborted') return 'aborted';
  if (end.code === 'TURN_LIMIT') return 'limit';
  if (end.code === 'CUT_OFF') return 'cut_off';
  return end.code === 'DISCONNECTED' ? 'disconnected' : 'error';
};
