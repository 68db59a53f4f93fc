/** What a provider may have kept of the request before must be found again, byte for byte, at the start of the next one. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Block, Message, ToolCard } from '../../../kernel/index.ts';
import { chatWire } from '../../../plugins/providers/chat/wire.ts';
import type { Wire } from '../../../plugins/providers/wire.ts';
import { request, traits } from './replies.ts';

/** Each with the field that holds the conversation. */
const WIRES: Readonly<Record<string, { readonly wire: Wire; readonly history: string }>> = {
  chat: { wire: chatWire, history: 'messages' },
};
const HOSTS = ['http://127.0.0.1/v1', 'https://openrouter.ai/api/v1', 'https://api.openai.com/v1', 'https://api.deepseek.com', 'https://api.mistral.ai/v1'];
const TOOLS: readonly ToolCard[] = ['bash', 'read'].map((name) => ({ name, description: 'd', input: { type: 'object', properties: { cache_control: {} } } }));

// ---- conversations ----

const text = fc.string({ maxLength: 12, unit: 'grapheme' });
const image: Block = { type: 'image', image: { mediaType: 'image/png', data: 'AAAA' } };
const userStep = fc.tuple(text, fc.boolean(), fc.boolean()).map(([value, hasImage, isReminder]): Message[] => [
  {
    role: 'user',
    origin: 'user',
    blocks: [{ type: 'text', text: value }, ...(hasImage ? [image] : [])],
    ...(isReminder ? { reminder: true as const } : {}),
  },
]);
const call = fc.record({
  id: fc.constantFrom('', '0', 'call_1', 'functions.read:0', 'a b/ü'),
  tool: fc.constantFrom('bash', 'read', 'no such!'),
  args: fc.constantFrom('{"a": 1}', '', '["a"]', '{"a": b}', 'null'),
});
const item = fc.constantFrom<Block[]>(
  [],
  [{ type: 'item', provider: 'p', data: { model: 'a-model', reasoningField: 'reasoning_content' } }],
  [{ type: 'item', provider: 'p', data: { model: 'a-model', details: [{ type: 'reasoning.encrypted', data: 'x' }], extras: { 0: { s: 1 } } } }],
  [{ type: 'item', provider: 'other', data: { model: 'a-model' } }],
);
const replyStep = fc
  .record({
    reasoning: text,
    text,
    calls: fc.array(call, { maxLength: 3 }),
    item,
    hasImage: fc.boolean(),
    reversed: fc.boolean(),
    missing: fc.boolean(),
    raw: fc.boolean(),
  })
  .map(({ calls, reasoning, ...reply }): Message[] => {
    const results: Block[] = calls.map(({ id, tool }, place) => ({ type: 'result', id, tool, content: `r${place}`, status: 'ok' }));
    const shown = reply.missing ? results.slice(1) : results;
    const answer = [...(reply.reversed ? shown.toReversed() : shown), ...(reply.hasImage ? [image] : [])];
    const blocks: Block[] = [
      { type: 'reasoning', text: reasoning },
      { type: 'text', text: reply.text },
      ...calls.map((each): Block => ({ type: 'call', id: each.id, tool: each.tool, arguments: each.args })),
      ...reply.item,
    ];
    const message: Message = { role: 'assistant', origin: 'model', blocks, ...(reply.raw ? { raw: `<x>${reply.text}</x>` } : {}) };
    return calls.length === 0 ? [message] : [message, { role: 'tool', origin: 'kernel', blocks: answer }];
  });
const steps = fc.array(fc.oneof(userStep, replyStep), { minLength: 1, maxLength: 12 });

// ---- requests ----

/** A request is made behind the user's messages and behind results, never behind a reply that asked for nothing. */
const requestsOf = (conversation: readonly (readonly Message[])[]): readonly (readonly Message[])[] => {
  const all = conversation.flatMap((_step, index) => [conversation.slice(0, index + 1).flat()]);
  return all.filter((messages) => messages.at(-1)?.role !== 'assistant');
};
const resumed = (messages: readonly Message[]): readonly Message[] => JSON.parse(JSON.stringify(messages));
type Body = Readonly<Record<string, unknown>>;
const bodyOf = (wire: Wire, baseUrl: string, messages: readonly Message[], marks = true): Body => {
  const host = traits({ baseUrl });
  const quirks = marks ? host.quirks : { ...host.quirks, without: ['cache_control'] };
  return JSON.parse(
    JSON.stringify(wire.body(request({ system: 'Be kind.', tools: TOOLS, messages, reasoning: 'high', maxOutputTokens: 9 }), { ...host, quirks })),
  );
};

describe.each(Object.entries(WIRES))('%s', (_name, { wire, history }) => {
  test.each(HOSTS)('each request begins with the one before it (%s)', (baseUrl) => {
    fc.assert(
      fc.property(steps, (conversation) => {
        const bodies = requestsOf(conversation).map((messages) => bodyOf(wire, baseUrl, messages, false));
        bodies.slice(1).forEach((body, index) => {
          const { [history]: before, ...fields } = bodies[index] ?? {};
          const { [history]: now, ...others } = body;
          expect(JSON.stringify(now).startsWith(JSON.stringify(before).slice(0, -1))).toBe(true);
          expect(JSON.stringify(others)).toBe(JSON.stringify(fields));
        });
      }),
      { numRuns: 150 },
    );
  });

  test('a conversation that was stored and read again gives the same bytes', () => {
    fc.assert(
      fc.property(steps, (conversation) => {
        const messages = conversation.flat();
        expect(JSON.stringify(bodyOf(wire, HOSTS[1] ?? '', resumed(messages)))).toBe(JSON.stringify(bodyOf(wire, HOSTS[1] ?? '', messages)));
      }),
    );
  });

  test('marks change nothing but the shape of the text that they stand on', () => {
    const whole = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(whole);
      if (typeof value !== 'object' || value === null) return value;
      const { cache_control: mark, ...rest } = value as Record<string, unknown>;
      const isMark = JSON.stringify(mark) === '{"type":"ephemeral"}';
      return Object.fromEntries(Object.entries(isMark ? rest : value).map(([key, inner]) => [key, whole(key === 'content' ? asText(inner) : inner)]));
    };
    const asText = (content: unknown): unknown => {
      const [part, more] = Array.isArray(content) ? (content as readonly { type: string; text: string }[]) : [];
      return more === undefined && part?.type === 'text' ? part.text : content;
    };
    fc.assert(
      fc.property(steps, (conversation) => {
        const messages = conversation.flat();
        const [marked, plain] = [true, false].map((marks) => bodyOf(wire, HOSTS[1] ?? '', messages, marks));
        expect(whole(marked)).toEqual(whole(plain));
        expect(JSON.stringify(marked)).toContain('"cache_control":{"type":"ephemeral"}');
      }),
    );
  });
});
