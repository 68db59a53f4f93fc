/** Asks the model until there is a reply that every reviewer accepts, and stores it. */
import type { ToolOffer } from '../call/offer.ts';
import type { Message } from '../data.ts';
import { CastError, isCastError } from '../errors.ts';
import type { Failure, Recovery, StepContext } from '../hooks/subjects.ts';
import { LIMITS } from '../limits.ts';
import { bookUsage } from '../reply/book.ts';
import { failed } from '../reply/failed.ts';
import { Failures } from '../reply/failures.ts';
import { listen, type Broken, type Heard } from '../reply/listen.ts';
import { Review } from '../reply/review.ts';
import type { Session } from '../session/session.ts';
import { reminderBy, withoutRaw } from '../session/view.ts';
import { assemble } from './assemble.ts';

export interface Reply {
  readonly message: Message;
  /** The tools that it may call. */
  readonly offer: ToolOffer;
}

export const converse = async (session: Session, at: StepContext): Promise<Reply> => {
  const failures = new Failures(session);
  let turnedBack = 0;
  for (let attempt = 1; attempt <= LIMITS.attempts; attempt++) {
    const now = { ...at, attempt };
    const { request, offer } = await assemble(session, now);
    const heard = await listen(session, now, request);
    bookUsage(session, request, heard, now);
    if ('error' in heard) {
      const summary = summaryIn(session);
      await recover(session, now, heard, { provider: request.provider, model: request.model, ...failures.count(heard) });
      if (summaryIn(session) !== summary) await prepareAgain(session, now);
      continue;
    }
    const review = new Review(heard.message, heard.text, turnedBack++);
    await session.hooks.series('reply', review, now);
    if (review.reasons.length === 0) return { message: await accept(session, review), offer };
    await turnBack(session, review, heard);
  }
  throw new CastError('REPLY_REJECTED', `no usable reply after ${LIMITS.attempts} attempts`);
};

/** A compaction puts another message at the beginning. */
const summaryIn = (session: Session): string | undefined => session.view()[0]?.entry;
/** What a compaction took out of view is due in the very next request, which is made within this step. */
const prepareAgain = async (session: Session, at: StepContext): Promise<void> => {
  const stop = await session.hooks.bail('prepare', at, undefined);
  if (stop) throw new CastError('TURN_LIMIT', stop.stop);
};

const accept = async (session: Session, review: Review): Promise<Message> => {
  const message: Message =
    review.visible === review.raw ? review.message : { ...review.message, raw: review.raw, blocks: withText(review.message, review.visible) };
  await session.append([{ kind: 'message', data: message }, ...review.along]);
  session.emit('reply.accepted', { message: withoutRaw(message), visible: review.visible });
  return message;
};
const withText = (message: Message, text: string): Message['blocks'] => [{ type: 'text', text }, ...message.blocks.filter((block) => block.type !== 'text')];

const turnBack = async (session: Session, review: Review, heard: Heard): Promise<void> => {
  if (heard.shown > 0) session.emit('text.retracted', { chars: heard.shown });
  await session.append([{ kind: 'rejected', data: { message: review.message, reasons: review.reasons.map((reason) => reason.text) } }]);
  if (review.reasons.some((reason) => reason.isFinal))
    throw new CastError('REPLY_REJECTED', review.reasons.map((reason) => `${reason.text} (${reason.plugin})`).join('; '));
};

/** Lets the taps of `failure` repair what can be repaired; returns when the request is to be made again, throws when not. */
const recover = async (
  session: Session,
  at: StepContext,
  heard: Broken,
  seen: Pick<Failure, 'provider' | 'model' | 'seen' | 'seenInStep' | 'elapsedMs'>,
): Promise<void> => {
  // Stopped, or not the provider's doing: nothing that a retry could mend.
  if (at.signal.aborted || isCastError(heard.error)) {
    await keepPartial(session, heard);
    throw at.signal.aborted ? at.signal.reason : heard.error;
  }
  const failure: Failure = { kind: heard.kind, error: heard.error, partial: heard.text, began: heard.began, ...seen };
  // Behind the last attempt nothing is made again: nobody is to repair, announce or wait for anything.
  const recovery = at.attempt < LIMITS.attempts ? await session.hooks.bail('failure', failure, at) : undefined;
  if (!recovery || 'stop' in recovery) {
    await keepPartial(session, heard);
    throw failed(heard, recovery?.stop);
  }
  await retry(session, at, heard, recovery.retry, seen.seenInStep);
};

type Retry = Extract<Recovery, { retry: unknown }>['retry'];
const retry = async (session: Session, at: StepContext, heard: Broken, { reason, afterMs = 0, remind }: Retry, attempt: number): Promise<void> => {
  if (heard.shown > 0) session.emit('text.retracted', { chars: heard.shown });
  session.emit('retry', { attempt, delayMs: afterMs, reason });
  if (remind !== undefined) await session.append([reminderBy('kernel', remind)]);
  if (afterMs > 0) await session.clock.sleep(afterMs, at.signal);
};

/** What was shown is kept, marked as incomplete; calls that were still on their way are dropped. */
const keepPartial = async (session: Session, heard: Broken): Promise<void> => {
  if (heard.text === '') return;
  const raw = heard.text === heard.visible ? {} : { raw: heard.text };
  await session.append([
    { kind: 'message', data: { role: 'assistant', origin: 'model', blocks: [{ type: 'text', text: heard.visible }], incomplete: true, ...raw } },
  ]);
  session.emit('reply.partial', { visible: heard.visible });
};
