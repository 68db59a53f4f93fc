import { existsSync } from 'node:fs';
import type { Entry } from '../data.ts';

export interface Move {
  readonly from: string;
  readonly to: string;
}

/** Where a session works: where it was opened, or where the newest `workspace` entry of the branch says. */
export class Workspace {
  readonly #start: string;
  #cwd: string;
  #wish: string | undefined;

  constructor(cwd: string) {
    this.#start = cwd;
    this.#cwd = cwd;
  }
  get cwd(): string {
    return this.#cwd;
  }
  /** Asked for by a tool; taken once the results of its batch are stored. */
  ask(cwd: string): void {
    this.#wish = cwd;
  }
  /** The move that was asked for, if it is one; asked again it is none. */
  take(): Move | undefined {
    const to = this.#wish;
    this.#wish = undefined;
    return to === undefined || to === this.#cwd ? undefined : { from: this.#cwd, to };
  }
  enter(cwd: string): void {
    this.#cwd = cwd;
  }
  /** Follows a branch; undefined when that changes nothing. */
  restore(entries: readonly Entry[]): Move | undefined {
    const entry = entries.findLast((each) => each.kind === 'workspace');
    const to = entry?.kind === 'workspace' ? entry.data.cwd : this.#start;
    const move = to === this.#cwd ? undefined : { from: this.#cwd, to };
    this.#cwd = to;
    this.#wish = undefined;
    return move;
  }
  isGone(): boolean {
    return !existsSync(this.#cwd);
  }
}
