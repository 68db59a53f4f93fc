/** Commands of a session that run in the background. */
import { messageOf } from '../../kernel/index.ts';
import type { Background } from './bench.ts';
import type { Ending, Job } from './job.ts';
import { MAX_ENDED, MAX_RUNNING } from './limits.ts';
import { START, type Mark } from './render.ts';
import { settlesWithin } from './within.ts';

export type TaskStatus = 'running' | 'exited' | 'killed' | 'error';

export class Task {
  /** `bg-N`. */
  readonly id: string;
  readonly job: Job;
  /** Settles with the end, and never rejects. */
  readonly ended: Promise<void>;
  status: TaskStatus = 'running';
  ending: Ending | undefined;
  /** Why nobody knows how it ended. */
  fault: string | undefined;
  /** Epoch milliseconds. */
  endedAt: number | undefined;
  /** Output that the model has been shown. */
  shown: Mark;
  #isEndTold = false;
  #listeners = 0;

  constructor(id: string, job: Job, shown: Mark, now: () => number) {
    this.id = id;
    this.job = job;
    this.shown = shown;
    this.ended = job.ended
      .then(
        (ending) => {
          this.ending = ending;
          // What was killed stays that, however it then ended.
          if (this.status === 'running') this.status = ending.exit.timedOut ? 'killed' : 'exited';
        },
        (error: unknown) => {
          this.fault = messageOf(error);
          if (this.status === 'running') this.status = 'error';
        },
      )
      .then(() => {
        this.endedAt = now();
      });
  }

  /** True once a task: for whoever then tells the model of its end. Not while somebody waits for it, who will. */
  claimEnd(): boolean {
    if (this.#isEndTold || this.#listeners > 0 || this.status === 'running') return false;
    this.#isEndTold = true;
    return true;
  }

  /** Resolves with the end, after the time, or with the signal. The caller tells the model what there is to tell then. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    this.#listeners += 1;
    if (ms > 0 && this.status === 'running') await settlesWithin(this.ended, ms, signal);
    this.#listeners -= 1;
    this.claimEnd();
  }

  /** With all of its group. The caller tells the model. */
  async kill(): Promise<void> {
    if (this.status === 'running') this.status = 'killed';
    this.#isEndTold = true;
    await this.job.child.kill();
    await this.ended;
  }
}

export class Tasks {
  #all: readonly Task[] = [];
  #count = 0;

  get all(): readonly Task[] {
    return this.#all;
  }
  get running(): readonly Task[] {
    return this.#all.filter(({ endedAt }) => endedAt === undefined);
  }
  get isFull(): boolean {
    return this.running.length >= MAX_RUNNING;
  }
  find(id: string): Task | undefined {
    return this.#all.find((task) => task.id === id);
  }

  /** `tell` is called at its end, unless somebody else tells of it. */
  async add(job: Job, background: Background, now: () => number, tell: (task: Task) => void, shown: Mark = START): Promise<Task> {
    this.#count = Math.max(this.#count, background.count()) + 1;
    const task = new Task(`bg-${this.#count}`, job, shown, now);
    this.#all = [...this.#all, task];
    void task.ended.then(() => {
      this.#forget();
      if (task.claimEnd()) tell(task);
    });
    await background.record(this.#count);
    return task;
  }

  /** Kills what runs. Nobody is told any more. */
  async close(): Promise<void> {
    await Promise.all(this.running.map((task) => task.kill()));
  }

  #forget(): void {
    const old = this.#all.filter(({ endedAt }) => endedAt !== undefined).slice(0, -MAX_ENDED);
    this.#all = this.#all.filter((task) => !old.includes(task));
  }
}
