import { describe, expect, test } from 'vitest';
import { type Learnt, leaveOut, learn, NO_QUIRKS, type Quirks, quirksOf, remember } from '../../../plugins/providers/quirks.ts';

const refusal = (message: string, more: object = {}) => JSON.stringify({ error: { message, ...more } });
const fastapi = (field: string) => JSON.stringify({ detail: [{ loc: ['body', field], msg: 'Extra inputs are not permitted' }] });
const learnt = (status: number, body: string, sent: object, quirks = NO_QUIRKS): Quirks => learn(quirks, status, body, sent);

describe('what a refusal teaches', () => {
  const limit = { max_tokens: 5 };
  test.each<[string, string, object, Partial<Quirks>]>([
    [
      'another name of the limit',
      refusal("'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."),
      limit,
      { limitField: 'max_completion_tokens' },
    ],
    [
      'an unknown name of the limit',
      refusal('Unrecognized request argument supplied: max_completion_tokens'),
      { max_completion_tokens: 5 },
      { limitField: 'max_tokens' },
    ],
    ['a limit that is too high', refusal('`max_completion_tokens` must be less than 5, the maximum value', { param: 'max_tokens' }), limit, {}],
    ['a limit that makes a prompt too long', refusal('maximum context length is 9, you asked for 8 in max_tokens'), limit, {}],
    ['reasoning that is missing', refusal('Missing `reasoning_content` field in the assistant message'), {}, { reasoningAlways: true }],
    ['short ids', JSON.stringify({ message: 'Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.' }), {}, { shortIds: true }],
    ...[
      "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
      "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
      'Duplicate item found with id rs_1. Remove duplicate items from your input and try again.',
    ].map((said): [string, string, object, Partial<Quirks>] => [said, refusal(said, { param: 'input' }), {}, { plainItems: true }]),
    ['something else', refusal('no'), { temperature: 1, reasoning: {} }, {}],
  ])('%s', (_name, answer, sent, expected) => {
    expect(learnt(400, answer, sent)).toEqual({ ...NO_QUIRKS, ...expected });
  });

  test('the limit is renamed once', () => {
    const quirks: Quirks = { ...NO_QUIRKS, limitField: 'max_completion_tokens' };
    expect(learnt(400, refusal('max_completion_tokens is unknown, use max_tokens'), { max_completion_tokens: 5 }, quirks)).toBe(quirks);
  });

  test.each([
    ['reasoning_effort', refusal("Unsupported value: 'reasoning_effort' does not support 'none' with this model.", { param: 'reasoning_effort' })],
    ['reasoning_effort', refusal('Unrecognized request argument supplied: reasoning_effort')],
    ['reasoning', refusal("Unknown parameter: 'reasoning'.", { param: 'reasoning' })],
    ['reasoning', fastapi('reasoning')],
    ['reasoning.summary', refusal('Your organization must be verified to generate reasoning summaries.', { param: 'reasoning.summary' })],
    ['thinking', refusal('thinking: Extra inputs are not permitted')],
    ['thinking', refusal('`m` does not support thinking')],
    ['enable_thinking', refusal('parameter.enable_thinking must be set to false for non-streaming calls')],
    ['chat_template_kwargs', fastapi('chat_template_kwargs')],
    ['temperature', refusal("Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.")],
    ['top_p', refusal('`temperature_x` and `top_p` cannot both be specified for this model.')],
    ['stream_options', fastapi('stream_options')],
    ['cache_control', refusal('messages.0.content.0.cache_control: Extra inputs are not permitted')],
    ['prompt_cache_key', refusal('Unknown parameter: prompt_cache_key')],
    ['session_id', refusal('property "session_id" is unsupported')],
    ['tool_choice', refusal('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set (tool_choice)')],
    ['parallel_tool_calls', refusal('Unsupported parameter: parallel_tool_calls')],
    ['reasoning_effort', JSON.stringify({ code: 'invalid-argument', error: 'Model m does not support parameter reasoningEffort.' })],
    ['reasoning.effort', JSON.stringify({ code: 'invalid-argument', error: 'Model m does not support parameter reasoningEffort.' })],
    ['temperature', refusal('invalid temperature: only 1 is allowed for this model')],
    ['include', refusal("Invalid value: 'include'", { param: 'include' })],
    ['response_format', refusal("Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.")],
    ['text.format', refusal("Unsupported parameter: 'text.format' is not supported with this model.", { param: 'text.format' })],
  ])('%s is left out', (field, answer) => {
    const inner = { summary: 'auto', effort: 'low' };
    const sent = {
      model: 'm',
      messages: [{ content: [{ text: 'x', cache_control: {} }] }],
      ...Object.fromEntries(
        ['temperature', 'top_p', 'stream_options', 'prompt_cache_key', 'session_id', 'tool_choice', 'parallel_tool_calls'].map((name) => [name, 1]),
      ),
      ...(field.startsWith('reasoning.') || field === 'reasoning' ? { reasoning: inner } : field === 'text.format' ? { text: { format: {} } } : { [field]: 1 }),
    };
    for (const status of [400, 422]) expect(learnt(status, answer, sent)).toEqual({ ...NO_QUIRKS, without: [field] });
    expect(learnt(500, answer, sent)).toBe(NO_QUIRKS);
    expect(learnt(400, answer, { model: 'm' })).toBe(NO_QUIRKS);
  });

  test('a model that does not reason is asked without all that is about it', () => {
    const sent = { thinking: { type: 'enabled' }, reasoning_effort: 'high', temperature: 1 };
    expect(learnt(400, refusal('This model does not support reasoning.'), sent).without).toEqual(['reasoning_effort', 'thinking']);
  });

  test.each([
    ['a wrong value of the configuration', refusal('temperature must be between 0 and 2', { param: 'temperature' }), { temperature: 3 }],
    ['a wrong value that is called an invalid parameter', refusal('Invalid parameter: temperature must be between 0 and 2'), { temperature: 9 }],
    ['a limit below the least', refusal('Invalid argument: max_output_tokens must be at least 16'), { max_output_tokens: 1 }],
    ['a common word', refusal('The request holds no reasoning for this provider; store it first'), { reasoning: {}, store: false, provider: {} }],
  ])('%s is no reason', (_name, answer, sent) => {
    expect(learnt(400, answer, sent)).toBe(NO_QUIRKS);
  });
});

