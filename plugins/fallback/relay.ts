/** One session's way along the chain: which model is asked, and who takes over from whom. */
import { type Clock, type Failure, messageOf, type ModelRef, type ModelRequest, type Recovery, type StepContext } from '../../kernel/index.ts';
import { firstReady, isSame, nameOf } from './chain.ts';
import { type Cooldowns, inWords } from './cooldowns.ts';
import { askedBy, note, type Trial, verdictOn } from './trial.ts';

export interface RelayParts {
  readonly clock: Clock;
  readonly cooldowns: Cooldowns;
  /** How long passing failures are left to retries, in milliseconds. */
  readonly patienceMs: number;
  /** Models behind the first one. */
  readonly others: () => readonly ModelRef[];
  readonly notice: (text: string, code: string) => void;
}

export class Relay {
  readonly #parts: RelayParts;
  #trial: Trial | undefined;
  /** The model that stands in for the first one, as far as the user knows. */
  #told: ModelRef | undefined;

  constructor(parts: RelayParts) {
    this.#parts = parts;
  }

  /** What is to change about a request. */
  choose(request: ModelRequest, { attempt }: Pick<StepContext, 'attempt'>): Partial<ModelRequest> | undefined {
    // What is asked beside the conversation has no part in the trial of its models.
    if (request.purpose !== 'main') return undefined;
    const main = { provider: request.provider, model: request.model };
    const others = this.#parts.others().filter((model) => !isSame(model, main));
    this.#trial = others.length > 0 ? this.#trialOf([main, ...others], attempt === 1) : undefined;
    const model = this.#trial?.model;
    if (!model || isSame(model, main)) return undefined;
    this.#tell(model, main);
    return model;
  }

  /** Goes on with the next model, or leaves the failure to others. */
  recover(failure: Failure): Recovery | undefined {
    const trial = this.#trial;
    if (!trial || !isSame(trial.model, failure)) return undefined;
    const { clock, cooldowns, patienceMs } = this.#parts;
    const now = clock.now();
    note(failure, trial, now);
    const verdict = verdictOn(failure, trial, now, patienceMs);
    const next = trial.chain.find((model) => !isSame(model, trial.model) && cooldowns.until(model) <= now);
    // With nobody to take over, what may pass is asked again: a cooldown would only send the request elsewhere in vain.
    if (verdict === 'passing' || (verdict === 'lasting' && !next)) return undefined;
    const ms = cooldowns.start(trial.model, failure.kind, askedBy(failure), now);
    if (!next) return undefined;
    this.#told = isSame(next, trial.chain[0] ?? next) ? undefined : next;
    return { retry: { afterMs: 0, reason: `${nameOf(next)} takes over from ${nameOf(trial.model)} for ${inWords(ms)}: ${messageOf(failure.error)}` } };
  }

  /** The newest request has been answered. */
  answered(): void {
    const { model, chain } = this.#trial ?? {};
    if (!model) return;
    this.#parts.cooldowns.answered(model);
    if (model !== chain?.[0] || !this.#told) return;
    this.#told = undefined;
    this.#parts.notice(`${nameOf(model)} answers again.`, 'FALLBACK_OVER');
  }

  #trialOf(chain: readonly ModelRef[], isNewStep: boolean): Trial | undefined {
    const { clock, cooldowns } = this.#parts;
    const now = clock.now();
    const model = firstReady(chain, (each) => cooldowns.until(each), now);
    if (!model) return undefined;
    const before = isNewStep ? undefined : this.#trial;
    if (before && isSame(before.model, model)) return before;
    return { model, chain, isOnProbation: cooldowns.isOnProbation(model), since: now, failures: 0, breaks: 0 };
  }

  /** Where another session, or an earlier turn, found out that the first model is away, nothing has said so here. */
  #tell(model: ModelRef, main: ModelRef): void {
    if (this.#told && isSame(this.#told, model)) return;
    this.#told = model;
    const ms = this.#parts.cooldowns.until(main) - this.#parts.clock.now();
    const wait = ms > 0 ? `, which is left alone for ${inWords(ms)}` : '';
    this.#parts.notice(`${nameOf(model)} is asked in place of ${nameOf(main)}${wait}.`, 'FALLBACK');
  }
}
