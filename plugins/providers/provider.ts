/** A provider of the configuration: sends a request in its wire format and yields what comes back. */
import {
  type Clock,
  type Delta,
  isProviderError,
  type ModelInfo,
  type ModelRequest,
  type Provider,
  type ProviderConfig,
  type ProviderError,
} from '../../kernel/index.ts';
import { classifyConnection, classifyRefusal, notAReply, type Place } from './failures/classify.ts';
import { bytesOf, HttpError, post } from './post.ts';
import { dialectOf } from './dialects/dialect.ts';
import { learn, type Learnt, leaveOut, type Quirks, quirksOf, remember } from './quirks.ts';
import { type SseEvent, SseReader } from './stream/sse.ts';
import { type Limits, startWatch, type Watch } from './stream/timeouts.ts';
import { aim, type Target, type TargetParts } from './target.ts';
import type { ReplyReader, Wire } from './wire.ts';

/** How often a request is changed and sent again, for one refusal after another. */
const MAX_CHANGES = 4;
/** Milliseconds to read on behind the end mark. */
const DRAIN_MS = 200;

export interface ProviderParts extends Omit<TargetParts, 'now'> {
  readonly wire: Wire;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly options: Limits;
  /** What was learnt about the models of hosts. */
  readonly learnt: Learnt;
  /** What is known of a model. */
  readonly info?: (model: string) => ModelInfo | undefined;
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
  const reply = parts.wire.reader({ request, fail: (body) => failureInside(body, place) });
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

// ---- sending ----

/** Sends, and once more in another form where a refusal says what the host wants otherwise. */
const send = async (parts: ProviderParts, target: Target, request: ModelRequest, signal: AbortSignal): Promise<Response> => {
  const { wire, fetch, learnt } = parts;
  const { baseUrl, address, headers } = target;
  const place = { ...target.place, model: request.model };
  const bodyFor = bodies(parts, baseUrl, request);
  const known = quirksOf(learnt, baseUrl, request.model);
  let quirks = known;
  let body = bodyFor(known);
  for (let change = 0; ; change++) {
    try {
      const answer = await post({ wire, address, headers, body, fetch, signal });
      // Only now it is sure that the refusal was read rightly.
      if (quirks !== known) remember(learnt, baseUrl, request.model, quirks);
      return answer;
    } catch (error) {
      if (!(error instanceof HttpError)) throw isProviderError(error) ? error : classifyConnection(error, place);
      const learned = learn(quirks, error.status, error.body, body);
      const changed = bodyFor(learned);
      const isSame = learned === quirks || JSON.stringify(changed) === JSON.stringify(body);
      if (isSame || change === MAX_CHANGES) throw classifyRefusal(error, place);
      quirks = learned;
      body = changed;
    }
  }
};

const bodies = ({ wire, name, config, info }: ProviderParts, baseUrl: string, request: ModelRequest): ((quirks: Quirks) => object) => {
  const { model } = request;
  const traits = { provider: name, dialect: dialectOf(baseUrl, model, config.dialect), info: info?.(model) ?? configured(config, model), settings: config };
  return (quirks) => leaveOut(wire.body(request, { ...traits, quirks }), quirks.without);
};
const configured = ({ models = {} }: ProviderConfig, model: string): ModelInfo | undefined =>
  Object.hasOwn(models, model) ? { id: model, ...models[model] } : undefined;

// ---- reading ----

const nextOf = (chunks: AsyncIterator<Uint8Array>, place: Place): Promise<IteratorResult<Uint8Array>> =>
  chunks.next().catch((error: unknown) => {
    throw classifyConnection(error, place);
  });

function* deltasIn(events: Iterable<SseEvent>, reply: ReplyReader, watch: Watch): Generator<Delta> {
  for (const event of events) {
    yield* reply.push(event);
    watch.heard(reply.complete ? 'after' : reply.began ? 'between' : 'first');
  }
}

/** Behind the end mark it reads on for a moment, so that the connection can be used again. */
const release = async (chunks: AsyncIterator<Uint8Array> | undefined, isDone: boolean, clock: Clock): Promise<void> => {
  if (chunks && isDone) {
    const over = new AbortController();
    const drained = chunks.next().finally(() => over.abort());
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
