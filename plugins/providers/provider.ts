/** A provider of the configuration: sends a request in its wire format and yields what comes back. */
import { type Clock, type Delta, isProviderError, type ModelRequest, type Provider, type ProviderError } from '../../kernel/index.ts';
import { classifyConnection, classifyRefusal, notAReply, type Place } from './failures/classify.ts';
import { bytesOf } from './post.ts';
import { send, type SendParts } from './send.ts';
import { type SseEvent, SseReader } from './stream/sse.ts';
import { type Limits, startWatch, type Watch } from './stream/timeouts.ts';
import { aim, type TargetParts } from './target.ts';
import type { ReplyReader } from './wire.ts';

/** Milliseconds to read on behind the end mark. */
const DRAIN_MS = 200;

export interface ProviderParts extends Omit<TargetParts, 'now'>, SendParts {
  readonly options: Limits;
}

export const createProvider = (parts: ProviderParts): Provider => ({
  name: parts.name,
  stream: (request, signal) => streamReply(parts, request, signal),
});

/** One generator for all of it: each one more would cost several promises for every part of the reply. */
async function* streamReply(parts: ProviderParts, request: ModelRequest, signal: AbortSignal): AsyncGenerator<Delta> {
  const target = await aim({ ...parts, now: () => parts.clock.now() });
  const place = { ...target.place, model: request.model };
  const watch = startWatch(parts.clock, parts.options, place.host, signal);
  const reply = parts.wire.reader({ request, host: target.hostname, fail: (body) => failureInside(body, place) });
  let chunks: AsyncIterator<Uint8Array> | undefined;
  try {
    chunks = bytesOf(await send(parts, target, request, watch.signal))[Symbol.asyncIterator]();
    const events = new SseReader();
    for (let isOver = false; !isOver; ) {
      const next = await nextOf(chunks, place);
      for (const delta of deltasIn(next.done ? events.end() : events.push(next.value), reply, watch)) yield delta;
      isOver = next.done === true || reply.done;
    }
  } catch (error) {
    const failure = watch.signal.aborted ? watch.signal.reason : error;
    if (!reply.complete || !isLateBreak(failure)) throw failure;
  } finally {
    void release(chunks, reply.done, parts.clock).finally(() => watch.stop());
  }
  for (const delta of reply.finish()) yield delta;
}

// ---- reading ----

const nextOf = (chunks: AsyncIterator<Uint8Array>, place: Place): Promise<IteratorResult<Uint8Array>> =>
  chunks.next().catch((error: unknown) => {
    throw classifyConnection(error, place);
  });

/** What came together is handed over together: whoever takes the deltas pays for each of them. */
function* deltasIn(events: readonly SseEvent[], reply: ReplyReader, watch: Watch): Generator<Delta> {
  const deltas: Delta[] = [];
  try {
    for (const event of events) for (const delta of reply.push(event)) join(deltas, delta);
    if (events.length > 0) watch.heard(reply.complete ? 'after' : reply.began ? 'between' : 'first', deltas.length > 0);
  } finally {
    // Before a failure as well.
    yield* deltas;
  }
}

const join = (deltas: Delta[], next: Delta): void => {
  const last = deltas.at(-1);
  const isMore = last !== undefined && isText(last) && isText(next) && last.type === next.type;
  if (isMore) deltas[deltas.length - 1] = { type: last.type, text: last.text + next.text };
  else deltas.push(next);
};
const isText = (delta: Delta): delta is Extract<Delta, { type: 'text' | 'reasoning' }> => delta.type === 'text' || delta.type === 'reasoning';

/** Behind the end mark it reads on for a moment, so that the connection can be used again. */
const release = async (chunks: AsyncIterator<Uint8Array> | undefined, isDone: boolean, clock: Clock): Promise<void> => {
  if (chunks && isDone) {
    const over = new AbortController();
    const drained = chunks.next().finally(() => over.abort(null));
    await Promise.race([drained, clock.sleep(DRAIN_MS, over.signal)]).catch(() => {});
  }
  // Not waited for: a body that broke may not answer.
  void chunks?.return?.().catch(() => {});
};

// ---- what went wrong ----

const failureInside = (body: unknown, place: Place): ProviderError =>
  typeof body === 'string' ? notAReply(body, place) : classifyRefusal({ status: 200, body }, place);

/** What breaks or stays away behind the end of a reply takes nothing from it. */
const isLateBreak = (failure: unknown): boolean => isProviderError(failure) && (failure.kind === 'network' || failure.kind === 'stall');
