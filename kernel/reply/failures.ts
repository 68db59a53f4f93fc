import type { ProviderFailure } from '../errors.ts';
import type { Failure } from '../hooks/subjects.ts';
import type { Session } from '../session/session.ts';
import type { Broken } from './listen.ts';

/** How often a step has failed, and a turn for the same reason. */
export class Failures {
  #inStep = 0;
  readonly #session: Session;
  readonly #startedAt: number;

  constructor(session: Session) {
    this.#session = session;
    this.#startedAt = session.clock.now();
  }
  count(broken: Broken): Pick<Failure, 'seen' | 'seenInStep' | 'elapsedMs'> {
    const inTurn: Map<ProviderFailure, number> = this.#session.tally.failures;
    const seen = (inTurn.get(broken.kind) ?? 0) + 1;
    inTurn.set(broken.kind, seen);
    this.#inStep += 1;
    return { seen, seenInStep: this.#inStep, elapsedMs: this.#session.clock.now() - this.#startedAt };
  }
}
