/** Runs a provider on bodies and servers of a test, and gathers what it yields. */
import type { Clock, Delta, Message, ModelRequest, Provider, ProviderConfig } from '../../../kernel/index.ts';
import { createFetch } from '../../../kernel/host/fetch.ts';
import { createProvider } from '../../../plugins/providers/provider.ts';
import { chatWire } from '../../../plugins/providers/chat/wire.ts';
import { dialectOf } from '../../../plugins/providers/dialects/dialect.ts';
import { type Learnt, NO_QUIRKS } from '../../../plugins/providers/quirks.ts';
import type { HostTraits, Wire } from '../../../plugins/providers/wire.ts';

export const clock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const timer = setTimeout(resolve, ms);
      signal?.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
    }),
};

export interface ProviderSetup {
  readonly name?: string;
  readonly config?: ProviderConfig;
  /** Default: Chat Completions. */
  readonly wire?: Wire;
  readonly fetch?: typeof fetch;
  readonly key?: string;
  readonly firstTokenMs?: number;
  readonly idleMs?: number;
  readonly learnt?: Learnt;
  readonly outputCaps?: Map<string, number>;
}
export const chatProvider = ({ name = 'test', config = {}, wire = chatWire, key, ...setup }: ProviderSetup): Provider =>
  createProvider({
    name,
    config,
    wire,
    fetch: setup.fetch ?? createFetch({}),
    secret: async () => key,
    clock,
    options: { firstTokenMs: setup.firstTokenMs ?? 20_000, idleMs: setup.idleMs ?? 20_000 },
    version: '0.0.0',
    learnt: setup.learnt ?? new Map(),
    outputCaps: setup.outputCaps ?? new Map(),
  });

export const request = (changes: Partial<ModelRequest> = {}): ModelRequest => ({
  purpose: 'main',
  session: 's1',
  provider: 'test',
  model: 'a-model',
  system: '',
  messages: [user('hello')],
  tools: [],
  ...changes,
});
/** Of a host of which nothing is known. */
export const traits = ({
  baseUrl = 'http://127.0.0.1/v1',
  model = 'a-model',
  ...changes
}: Partial<HostTraits> & { baseUrl?: string; model?: string } = {}): HostTraits => ({
  provider: 'p',
  dialect: dialectOf(baseUrl, model, changes.settings?.dialect),
  info: undefined,
  quirks: NO_QUIRKS,
  settings: {},
  ...changes,
});
export const user = (text: string): Message => ({ role: 'user', origin: 'user', blocks: [{ type: 'text', text }] });

/** A `fetch` that answers with a body in these pieces. */
export const answering = (pieces: readonly Uint8Array[], headers: Record<string, string> = { 'content-type': 'text/event-stream' }): typeof fetch => {
  const answer = async () =>
    new Response(
      new ReadableStream({
        start(to) {
          for (const piece of pieces) to.enqueue(piece);
          to.close();
        },
      }),
      { headers },
    );
  return answer as typeof fetch;
};

export interface Gathered {
  readonly deltas: readonly Delta[];
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly Extract<Delta, { type: 'call' }>[];
  readonly usage: Extract<Delta, { type: 'usage' }> | undefined;
  readonly item: unknown;
  readonly end: string | undefined;
  readonly error: unknown;
}
export const gather = async (stream: AsyncIterable<Delta>): Promise<Gathered> => {
  const deltas: Delta[] = [];
  let error: unknown;
  try {
    for await (const delta of stream) deltas.push(delta);
  } catch (thrown) {
    error = thrown;
  }
  const texts = (type: 'text' | 'reasoning') => deltas.map((delta) => (delta.type === type ? delta.text : '')).join('');
  return {
    deltas,
    text: texts('text'),
    reasoning: texts('reasoning'),
    calls: deltas.filter((delta) => delta.type === 'call'),
    usage: deltas.findLast((delta) => delta.type === 'usage'),
    item: deltas.find((delta) => delta.type === 'item')?.data,
    end: deltas.find((delta) => delta.type === 'end')?.reason,
    error,
  };
};
export const readPieces = (pieces: readonly Uint8Array[], wire?: Wire): Promise<Gathered> =>
  gather(chatProvider({ fetch: answering(pieces), ...(wire ? { wire } : {}) }).stream(request(), new AbortController().signal));
/** Data of events, each an object or a text. */
export const readEvents = (...events: readonly unknown[]): Promise<Gathered> => readPieces([streamOf(events)]);
export const streamOf = (events: readonly unknown[]): Uint8Array =>
  Buffer.from(events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join(''));
