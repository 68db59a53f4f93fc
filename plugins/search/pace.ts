import { setImmediate } from 'node:timers/promises';
import { LIMITS } from './limits.ts';
import type { Desk } from './place.ts';
import { tooSlow } from './query.ts';

/**
 * The turns of work that is done without waiting: reading small files one by one costs a third of what it costs through the threads of node.
 * In between everything else has its turn, an abort is heard, and the time is looked at.
 */
export class Pace {
  readonly #signal: AbortSignal;
  readonly #now: () => number;
  readonly #end: number;
  #began = performance.now();

  constructor(signal: AbortSignal, { clock }: Pick<Desk, 'clock'>) {
    this.#signal = signal;
    this.#now = () => clock.now();
    this.#end = this.#now() + LIMITS.timeoutMs;
  }

  get isOver(): boolean {
    return performance.now() - this.#began > LIMITS.sliceMs;
  }

  async turn(): Promise<void> {
    await setImmediate();
    this.#signal.throwIfAborted();
    if (this.#now() > this.#end) throw tooSlow();
    this.#began = performance.now();
  }
}
