/** B053: an overflow, however a host words it, is answered with one compaction and one more request; what only looks like one is not. */
import { describe, expect, test } from 'vitest';
import { begin, delta, DONE, frame, type Play } from '../../cli/providers/strict-server.ts';
import { openStage, type Stage } from './stage.ts';

const refusal =
  (status: number, error: unknown): Play =>
  (reply) =>
    reply.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(error));
const message = (text: string, more: object = {}): object => ({ error: { message: text, ...more } });
const inside =
  (finish: string): Play =>
  (reply) =>
    begin(reply).end(delta({ content: 'half of it' }) + delta({}, finish) + DONE);

const OVERFLOWS: readonly (readonly [string, Play])[] = [
  ['the code of OpenAI', refusal(400, message('Please shorten it.', { code: 'context_length_exceeded', type: 'invalid_request_error' }))],
  [
    'the wording of OpenAI',
    refusal(
      400,
      message("This model's maximum context length is 8192 tokens. However, your messages resulted in 10264 tokens. Please reduce the length of the messages."),
    ),
  ],
  [
    'the wording of vLLM',
    refusal(400, {
      object: 'error',
      message:
        'The decoder prompt (length 9120) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens plus multimodal tokens.',
      type: 'BadRequestError',
      code: 400,
    }),
  ],
  [
    'the wording of llama.cpp',
    refusal(
      400,
      message('the request exceeds the available context size, try increasing it', {
        code: 400,
        type: 'exceed_context_size_error',
        n_prompt_tokens: 9000,
        n_ctx: 4096,
      }),
    ),
  ],
  ['the wording of Ollama', refusal(400, { error: 'the input length exceeds the context length' })],
  ['a wording in parentheses', refusal(400, message('prompt is too long (10264 tokens > 8192 maximum)'))],
  [
    'the wording of Gemini',
    refusal(400, message('The input token count (10264) exceeds the maximum number of tokens allowed (8192).', { status: 'INVALID_ARGUMENT' })),
  ],
  [
    'the wording of xAI',
    refusal(400, { code: 'Client specified an invalid argument', error: "This model's maximum prompt length is 8192 but the request contains 10264 tokens." }),
  ],
  ['the wording of Moonshot', refusal(400, message('Invalid request: Your request exceeded model token limit: 8192'))],
  ['status 413', refusal(413, message('Payload Too Large'))],
  ['status 500 with such a text', refusal(500, message('the input length exceeds the context length'))],
  ['an error inside of the stream', (reply) => begin(reply).end(frame(message('context_length_exceeded', { code: 'context_length_exceeded' })))],
  ['the finish reason model_context_window_exceeded', inside('model_context_window_exceeded')],
];

const OTHERS: readonly (readonly [string, Play, 'stop' | 'error'])[] = [
  [
    '429 tokens per minute',
    (reply) =>
      reply
        .writeHead(429, { 'content-type': 'application/json', 'retry-after': '0' })
        .end(JSON.stringify(message('Rate limit reached: tokens per minute exceeded'))),
    'stop',
  ],
  [
    '429 of the words of Azure',
    (reply) =>
      reply
        .writeHead(429, { 'content-type': 'application/json', 'retry-after': '0' })
        .end(JSON.stringify(message('Requests have exceeded the token rate limit of your tier', { code: '429' }))),
    'stop',
  ],
  ['400 max_tokens too large', refusal(400, message('max_tokens is too large: 99999')), 'error'],
  [
    '400 about the value of max_tokens',
    refusal(400, message('`max_tokens` must be less than the maximum value for `max_tokens`: the `context_window`')),
    'error',
  ],
];

/** Two turns, and a third whose first request gets this. */
const third = async (answer: Play): Promise<Stage> => {
  const stage = await openStage({ window: 100_000, script: (number) => (number === 3 ? answer : `answer ${number}`) });
  await stage.session.run('first');
  await stage.session.run('second');
  return stage;
};

describe('B053: an overflow', () => {
  test.each(OVERFLOWS)('by %s', async (_name, answer) => {
    await using stage = await third(answer);
    expect(await stage.session.run('third')).toMatchObject({ reason: 'stop', exitCode: 0 });
    expect(stage.summaries()).toHaveLength(1);
    expect(stage.main()).toHaveLength(4);
    expect(stage.session.events('compacted')).toMatchObject([{ reason: 'overflow' }]);
    expect(stage.session.events('retry')).toHaveLength(1);
    expect(stage.session.text()).toContain('answer 4');
  });
});

describe('B053: what is no overflow', () => {
  test.each(OTHERS)('%s', async (_name, answer, reason) => {
    await using stage = await third(answer);
    expect(await stage.session.run('third')).toMatchObject({ reason });
    expect(stage.summaries()).toEqual([]);
    expect(stage.session.events('compacted')).toEqual([]);
  });
});