test('fields are left out of a copy', () => {
  const body = { a: 1, reasoning: { effort: 'low', summary: 'auto' }, one: { inner: 1 } };
  const before = structuredClone(body);
  expect(leaveOut(body, ['a', 'reasoning.summary', 'one.inner', 'absent', 'absent.inner'])).toEqual({ reasoning: { effort: 'low' } });
  expect(body).toEqual(before);
});

test('it is remembered for the model of the host, and for so many', () => {
  const known: Learnt = new Map();
  const quirks: Quirks = { ...NO_QUIRKS, shortIds: true };
  remember(known, 'https://a/v1', 'm', quirks);
  expect(quirksOf(known, 'https://a/v1', 'm')).toBe(quirks);
  expect(quirksOf(known, 'https://a/v1', 'other')).toBe(NO_QUIRKS);
  for (let count = 0; count < 1000; count++) remember(known, 'https://b/v1', `m${count}`, quirks);
  expect(known.size).toBe(500);
});

describe('items that a host does not take back', () => {
  test.each<[string, number, string, boolean]>([
    ['not kept there', 404, refusal("Item with id 'rs_1' not found. Items are not persisted when `store` is set to false."), true],
    ['not readable there', 400, refusal('The encrypted content gAAA could not be verified.', { code: 'invalid_encrypted_content' }), true],
    ['a model that is not found', 404, refusal('The model m was not found'), false],
    ['a field that is not found', 404, refusal("Unsupported parameter: 'store'"), false],
  ])('%s', (_name, status, body, plainItems) => {
    expect(learnt(status, body, { store: false })).toEqual({ ...NO_QUIRKS, plainItems });
  });
});
