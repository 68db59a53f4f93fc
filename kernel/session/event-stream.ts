import type { CastEvent, EventMap, EventType } from '../events.ts';
import { LIMITS } from '../limits.ts';
import type { Clock } from '../plugin.ts';
import { EventReader } from './event-reader.ts';

type Listener = (event: CastEvent) => void;

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
  readonly #wakers = new Set<() => void>();
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
    return this.onAny((event) => {
      if (event.type === type) run(event.data as EventMap[K]);
    });
  }
  onAny(listener: (event: CastEvent) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  /** Events after `since` that are still kept, then as they come. Ends when the stream closes or the signal aborts. */
  async *read(since = 0, signal?: AbortSignal): AsyncGenerator<CastEvent, void> {
    const kept = this.#backlog.filter((event) => event.seq > since);
    const reader = new EventReader(kept, since);
    const take = (event: CastEvent): void => reader.take(event);
    const wake = (): void => reader.wake();
    this.#listeners.add(take);
    this.#wakers.add(wake);
    signal?.addEventListener('abort', wake, { once: true });
    try {
      while (!signal?.aborted) {
        yield* reader.all();
        if (this.#closed) return yield* reader.all();
        await reader.more(() => this.#closed || signal?.aborted === true);
      }
    } finally {
      this.#listeners.delete(take);
      this.#wakers.delete(wake);
      signal?.removeEventListener('abort', wake);
    }
  }

  close(): void {
    this.#closed = true;
    for (const wake of this.#wakers) wake();
  }
}
