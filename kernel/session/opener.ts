/** A child session as seen from above: who opened it, and where its questions go. */
import type { CastConfig } from '../contracts/config.ts';
import type { ChildOrigin } from '../hooks/subjects.ts';
import type { BrokerOptions } from './ask.ts';
import type { Session } from './session.ts';

/** Who waits for a child session, and what for. */
export interface Opener {
  readonly session: Session;
  readonly origin: ChildOrigin;
}
/** Answers a session that is stored, open and idle, and has the settings of its opener but for what is wished. */
export type OpenChild = (opener: Opener, wishes: CastConfig) => Promise<Session>;

/** The one of a line of sessions that a person sees. */
export const rootOf = (session: Session): Session => (session.opener ? rootOf(session.opener.session) : session);

/** A form that nothing waits for cannot stand open: who would answer it talks to another session. */
export const relayTo =
  ({ session, origin }: Opener): NonNullable<BrokerOptions['relay']> =>
  async (question, signal) =>
    question.standing ? { choice: 'reject', by: 'nobody' } : rootOf(session).broker.relayed({ ...question, path: origin.path }, signal);
