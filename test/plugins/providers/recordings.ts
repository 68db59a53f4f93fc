/** Recorded streams, where they are at hand, and reading of bytes without a provider around it. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Delta, isProviderError } from '../../../kernel/index.ts';
import { chatWire } from '../../../plugins/providers/chat/wire.ts';
import { classifyRefusal } from '../../../plugins/providers/failures/classify.ts';
import { responsesWire } from '../../../plugins/providers/responses/wire.ts';
import { SseReader } from '../../../plugins/providers/stream/sse.ts';
import type { Wire } from '../../../plugins/providers/wire.ts';
import { request } from './replies.ts';

const FOLDER = fileURLToPath(new URL('../../../../shared/fixtures/streams/', import.meta.url));

export interface Expected {
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly { readonly id: string | null; readonly name: string; readonly arguments: unknown }[];
  readonly finishReason: string | null;
  readonly usage: Readonly<Record<'prompt' | 'completion' | 'total' | 'cacheRead' | 'reasoning', number | null>>;
  readonly error: object | null;
  readonly truncated: boolean;
}
export interface Recording {
  /** With its format: `chat/NAME`. */
  readonly name: string;
  readonly wire: Wire;
  readonly body: Buffer;
  /** As it came, cut where that matters. */
  readonly pieces: readonly Uint8Array[];
  readonly expected: Expected;
}

const WIRES: Readonly<Record<string, Wire>> = { chat: chatWire, responses: responsesWire };
const json = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));

/** Empty where the recordings are not at hand. */
export const recordings = (): readonly Recording[] =>
  Object.entries(WIRES).flatMap(([api, wire]) => {
    const folder = `${FOLDER}${api}/`;
    const names = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.sse')) : [];
    return names.map((file) => {
      const path = `${folder}${file.slice(0, -4)}`;
      const body = readFileSync(`${path}.sse`);
      const splits = `${path}.splits.json`;
      const { offsets } = existsSync(splits) ? (json(splits) as { offsets: readonly number[] }) : { offsets: [] };
      return { name: `${api}/${file.slice(0, -4)}`, wire, body, pieces: cut(body, offsets), expected: json(`${path}.expected.json`) as Expected };
    });
  });

export const cut = (body: Uint8Array, offsets: readonly number[]): readonly Uint8Array[] =>
  [0, ...offsets].map((offset, index) => body.subarray(offset, offsets[index] ?? body.length));

/** What a reply comes to, however it was cut: neighbouring texts put together, an error as what it says. */
export const merged = (wire: Wire, pieces: Iterable<Uint8Array>): readonly unknown[] => {
  const place = { host: 'host', keyName: 'KEY', key: undefined, model: 'a-model', now: () => 0 };
  const reply = wire.reader({ request: request(), fail: (body) => classifyRefusal({ status: 200, body }, place) });
  const events = new SseReader();
  const result: unknown[] = [];
  let open: { type: 'text' | 'reasoning'; text: string } | undefined;
  const take = (delta: Delta): void => {
    if (delta.type !== 'text' && delta.type !== 'reasoning') {
      open = undefined;
      result.push(delta);
    } else if (open?.type === delta.type) open.text += delta.text;
    else {
      open = { type: delta.type, text: delta.text };
      result.push(open);
    }
  };
  try {
    for (const piece of pieces) for (const event of events.push(piece)) for (const delta of reply.push(event)) take(delta);
    for (const event of events.end()) for (const delta of reply.push(event)) take(delta);
    for (const delta of reply.finish()) take(delta);
  } catch (error) {
    if (!isProviderError(error)) throw error;
    result.push({ error: error.kind, message: error.message });
  }
  return result;
};

// ---- comparing with what was recorded ----

/** Long texts are recorded as a hash. */
export const same = (actual: string, expected: string): boolean => {
  const hash = /^sha256:([0-9a-f]{64}):\d+$/.exec(expected)?.[1];
  return hash === undefined ? actual.trim() === expected.trim() : createHash('sha256').update(actual).digest('hex') === hash;
};
const parsed = (text: unknown): unknown => {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
};
const isTree = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const sameValue = (actual: unknown, expected: unknown): boolean => {
  if (typeof actual === 'string' && typeof expected === 'string') return same(actual, expected);
  if (!isTree(actual) || !isTree(expected)) return actual === expected;
  const keys = Object.keys(expected);
  return keys.length === Object.keys(actual).length && keys.every((key) => sameValue(actual[key], expected[key]));
};
export const sameArguments = (actual: string, expected: unknown): boolean => {
  if (expected === '' || expected === null) return actual.trim() === '' || sameValue(parsed(actual), {});
  if (typeof expected === 'object') return sameValue(parsed(actual), expected);
  return actual.trim() === String(expected).trim() || parsed(actual) === expected;
};
