/** Whose turn it is: one at a time, then what was queued meanwhile. */
import { setMaxListeners } from 'node:events';
import type { SubmitOutcome } from '../contracts/client.ts';
import type { Input } from '../data.ts';
import { CastError, messageOf } from '../errors.ts';
import type { TurnEnd } from '../hooks/subjects.ts';
import { runAsKernel } from '../hooks/running.ts';
import type { InputQueue } from './queue.ts';

export interface TurnsOptions {
  readonly queue: InputQueue;
  /** Runs one turn to its end. */
  run(input: Input, signal: AbortSignal): Promise<TurnEnd>;
  /** Told of the end when the session is ready for what comes next. */
  ended(end: TurnEnd): void;
  warn(text: string): void;
  /** Whether what is queued has to wait for a person to speak first. */
  isHeld(): boolean;
  /** Told of each input that is taken. */
  brought(input: Input, isRunning: boolean): void;
  /** Of the turn that a submission would start. */
  nextTurn(): number;
}

/** Client ids of the newest submissions; an older one is not sent again. */
const REMEMBERED = 1_000;

export class Turns {
  #controller: AbortController | undefined;
  #isBusy = false;
  #isClosed = false;
  #driving: Promise<void> = Promise.resolve();
  readonly #seen = new Set<string>();
  readonly #at: TurnsOptions;

  constructor(options: TurnsOptions) {
    this.#at = options;
  }
  get isBusy(): boolean {
    return this.#isBusy;
  }

  submit(input: Input): SubmitOutcome {
    if (input.text.trim() === '' && !input.images?.length) throw new CastError('INPUT_EMPTY', 'there is no prompt', { fix: 'Say what is to be done.' });
    if (this.#isClosed) throw new CastError('SESSION_CLOSED', 'this session has been closed');
    if (this.#isRepeated(input.clientId)) return { state: 'repeated' };
    this.#at.brought(input, false);
    if (this.#isBusy) return { state: 'queued', id: this.#at.queue.add(input) };
    const turn = this.#at.nextTurn();
    this.#isBusy = true;
    // A command may have submitted it; the turn is nobody's but the session's.
    this.#driving = runAsKernel(() => this.#drive(input));
    return { state: 'started', turn };
  }
  /** Into the running turn, at its next step; a submission when none runs. */
  steer(input: Input): SubmitOutcome {
    if (!this.#isBusy) return this.submit(input);
    if (this.#isRepeated(input.clientId)) return { state: 'repeated' };
    this.#at.brought(input, true);
    this.#at.queue.steer(input);
    return { state: 'started', turn: this.#at.nextTurn() - 1 };
  }
  /** What a plugin brings comes when it comes: a closed session takes no notice of it. */
  bring(input: Input): void {
    if (!this.#isClosed) this.steer(input);
  }
  /** The first reason wins. */
  abort(reason: Error): void {
    this.#controller?.abort(reason);
  }
  /** Nothing is taken any more; resolves when the running turn is over. */
  async close(reason: Error): Promise<void> {
    this.#isClosed = true;
    this.abort(reason);
    await this.#driving;
  }

  /** Turns follow each other as long as they end by an answer, and leave no question behind that was not known when the next was queued. */
  async #drive(first: Input): Promise<void> {
    for (let next: Input | undefined = first; next; ) {
      const end = await this.#run(next);
      this.#at.queue.keepSteered();
      next = end.reason === 'answered' && !this.#isClosed && !this.#at.isHeld() ? this.#at.queue.take() : undefined;
      // In one go with the take, so that what is submitted now is either queued before it or starts a turn of its own.
      this.#isBusy = next !== undefined;
      this.#at.ended(end);
    }
  }
  async #run(input: Input): Promise<TurnEnd> {
    const controller = new AbortController();
    // Every call of a turn listens to it.
    setMaxListeners(0, controller.signal);
    this.#controller = controller;
    try {
      return await this.#at.run(input, controller.signal);
    } catch (error) {
      this.#at.warn(messageOf(error));
      return { reason: 'failed', code: 'INTERNAL', detail: messageOf(error) };
    } finally {
      this.#controller = undefined;
    }
  }

  #isRepeated(clientId: string | undefined): boolean {
    if (clientId === undefined) return false;
    if (this.#seen.has(clientId)) return true;
    this.#seen.add(clientId);
    const [oldest] = this.#seen;
    if (this.#seen.size > REMEMBERED && oldest !== undefined) this.#seen.delete(oldest);
    return false;
  }
}
