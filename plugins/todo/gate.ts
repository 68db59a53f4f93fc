/** A model that stops while todos are open is told so, and after that let go. */
import type { Scope } from '../../kernel/index.ts';
import { LIMITS } from './limits.ts';
import { openIn, type Todos } from './list.ts';
import { nudge } from './wording.ts';

export class OpenWorkGate {
  #fires = 0;
  #isTold = false;
  readonly #at: Pick<Scope<unknown, never>, 'events' | 'notice'>;

  constructor(at: Pick<Scope<unknown, never>, 'events' | 'notice'>) {
    this.#at = at;
  }
  /** A person has spoken. */
  reset(): void {
    this.#fires = 0;
    this.#isTold = false;
  }
  /** What to go on with; undefined when the turn may end. */
  pass(todos: Todos): { continue: string } | undefined {
    const open = openIn(todos);
    if (open.length === 0) return undefined;
    if (this.#fires < LIMITS.nudges) {
      this.#fires += 1;
      this.#at.events.emit('open_work_gate', { fires: this.#fires, openSteps: open.length });
      return { continue: nudge(open) };
    }
    if (!this.#isTold) this.#giveUp(open.length);
    return undefined;
  }
  #giveUp(openSteps: number): void {
    this.#isTold = true;
    this.#at.events.emit('open_work_gate_exhausted', { openSteps, maxFires: LIMITS.nudges });
    this.#at.notice(`The model has stopped with ${openSteps} ${openSteps === 1 ? 'todo' : 'todos'} open.`, 'OPEN_WORK');
  }
}
