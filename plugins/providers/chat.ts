/** A provider that speaks Chat Completions. */
import { type Clock, type Delta, isProviderError, type ModelRequest, type Provider, type ProviderConfig, ProviderError } from '../../kernel/index.ts';
import { type ChatBody, chatBody } from './chat-request.ts';
import { ChatStream } from './chat-stream.ts';
import { bytesOf, HttpError, postChat } from './client.ts';
import { classifyConnection, classifyRefusal, notAReply, type Place } from './failures.ts';
import { learn, NO_QUIRKS, type Quirks } from './quirks.ts';
import { type SseEvent, SseReader } from './sse.ts';
import { type Limits, startWatch, type Watch } from './timeouts.ts';

const DEFAULT_KEY = 'CAST_API_KEY';
const DEFAULT_BASE_URL = 'https://api.openai.com/v1';
/** A changed request is sent at most twice for one refusal after another. */
const MAX_CHANGES = 2;
/** Milliseconds to read on behind the end mark. */
const DRAIN_MS = 200;

export interface ChatParts {
  readonly name: string;
  readonly config: ProviderConfig;
  readonly fetch: typeof fetch;
  /** The key of a name; undefined where none is set, as for a server of one's own. */
  readonly secret: (name: string) => Promise<string | undefined>;
  readonly clock: Clock;
  readonly options: Limits;
  /** Sent as the user agent. */
  readonly version: string;
  /** What was learnt about hosts, by base URL. */
  readonly learnt: Map<string, Quirks>;
}

export const createChatProvider = (parts: ChatParts): Provider => ({
  name: parts.name,
  stream: (request, signal) => streamChat(parts, request, signal),
});

/** One generator for all of it: each one more would cost several promises for every part of the reply. */
async function* streamChat(parts: ChatParts, request: ModelRequest, signal: AbortSignal): AsyncGenerator<Delta> {
  const target = await aim(parts, request);
  const watch = startWatch(parts.clock, parts.options, target.place.host, signal);
  const stream = new ChatStream({ model: request.model, fail: (body) => failureInside(body, target.place) });
  let chunks: AsyncIterator<Uint8Array> | undefined;
  try {
    chunks = bytesOf(await send(parts, target, request, watch.signal))[Symbol.asyncIterator]();
    const reader = new SseReader();
    for (let isOver = false; !isOver; ) {
      const next = await nextOf(chunks, target.place);
      for (const delta of deltasIn(next.done ? reader.end() : reader.push(next.value), stream, watch)) yield delta;
      isOver = next.done === true || stream.done;
    }
  } catch (error) {
    const failure = watch.signal.aborted ? watch.signal.reason : error;
    if (!stream.complete || !isLateBreak(failure)) throw failure;
  } finally {
    void release(chunks, stream.done, parts.clock).finally(() => watch.stop());
  }
  for (const delta of stream.finish()) yield delta;
}

// ---- sending ----

interface Target {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly place: Place;
}

const aim = async ({ name, config, secret, version, clock }: ChatParts, { model }: ModelRequest): Promise<Target> => {
  const baseUrl = (config.baseUrl ?? DEFAULT_BASE_URL).replace(/\/+$/, '').replace(/\/chat\/completions$/, '');
  const keyName = config.key ?? DEFAULT_KEY;
  const key = (await secret(keyName))?.trim() || undefined;
  if (!URL.canParse(baseUrl)) {
    throw new ProviderError('bad_request', `providers.${name}.baseUrl is no address: ${baseUrl}`, {
      fix: 'Give an address such as https://api.openai.com/v1.',
    });
  }
  const own = Object.entries(config.headers ?? {}).map(([header, value]) => [header.toLowerCase(), value] as const);
  const headers = {
    accept: 'text/event-stream, application/json',
    'content-type': 'application/json',
    'user-agent': `cast/${version}`,
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    ...Object.fromEntries(own.filter(([header]) => header !== 'content-length' && header !== 'host')),
  };
  return { baseUrl, headers, place: { host: new URL(baseUrl).host, keyName, key, model, now: () => clock.now() } };
};

/** Sends, and once more in another form where a refusal says what the host wants otherwise. */
const send = async (parts: ChatParts, target: Target, request: ModelRequest, signal: AbortSignal): Promise<Response> => {
  const { baseUrl, headers } = target;
  let body: ChatBody = chatBody(request, parts.name, quirksOf(parts, baseUrl));
  for (let change = 0; ; change++) {
    try {
      return await postChat({ baseUrl, headers, body, fetch: parts.fetch, signal });
    } catch (error) {
      if (!(error instanceof HttpError)) throw classifyConnection(error, target.place);
      const known = quirksOf(parts, baseUrl);
      const quirks = learn(known, error.status, error.body);
      const changed = chatBody(request, parts.name, quirks);
      const isSame = quirks === known || JSON.stringify(changed) === JSON.stringify(body);
      if (isSame || change === MAX_CHANGES) throw classifyRefusal(error, target.place);
      parts.learnt.set(baseUrl, quirks);
      body = changed;
    }
  }
};
const quirksOf = (parts: ChatParts, baseUrl: string): Quirks => parts.learnt.get(baseUrl) ?? NO_QUIRKS;

// ---- reading ----

const nextOf = (chunks: AsyncIterator<Uint8Array>, place: Place): Promise<IteratorResult<Uint8Array>> =>
  chunks.next().catch((error: unknown) => {
    throw classifyConnection(error, place);
  });

function* deltasIn(events: Iterable<SseEvent>, stream: ChatStream, watch: Watch): Generator<Delta> {
  for (const event of events) {
    yield* stream.push(event);
    watch.heard(stream.complete ? 'after' : stream.began ? 'between' : 'first');
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
