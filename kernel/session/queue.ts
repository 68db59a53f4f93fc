import type { QueuedItem } from '../contracts/client.ts';
import type { Input } from '../data.ts';
import type { Ids } from '../plugin.ts';

type Waiting = QueuedItem & { readonly input: Input };

/** Inputs that wait: steered ones for the running turn's next step, queued ones for a turn of their own. */
export class InputQueue {
  #steered: Input[] = [];
  #queued: Waiting[] = [];
  readonly #ids: Ids;
  readonly #onChange: (items: readonly QueuedItem[]) => void;

  constructor(ids: Ids, onChange: (items: readonly QueuedItem[]) => void) {
    this.#ids = ids;
    this.#onChange = onChange;
  }
  get items(): readonly QueuedItem[] {
    return this.#queued.map(({ id, text }) => ({ id, text }));
  }
  steer(input: Input): void {
    this.#steered.push(input);
  }
  /** One a step: each is an answer to what the model did last. */
  takeSteered(): Input | undefined {
    return this.#steered.shift();
  }
  add(input: Input): string {
    const id = this.#ids.next('queued');
    this.#queued.push({ id, text: input.text, input });
    this.#onChange(this.items);
    return id;
  }
  take(): Input | undefined {
    const next = this.#queued.shift();
    if (next) this.#onChange(this.items);
    return next && { ...next.input, text: next.text };
  }
  edit(id: string, text: string): boolean {
    const at = this.#queued.findIndex((item) => item.id === id);
    const item = this.#queued[at];
    if (!item) return false;
    this.#queued[at] = { ...item, text };
    this.#onChange(this.items);
    return true;
  }
  remove(id: string): boolean {
    const before = this.#queued.length;
    this.#queued = this.#queued.filter((item) => item.id !== id);
    if (this.#queued.length === before) return false;
    this.#onChange(this.items);
    return true;
  }
  /** What was meant for a turn that is over becomes queued input, so nothing typed is lost: before what was meant for later. */
  keepSteered(): void {
    const kept = this.#steered.splice(0).map((input) => ({ id: this.#ids.next('queued'), text: input.text, input }));
    if (kept.length === 0) return;
    this.#queued.unshift(...kept);
    this.#onChange(this.items);
  }
}
