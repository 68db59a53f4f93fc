/** A Chat Completions server on loopback that sends frames as they are given, and refuses histories that strict providers refuse. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SentMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string; readonly arguments: string } }[];
  readonly reasoning_content?: string;
}
export interface Asked {
  readonly path: string;
  readonly body: { readonly model: string; readonly messages: readonly SentMessage[] } & Readonly<Record<string, unknown>>;
  readonly bytes: number;
  /** Milliseconds since the server started. */
  readonly at: number;
}
export type Play = (reply: ServerResponse, asked: Asked, request: IncomingMessage) => unknown;

export interface StrictServer {
  readonly url: string;
  readonly asked: readonly Asked[];
  close(): Promise<void>;
}

/** Plays in order, the last one again and again. `check` says why a request is refused. */
export const startStrictServer = async (plays: readonly Play[], check?: (asked: Asked) => string | undefined): Promise<StrictServer> => {
  const asked: Asked[] = [];
  const startedAt = performance.now();
  const server = createServer((request, reply) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks);
      if (request.method !== 'POST') return refuse(404, 'there is nothing here')(reply);
      const each = { path: request.url ?? '', body: JSON.parse(text.toString('utf8')) as Asked['body'], bytes: text.length, at: performance.now() - startedAt };
      asked.push(each);
      const fault = faultIn(each.body.messages) ?? check?.(each);
      if (fault !== undefined) return refuse(400, fault)(reply);
      plays[Math.min(asked.length, plays.length) - 1]?.(reply, each, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
};

/** What a strict provider would say about a history; undefined when it would take it. */
const faultIn = (messages: readonly SentMessage[]): string | undefined => {
  const ids = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const fault = message.role === 'assistant' ? replyFault(message, messages.slice(index + 1), ids) : undefined;
    if (fault !== undefined) return fault;
    if (message.role === 'tool' && !ids.has(message.tool_call_id ?? '')) return `messages.${index} answers no call`;
  }
  return undefined;
};
const replyFault = ({ content, tool_calls: calls = [] }: SentMessage, later: readonly SentMessage[], ids: Set<string>): string | undefined => {
  if (calls.length === 0 && !content) return 'a reply is empty';
  for (const [place, call] of calls.entries()) {
    if (ids.has(call.id)) return `the call id ${call.id} occurs twice`;
    ids.add(call.id);
    if (!isObject(call.function.arguments)) return `the arguments of ${call.id} are no JSON object`;
    if (later[place]?.role !== 'tool' || later[place].tool_call_id !== call.id) return `the call ${call.id} has no result right behind it`;
  }
  return undefined;
};
const isObject = (text: string): boolean => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
};

// ---- what is played ----

export const frame = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
export const delta = (fields: unknown, finish: string | null = null): string => frame({ choices: [{ index: 0, delta: fields, finish_reason: finish }] });
export const DONE = 'data: [DONE]\n\n';
export const STOP = delta({}, 'stop') + DONE;
export const CALLS = delta({}, 'tool_calls') + DONE;

export const begin = (reply: ServerResponse): ServerResponse => {
  reply.writeHead(200, { 'content-type': 'text/event-stream' });
  reply.flushHeaders();
  return reply;
};
/** These frames at once, and the end. */
export const send =
  (...frames: readonly string[]): Play =>
  (reply) =>
    begin(reply).end(frames.join(''));
export const answer = (text: string): Play => send(delta({ content: text }), STOP);
export const toolCall = (id: string, name: string, input: unknown, index = 0): object => ({
  index,
  id,
  type: 'function',
  function: { name, arguments: typeof input === 'string' ? input : JSON.stringify(input) },
});
export const refuse =
  (status: number, message: string, headers: Readonly<Record<string, string>> = {}): ((reply: ServerResponse) => unknown) =>
  (reply) =>
    reply.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify({ error: { message } }));
