/** Which plugin's code is running now. It gives faults an owner and stops a tap's clock while the kernel works for it. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { CastError } from '../errors.ts';

export interface Running {
  readonly plugin: string;
  /** Hook, or `tool`, `command`, `event`, `load`, `setup`, `apply`, `dispose`. */
  readonly where: string;
  readonly label: string;
  readonly budget?: Budget;
}

/** One run of a plugin's code, as a watcher sees it. */
export interface Passage {
  /** The thread is free again, even if a promise has not settled. */
  left(): void;
  /** Nothing of it is under way any more. */
  ended(): void;
}
export type RunWatcher = (running: Running) => Passage;

const storage = new AsyncLocalStorage<Running>();
let watcher: RunWatcher | undefined;

/** One watcher a process: it sees whatever is run in a plugin's name. Returns how to take it away. */
export const watchRuns = (watch: RunWatcher): (() => void) => {
  watcher = watch;
  return () => {
    if (watcher === watch) watcher = undefined;
  };
};

export const runAs = <T>(running: Running, work: () => T): T => {
  if (!watcher) return storage.run(running, work);
  const passage = watcher(running);
  let isUnderWay = false;
  try {
    const answer = storage.run(running, work);
    if (answer instanceof Promise) {
      isUnderWay = true;
      answer.then(passage.ended, passage.ended);
    }
    return answer;
  } finally {
    passage.left();
    if (!isUnderWay) passage.ended();
  }
};
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

/** Rejects when the work has not settled after `ms` milliseconds; what it does afterwards is nobody's concern. */
export const within = async <T>(ms: number, work: () => T | Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new CastError('HOOK_FAULT', `took longer than ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([Promise.resolve().then(work), late]);
  } finally {
    clearTimeout(timer);
  }
};

/** Calls `onSpent` once its time is used up; paused time does not count. */
export class Budget {
  #left: number;
  #since = 0;
  #pauses = 0;
  #isOver = false;
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
    this.#halt();
    this.#left = Math.max(0, this.#left - (performance.now() - this.#since));
  }
  /** Whoever still waits for the kernel when the tap is over must not start its clock again: it would keep the process alive. */
  resume(): void {
    this.#pauses -= 1;
    if (this.#pauses === 0 && !this.#isOver) this.start();
  }
  /** For good. */
  stop(): void {
    this.#isOver = true;
    this.#halt();
  }
  #halt(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
