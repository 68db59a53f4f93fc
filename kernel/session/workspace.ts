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
  #entered: string | undefined;
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
  /** As an entry says. */
  enter(cwd: string): void {
    this.#cwd = cwd;
    this.#entered = cwd;
  }
  /** For this time, where the folder is gone. */
  makeDo(cwd: string): void {
    this.#cwd = cwd;
  }
  /** As the newest `workspace` entry of the branch says; undefined where there is none. */
  get entered(): string | undefined {
    return this.#entered;
  }
  /** Follows a branch, of which older entries said `before`; undefined when that changes nothing. */
  restore(entries: readonly Entry[], before: string | undefined): Move | undefined {
    const entry = entries.findLast((each) => each.kind === 'workspace');
    this.#entered = entry?.kind === 'workspace' ? entry.data.cwd : before;
    const to = this.#entered ?? this.#start;
    const move = to === this.#cwd ? undefined : { from: this.#cwd, to };
    this.#cwd = to;
    this.#wish = undefined;
    return move;
  }
  isGone(): boolean {
    return !existsSync(this.#cwd);
  }
}
