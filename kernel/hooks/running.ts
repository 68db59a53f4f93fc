/** Which plugin's code is running now. It gives faults an owner and stops a tap's clock while the kernel works for it. */
import { AsyncLocalStorage } from 'node:async_hooks';

export interface Running {
  readonly plugin: string;
  /** Hook, or `tool`, `command`, `setup`, `apply`. */
  readonly where: string;
  readonly label: string;
  readonly budget?: Budget;
}

const storage = new AsyncLocalStorage<Running>();

export const runAs = <T>(running: Running, work: () => T): T => storage.run(running, work);
/** Undefined while the kernel's or a surface's own code runs. */
export const running = (): Running | undefined => storage.getStore();
/** Leaves the plugin: what is started here is the kernel's own. */
export const runAsKernel = <T>(work: () => T): T => storage.exit(work);

/** A kernel call with a limit of its own (a process, a model request, a question): the budget of the waiting tap stands still. */
export const offTheClock = async <T>(work: () => Promise<T>): Promise<T> => {
  const budget = running()?.budget;
  budget?.pause();
  try {
    return await work();
  } finally {
    budget?.resume();
  }
};

/** Calls `onSpent` once its time is used up; paused time does not count. */
export class Budget {
  #left: number;
  #since = 0;
  #pauses = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #onSpent: () => void;

  constructor(ms: number, onSpent: () => void) {
    this.#left = ms;
    this.#onSpent = onSpent;
  }
  start(): this {
    this.#since = performance.now();
    this.#timer = setTimeout(this.#onSpent, this.#left);
    return this;
  }
  pause(): void {
    this.#pauses += 1;
    if (this.#pauses > 1 || this.#timer === undefined) return;
    this.stop();
    this.#left = Math.max(0, this.#left - (performance.now() - this.#since));
  }
  resume(): void {
    this.#pauses -= 1;
    if (this.#pauses === 0) this.start();
  }
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
