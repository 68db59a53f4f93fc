/** One turn, from an input to the point where the model has nothing left to do: admit → (assemble → converse → dispatch)* → settle. */
import { untilAborted } from '../abort.ts';
import type { Input, NewEntry } from '../data.ts';
import { isCastError, messageOf } from '../errors.ts';
import type { StepContext, TurnContext, TurnEnd } from '../hooks/subjects.ts';
import type { Session } from '../session/session.ts';
import { callsOf } from '../session/view.ts';
import { admit } from './admit.ts';
import { converse } from './converse.ts';
import { settle } from './settle.ts';

export const runTurn = async (session: Session, input: Input, signal: AbortSignal): Promise<TurnEnd> => {
  session.tally.begin(session.clock.now(), input.clientId);
  let end: TurnEnd;
  try {
    await untilAborted(signal, session.boundary());
    await session.activateLate();
    await session.history.claim();
    await session.recordModel();
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
    const at = { ...turn, step, attempt: 1 };
    const stop = await beginStep(session, at);
    if (stop) return stop;
    const reply = await converse(session, at);
    const calls = callsOf(reply.message);
    if (calls.length > 0) {
      // Loaded by the first call: it is on no way to the first request.
      const { dispatch } = await import('./dispatch.ts');
      const results = await dispatch(session, at, calls, reply.offer);
      if (results.some((result) => result.endsTurn)) return { reason: 'answered' };
      continue;
    }
    const next = await settle(session, turn, continued);
    if (next === undefined) return { reason: 'answered' };
    continued = next.continued;
    await admit(session, turn, next.input);
  }
};

/** The end of the turn, when this step is not to be taken. */
const beginStep = async (session: Session, at: StepContext): Promise<TurnEnd | undefined> => {
  at.signal.throwIfAborted();
  const { steps } = session.limits;
  if (at.step > steps) return stopped(`${steps} steps are done, which is the limit of a turn`, 'Go on with `cast run -c`, or raise limits.maxSteps.');
  session.events.place = { turn: at.turn, step: at.step };
  session.tally.steps = at.step;
  await session.activateLate();
  const steered = session.queue.takeSteered();
  if (steered) await admit(session, at, steered);
  const stop = await session.hooks.bail('prepare', at, undefined);
  return stop && stopped(stop.stop);
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
  const code = end.code === undefined ? {} : { code: end.code };
  const entry: NewEntry = { kind: 'turn', data: { turn: session.turn, phase: 'end', reason: end.reason, ...code } };
  // Without a lease there was no turn to end: another process has the session.
  if (session.events.place.turn !== undefined) await session.append([entry]).catch((error: unknown) => session.warn(messageOf(error)));
  const ending = session.hooks.series('ended', end, { session: session.face, turn: session.turn, signal: new AbortController().signal });
  await session.soon(Promise.all([ending, session.settled()]));
  if (session.events.place.turn !== undefined) await session.snapshot().catch((error: unknown) => session.warn(messageOf(error)));
  await session.history.release();
  session.events.place = {};
};
