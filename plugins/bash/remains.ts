/** What the commands of a session leave behind: tasks in the background, what else still runs, files of output. */
import type { Child } from '../../kernel/index.ts';
import { SpillFolder } from './spill.ts';
import { Tasks } from './tasks.ts';

export class Remains {
  readonly spills = new SpillFolder();
  readonly tasks = new Tasks();
  #left: Child[] = [];

  /** Takes over a command whose shell has ended while something that it started goes on. */
  adopt(child: Child): void {
    this.#left = [...this.#left.filter((other) => other.alive()), child];
  }

  /** Ends what still runs and removes what was kept. */
  async close(): Promise<void> {
    await Promise.all([this.tasks.close(), ...this.#left.map((child) => child.kill())]);
    await this.spills.remove();
  }
}
