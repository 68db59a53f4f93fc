/** What a session does about the faults of its taps. */
import type { FaultObserver, TapRecord } from '../hooks/guard.ts';
import { keyOf, quarantined } from '../hooks/guard.ts';
import { running } from '../hooks/running.ts';
import type { Session } from './session.ts';

type Remembered = Pick<TapRecord, 'state' | 'faults'>;

/** Strikes and decisions belong to the session: a new generation does not forgive. */
export class Faults {
  readonly #session: Session;
  readonly #remembered = new Map<string, Remembered>();

  constructor(session: Session) {
    this.#session = session;
  }

  get observer(): FaultObserver {
    return {
      fault: (tap, message) => this.#fault(tap, message),
      outcome: (tap, outcome, subject) => this.#tell(tap, outcome, subject),
      closedGuard: (tap, signal) => this.#decide(tap, signal),
      remembered: (key) => this.#remembered.get(key),
    };
  }

  #fault(tap: TapRecord, message: string): void {
    const isQuarantined = tap.state === 'quarantined';
    this.#remember(tap);
    if (isQuarantined) this.#session.closePlugin(tap.plugin, `${tap.label} failed ${tap.faults} times in ${tap.hook}: ${message}`);
    this.#session.emit('tap.fault', { plugin: tap.plugin, hook: tap.hook, label: tap.label, message, quarantined: isQuarantined });
  }

  #tell({ hook, plugin, label }: TapRecord, outcome: unknown, about: unknown): void {
    const { boundary } = this.#session.generation;
    if (!boundary?.tapped) return;
    const { tool, id, call: asked } = (about ?? {}) as { readonly tool?: string; readonly id?: string; readonly call?: { readonly id: string } };
    const of = tool === undefined ? asked?.id : id;
    const call = of === undefined ? {} : { call: of };
    const within = running()?.where;
    boundary.tapped({ hook, plugin, label, ...this.#session.events.place, ...call, outcome, ...(within === undefined ? {} : { within }) });
  }

  async #decide(tap: TapRecord, signal: AbortSignal | undefined): Promise<'open' | 'off'> {
    // The `ask` hook cannot be asked about one of its own taps.
    if (!this.#session.interactive || tap.hook === 'ask') throw quarantined(tap);
    const turn = { session: this.#session.face, turn: this.#session.turn, signal: signal ?? new AbortController().signal };
    const question = {
      kind: 'quarantine',
      text: `${quarantined(tap).message}. What it guards is refused until you decide.`,
      choices: [
        { value: 'retry', label: 'Try it again' },
        { value: 'off', label: 'Switch it off for this session' },
        { value: 'stop', label: 'Stop the turn' },
      ],
    };
    const { choice } = await this.#session.broker.ask(question, turn);
    if (choice !== 'retry' && choice !== 'off') throw quarantined(tap);
    tap.state = choice === 'retry' ? 'open' : 'off';
    tap.faults = 0;
    this.#remember(tap);
    return tap.state;
  }

  #remember(tap: TapRecord): void {
    this.#remembered.set(keyOf(tap), { state: tap.state, faults: tap.faults });
  }
}
