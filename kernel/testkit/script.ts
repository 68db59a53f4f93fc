/** A provider that plays beats: what a model would say, request by request. */
import type { Delta, ModelRequest, Provider } from '../data.ts';
import { ProviderError, type ProviderErrorOptions, type ProviderFailure } from '../errors.ts';

/** One reply: deltas, or a function that makes them from the request. */
export type Beat = (request: ModelRequest, signal: AbortSignal) => AsyncIterable<Delta> | Iterable<Delta>;

const USAGE: Delta = { type: 'usage', promptTokens: 100, completionTokens: 10, totalTokens: 110 };

/** Visible text in one or more pieces. */
export const say = (...parts: readonly string[]): Beat =>
  function* () {
    for (const text of parts) yield { type: 'text', text };
    yield USAGE;
    yield { type: 'end', reason: 'stop' };
  };
/** Reasoning, then text. */
export const think = (reasoning: string, text: string): Beat =>
  function* () {
    yield { type: 'reasoning', text: reasoning };
    yield* say(text)(undefined as never, undefined as never) as Iterable<Delta>;
  };
type CallSpec = readonly [tool: string, input?: unknown, id?: string];
/** Calls: `use('read', { path })` or `use(['read', { path }], ['bash', { command }])`. Arguments may be a raw text. */
export function use(tool: string, input?: unknown): Beat;
export function use(...calls: readonly CallSpec[]): Beat;
export function use(...given: readonly unknown[]): Beat {
  const calls = typeof given[0] === 'string' ? [given as unknown as CallSpec] : (given as readonly CallSpec[]);
  return function* () {
    for (const [index, [tool, input, id]] of calls.entries())
      yield { type: 'call', id: id ?? `call_${index}`, tool, arguments: typeof input === 'string' ? input : JSON.stringify(input ?? {}) };
    yield USAGE;
    yield { type: 'end', reason: 'calls' };
  };
}
/** The provider fails; text that came before it counts as shown. */
export const fail = (kind: ProviderFailure, message: string = kind, options: ProviderErrorOptions & { readonly after?: string } = {}): Beat =>
  function* () {
    if (options.after !== undefined) yield { type: 'text', text: options.after };
    throw new ProviderError(kind, message, options);
  };
/** Never answers; ends when the turn is aborted. */
export const hang = (): Beat =>
  async function* (_, signal) {
    await new Promise((_resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    yield USAGE;
  };

export interface ScriptedProvider extends Provider {
  /** Every request so far. */
  readonly requests: readonly ModelRequest[];
}

/** Plays beats in order for main requests; other purposes get `aux`, or an empty text. Over the end of the script it fails. */
export const scriptedProvider = (beats: readonly Beat[], aux: Beat = say('')): ScriptedProvider => {
  const requests: ModelRequest[] = [];
  const left = [...beats];
  return {
    name: 'script',
    requests,
    async *stream(request, signal) {
      requests.push(request);
      const beat = request.purpose === 'main' ? left.shift() : aux;
      if (!beat) throw new ProviderError('bad_request', `the script has ended and request ${requests.length} was made`);
      for await (const delta of beat(request, signal)) {
        signal.throwIfAborted();
        yield delta;
      }
    },
  };
};
