/** Work in a session of its own: opened, given its prompt, watched, and closed when it has nothing left to do. */
import { setMaxListeners } from 'node:events';
import type { ChildEnd, ChildOrder } from '../contracts/powers.ts';
import type { Usage } from '../data.ts';
import { CastError } from '../errors.ts';
import type { CastEvent, EventMap } from '../events.ts';
import { runAsKernel } from '../hooks/running.ts';
import { LIMITS } from '../limits.ts';
import { rootOf, type Opener } from './opener.ts';
import type { Session } from './session.ts';
import { addUsage, NO_USAGE } from './tally.ts';

export const runChild = async (parent: Session, order: ChildOrder, signal: AbortSignal): Promise<ChildEnd> => {
  const opener = { session: parent, origin: originOf(parent, order) };
  const leave = await placesOf(parent).enter(signal);
  try {
    return await runAsKernel(() => work(opener, order, signal));
  } finally {
    leave();
  }
};

const originOf = (parent: Session, { label, data }: ChildOrder): Opener['origin'] => {
  const path = [...(parent.opener?.origin.path ?? []), label];
  if (path.length > LIMITS.childDepth)
    throw new CastError('CHILD_TOO_DEEP', `${path.join(' > ')}: child sessions go ${LIMITS.childDepth} deep at most`, { fix: 'Do this work here.' });
  const root = rootOf(parent);
  return { rootSession: root.id, rootTurn: root.turn, path, ...(data === undefined ? {} : { data }) };
};

const work = async (opener: Opener, order: ChildOrder, signal: AbortSignal): Promise<ChildEnd> => {
  const child = await opener.session.openChild(opener, wishesOf(opener.session, order));
  const stop = (): void => child.abort(signal.reason as Error);
  const watched = watch(child, opener.session, order);
  try {
    signal.throwIfAborted();
    signal.addEventListener('abort', stop, { once: true });
    child.turns.submit({ text: order.prompt, source: 'plugin', origin: 'user' });
    return await watched.end;
  } finally {
    signal.removeEventListener('abort', stop);
    watched[Symbol.dispose]();
    await child.close('its work is over');
  }
};

const wishesOf = (parent: Session, { model, maxSteps }: ChildOrder) => ({
  ...(model === undefined ? {} : { models: { subagent: model } }),
  ...(maxSteps === undefined ? {} : { limits: { maxSteps: Math.max(1, Math.min(maxSteps, parent.limits.steps)) } }),
});

/** Counts its usage here as well, and knows how it ended. */
const watch = (child: Session, parent: Session, order: ChildOrder): Disposable & { readonly end: Promise<ChildEnd> } => {
  let usage = NO_USAGE;
  let text = '';
  let error: EventMap['error'] | undefined;
  let done: (end: ChildEnd) => void;
  const end = new Promise<ChildEnd>((resolve) => {
    done = resolve;
  });
  const hear = (event: CastEvent): void => {
    if (event.type === 'usage') usage = addUsage(usage, count(event.data, child.id, parent));
    if (event.type === 'error') error = event.data;
    if ((event.type === 'reply.accepted' || event.type === 'reply.partial') && event.data.visible.trim() !== '') text = event.data.visible;
    // With more queued behind it, the next turn has begun.
    if (event.type === 'turn.ended' && !child.isRunning) done(endOf(child.id, event.data.reason, { text, usage, error }));
    order.watch?.(event);
  };
  const listening = child.events.onAny(hear);
  return { end, [Symbol.dispose]: () => listening[Symbol.dispose]() };
};

const count = (told: EventMap['usage'], child: string, parent: Session): Usage => {
  parent.used({ ...told, child });
  return told.usage;
};

interface Heard {
  readonly text: string;
  readonly usage: Usage;
  readonly error: EventMap['error'] | undefined;
}
const SILENT = { code: 'EMPTY_REPLY', message: 'it ended without a word' };
const endOf = (session: string, reason: ChildEnd['reason'], { text, usage, error }: Heard): ChildEnd => {
  const end = { session, reason, text, usage };
  if (error && reason !== 'stop') {
    const { code, message, suggestedFix } = error;
    return { ...end, error: { code, message, ...(suggestedFix === undefined ? {} : { suggestedFix }) } };
  }
  return reason === 'stop' && text === '' ? { ...end, error: SILENT } : end;
};

/** Places of one session: who finds none free waits for one, in the order of coming. */
class Places {
  #free: number = LIMITS.children;
  readonly #waiting: (() => void)[] = [];

  /** Answers how to leave it again. Rejects with the signal's reason. */
  async enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#turn(signal);
    return () => this.#pass();
  }
  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const given = (): void => {
        signal.removeEventListener('abort', gone);
        resolve();
      };
      const gone = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(given), 1);
        reject(signal.reason as Error);
      };
      setMaxListeners(0, signal);
      signal.addEventListener('abort', gone, { once: true });
      this.#waiting.push(given);
    });
  }
  #pass(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free += 1;
  }
}
const places = new WeakMap<Session, Places>();
const placesOf = (session: Session): Places => {
  const known = places.get(session) ?? new Places();
  places.set(session, known);
  return known;
};
