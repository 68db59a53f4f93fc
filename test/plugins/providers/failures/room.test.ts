import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Room, roomFor } from '../../../../plugins/providers/failures/room.ts';
import { chatProvider, gather, request } from '../replies.ts';

const error = (message: string): string => JSON.stringify({ error: { message, type: 'invalid_request_error' } });
const window = (tokens: number): Room => ({ tokens, isCap: false });
const cap = (tokens: number): Room => ({ tokens, isCap: true });

describe('the length that a refusal leaves', () => {
  test.each<[name: string, said: string, asked: number | undefined, room: Room | undefined]>([
    ['a sum', 'input length and `max_tokens` exceed context limit: 143653 + 64000 > 200000, decrease input length or `max_tokens`', 64_000, window(55_323)],
    ['a sum, where less was asked for than it says', 'exceed context limit: 143653 + 64000 > 200000', 8_192, undefined],
    ['a sum, where nothing was asked for', 'exceed context limit: 143653 + 64000 > 200000', undefined, window(55_323)],
    [
      'messages and completion',
      "This model's maximum context length is 16385 tokens. However, you requested 20000 tokens (12000 in the messages, 8000 in the completion).",
      8_000,
      window(3_361),
    ],
    [
      'messages, functions and completion',
      "This model's maximum context length is 8192 tokens. However, you requested 10213 tokens (3683 in the messages, 730 in the functions, and 5800 in the completion).",
      5_800,
      window(2_755),
    ],
    [
      'input, tools and output, with separators',
      "This endpoint's maximum context length is 262,000 tokens. However, you requested about 263,390 tokens (658 of text input, 732 of tool input, 262,000 in the output).",
      262_000,
      window(259_586),
    ],
    [
      'inputs and new tokens',
      '`inputs` tokens + `max_new_tokens` must be <= 32768. Given: 30000 `inputs` tokens and 4096 `max_new_tokens`',
      4_096,
      window(1_744),
    ],
    [
      'a prompt and a window',
      "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 8192 tokens and your request has 5000 input tokens (4096 > 8192 - 5000).",
      4_096,
      window(2_168),
    ],
    [
      'the most that a model gives',
      'max_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you provided 32000.',
      32_000,
      cap(16_384),
    ],
    ['the same elsewhere', '`max_completion_tokens` must be less than or equal to `16384`, the maximum value for `max_completion_tokens`', 32_000, cap(16_384)],
    ['the same, as a comparison', 'max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for a-model', 100_000, cap(64_000)],
    ['the same, as a range', 'Invalid max_tokens value, the valid range of max_tokens is [1, 8192]', 16_000, cap(8_192)],

    [
      'too little room',
      'maximum context length is 16385 tokens. However, you requested 20000 tokens (15904 in the messages, 4096 in the completion)',
      4_096,
      undefined,
    ],
    ['256 tokens', 'exceed context limit: 8720 + 4096 > 10000', 4_096, window(256)],
    ['255 tokens', 'exceed context limit: 8721 + 4096 > 10000', 4_096, undefined],
    [
      'a prompt that is too long by itself',
      '`inputs` tokens + `max_new_tokens` must be <= 4097. Given: 80125 `inputs` tokens and 4096 `max_new_tokens`',
      4_096,
      undefined,
    ],
    ['a prompt alone', "This model's maximum context length is 128000 tokens. However, your messages resulted in 204311 tokens.", 8_192, undefined],
    ['a reply of less than nothing', 'max_tokens must be at least 1, got -344.', 8_192, undefined],
    ['something else', 'unknown field frobnicate', 8_192, undefined],
  ])('%s', (_name, said, asked, room) => {
    expect(roomFor(error(said), asked)).toEqual(room);
  });
});

describe('a provider that refuses a long reply', () => {
  const OK = 'data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
  /** Refuses whatever asks for more than `limit`; answers with the limits that were asked for. */
  const serve = async (limit: number, refusal: string): Promise<{ url: string; asked: number[] }> => {
    const asked: number[] = [];
    const server = createServer(async (incoming, reply) => {
      let text = '';
      for await (const chunk of incoming) text += chunk;
      asked.push((JSON.parse(text) as { max_tokens: number }).max_tokens);
      const isFine = (asked.at(-1) ?? 0) <= limit;
      reply.writeHead(isFine ? 200 : 400, { 'content-type': isFine ? 'text/event-stream' : 'application/json' }).end(isFine ? OK : error(refusal));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked };
  };
  const ask = (url: string, maxOutputTokens: number, outputCaps = new Map<string, number>()) =>
    gather(chatProvider({ config: { baseUrl: url }, outputCaps }).stream(request({ maxOutputTokens }), new AbortController().signal));

  test('is asked once more, at once, for one that fits', async () => {
    const { url, asked } = await serve(4_000, 'exceed context limit: 5000 + 8000 > 10000');
    expect(await ask(url, 8_000)).toMatchObject({ text: 'hi', error: undefined });
    expect(asked).toEqual([8_000, 3_976]);
  });
  test('and refuses that too, fails as an overflow', async () => {
    const { url, asked } = await serve(0, 'exceed context limit: 5000 + 8000 > 10000');
    expect((await ask(url, 8_000)).error).toMatchObject({ kind: 'overflow' });
    expect(asked).toEqual([8_000, 3_976]);
  });
  test('is asked for less from then on when the model never gives more', async () => {
    const { url, asked } = await serve(1_000, 'max_tokens is too large: 8000. This model supports at most 1000 completion tokens.');
    const caps = new Map<string, number>();
    for (const tokens of [8_000, 8_000, 500]) expect((await ask(url, tokens, caps)).text).toBe('hi');
    expect(asked).toEqual([8_000, 1_000, 1_000, 500]);
  });
});
