import type { CastEvent, EventType } from '../events.ts';

const MERGED: ReadonlySet<EventType> = new Set(['text.delta', 'reasoning.delta']);
/** Events that may wait before deltas are merged. */
const PATIENCE = 64;

/** What one reader has not taken yet. */
export class EventReader {
  readonly #pending: CastEvent[];
  #newest: number;
  #resolve: (() => void) | undefined;

  constructor(kept: readonly CastEvent[], since: number) {
    this.#pending = [...kept];
    this.#newest = kept.at(-1)?.seq ?? since;
  }
  take(event: CastEvent): void {
    // It may have been kept already and be on its way as well.
    if (event.seq <= this.#newest) return;
    this.#newest = event.seq;
    const last = this.#pending.at(-1);
    // The last, untaken delta becomes a newer one: the reader gets the same text in fewer pieces.
    const isMerged = last?.type === event.type && MERGED.has(event.type) && this.#pending.length > PATIENCE;
    if (last && isMerged) this.#pending[this.#pending.length - 1] = merged(last, event);
    else this.#pending.push(event);
    this.wake();
  }
  wake(): void {
    this.#resolve?.();
  }
  *all(): Generator<CastEvent, void> {
    for (let batch = this.#pending.splice(0); batch.length > 0; batch = this.#pending.splice(0)) yield* batch;
  }
  /** Resolves when there is something to take, or when it is over. */
  async more(isOver: () => boolean): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#resolve = resolve;
      if (this.#pending.length > 0 || isOver()) resolve();
    });
  }
}

const merged = (first: CastEvent, next: CastEvent): CastEvent => {
  const text = (first.data as { text: string }).text + (next.data as { text: string }).text;
  return { ...next, data: { text } } as CastEvent;
};
