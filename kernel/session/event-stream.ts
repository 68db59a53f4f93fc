import type { CastEvent, EventMap, EventType } from '../events.ts';
import { LIMITS } from '../limits.ts';
import type { Clock } from '../plugin.ts';

type Listener = (event: CastEvent) => void;
const MERGED: ReadonlySet<EventType> = new Set(['text.delta', 'reasoning.delta']);

/** The one stream of a session. Facts are kept in order; deltas that a reader has not taken yet are merged. */
export class EventStream {
  #seq = 0;
  #closed = false;
  readonly #session: string;
  readonly #clock: Clock;
  readonly #backlog: CastEvent[] = [];
  readonly #listeners = new Set<Listener>();
  readonly #outbox: CastEvent[] = [];
  #isDelivering = false;
  /** Set by the turn, so that events say where they belong. */
  place: { readonly turn?: number; readonly step?: number } = {};

  constructor(session: string, clock: Clock) {
    this.#session = session;
    this.#clock = clock;
  }

  get seq(): number {
    return this.#seq;
  }

  emit<K extends EventType>(type: K, data: EventMap[K]): void {
    if (this.#closed) return;
    this.#seq += 1;
    const event = { seq: this.#seq, at: this.#clock.now(), session: this.#session, ...this.place, type, data } as CastEvent;
    this.#backlog.push(event);
    // Trimmed in bulk: dropping one at a time would move the whole array for each token.
    if (this.#backlog.length > LIMITS.eventBacklog * 1.25) this.#backlog.splice(0, this.#backlog.length - LIMITS.eventBacklog);
    this.#outbox.push(event);
    if (this.#isDelivering) return;
    // A listener may emit; what it says is delivered behind what it heard, to everybody in the same order.
    this.#isDelivering = true;
    try {
      for (let next = this.#outbox.shift(); next; next = this.#outbox.shift()) for (const listener of this.#listeners) listener(next);
    } finally {
      this.#isDelivering = false;
    }
  }

  /** Called at once, in the emitter's own time: for the kernel and for plugins, which cannot hold anything up by it. */
  on<K extends EventType>(type: K, run: (data: EventMap[K]) => void): Disposable {
    const listener: Listener = (event) => {
      if (event.type === type) run(event.data as EventMap[K]);
    };
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  /** Events after `since` that are still kept, then as they come. Ends when the stream closes or the signal aborts. */
  async *read(since = 0, signal?: AbortSignal): AsyncGenerator<CastEvent, void> {
    const pending: CastEvent[] = this.#backlog.filter((event) => event.seq > since);
    let wake: (() => void) | undefined;
    let taken = pending.at(-1)?.seq ?? since;
    const listener: Listener = (event) => {
      // It may stand in the backlog and be on its way as well.
      if (event.seq <= taken) return;
      taken = event.seq;
      const last = pending.at(-1);
      // Merging changes the last, untaken event into a newer one: the reader sees the same text in fewer pieces.
      if (last && last.type === event.type && MERGED.has(event.type) && pending.length > 64) pending[pending.length - 1] = mergeDeltas(last, event);
      else pending.push(event);
      wake?.();
    };
    const onAbort = (): void => wake?.();
    this.#listeners.add(listener);
    this.#wakers.add(onAbort);
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      while (!signal?.aborted) {
        for (let batch = pending.splice(0); batch.length > 0; batch = pending.splice(0)) yield* batch;
        if (this.#closed || signal?.aborted) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (pending.length > 0 || this.#closed) resolve();
        });
      }
    } finally {
      this.#listeners.delete(listener);
      this.#wakers.delete(onAbort);
      signal?.removeEventListener('abort', onAbort);
    }
  }
  readonly #wakers = new Set<() => void>();

  close(): void {
    this.#closed = true;
    for (const wake of this.#wakers) wake();
  }
}

const mergeDeltas = (first: CastEvent, next: CastEvent): CastEvent => {
  const text = (first.data as { text: string }).text + (next.data as { text: string }).text;
  return { ...next, data: { text } } as CastEvent;
};
