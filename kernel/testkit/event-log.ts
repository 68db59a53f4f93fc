import type { Client } from '../contracts/client.ts';
import type { CastEvent, EventMap, EventType } from '../events.ts';
import type { FieldValues } from '../hooks/subjects.ts';

export interface EventLog {
  readonly all: readonly CastEvent[];
  /** Resolves when the session has closed. */
  readonly ended: Promise<void>;
  of<K extends EventType>(type: K): readonly EventMap[K][];
  /** Resolves with the next event of a type that fits. */
  until<K extends EventType>(type: K, fits?: (data: EventMap[K]) => boolean): Promise<EventMap[K]>;
}

/** Keeps every event of a session, and answers its questions. */
export const followEvents = (
  client: Client,
  answer: ((question: EventMap['question.asked']['question']) => string | FieldValues | undefined) | undefined,
): EventLog => {
  const all: CastEvent[] = [];
  const watchers = new Set<(event: CastEvent) => void>();
  const take = async (event: CastEvent): Promise<void> => {
    all.push(event);
    for (const watcher of watchers) watcher(event);
    if (event.type !== 'question.asked') return;
    const choice = answer?.(event.data.question);
    if (choice !== undefined) await client.answer(event.data.question.id, choice);
  };
  const ended = (async () => {
    for await (const event of client.events()) await take(event);
  })();
  return {
    all,
    ended,
    of: (type) => all.flatMap((event) => (event.type === type ? [event.data as never] : [])),
    until: (type, fits = () => true) =>
      new Promise((resolve) => {
        const watcher = (event: CastEvent): void => {
          if (event.type !== type || !fits(event.data as never)) return;
          watchers.delete(watcher);
          resolve(event.data as never);
        };
        watchers.add(watcher);
      }),
  };
};
