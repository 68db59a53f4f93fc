import { describe, expect, test } from 'vitest';
import type { ModelRequest, ProviderConfig } from '../../../../kernel/index.ts';
import { responsesBody } from '../../../../plugins/providers/responses/request.ts';
import { request, traits } from '../replies.ts';

const card = { name: 'read', description: 'Reads.', input: { type: 'object' } };
/** As it goes over the wire, without the types of the package. */
const body = (changes: Partial<ModelRequest> = {}, settings: ProviderConfig = {}): Record<string, unknown> =>
  JSON.parse(JSON.stringify(responsesBody(request(changes), traits({ settings, ...(settings.baseUrl === undefined ? {} : { baseUrl: settings.baseUrl }) }))));

describe('the request', () => {
  test('the smallest', () => {
    expect(body()).toMatchInlineSnapshot(`
      {
        "include": [
          "reasoning.encrypted_content",
        ],
        "input": [
          {
            "content": [
              {
                "text": "hello",
                "type": "input_text",
              },
            ],
            "role": "user",
            "type": "message",
          },
        ],
        "model": "a-model",
        "store": false,
        "stream": true,
      }
    `);
  });

  test('system text, tools, limit and effort', () => {
    expect(body({ system: 'Be kind.', tools: [card], maxOutputTokens: 99, reasoning: 'high' })).toMatchInlineSnapshot(`
      {
        "include": [
          "reasoning.encrypted_content",
        ],
        "input": [
          {
            "content": [
              {
                "text": "hello",
                "type": "input_text",
              },
            ],
            "role": "user",
            "type": "message",
          },
        ],
        "instructions": "Be kind.",
        "max_output_tokens": 99,
        "model": "a-model",
        "reasoning": {
          "effort": "high",
        },
        "store": false,
        "stream": true,
        "tool_choice": "auto",
        "tools": [
          {
            "description": "Reads.",
            "name": "read",
            "parameters": {
              "type": "object",
            },
            "strict": false,
            "type": "function",
          },
        ],
      }
    `);
  });

  test('tools, routing and reasoning at OpenRouter, sampling as configured', () => {
    const settings: ProviderConfig = {
      baseUrl: 'https://openrouter.ai/api/v1',
      only: ['one', 'two'],
      temperature: 0.2,
      topP: 0.95,
      reasoningSummary: 'auto',
      reasoningMaxTokens: 2000,
    };
    expect(body({ tools: [card], reasoning: 'low' }, settings)).toMatchInlineSnapshot(`
      {
        "include": [
          "reasoning.encrypted_content",
        ],
        "input": [
          {
            "content": [
              {
                "text": "hello",
                "type": "input_text",
              },
            ],
            "role": "user",
            "type": "message",
          },
        ],
        "model": "a-model",
        "provider": {
          "only": [
            "one",
            "two",
          ],
        },
        "reasoning": {
          "effort": "low",
          "max_tokens": 2000,
          "summary": "auto",
        },
        "session_id": "s1",
        "store": false,
        "stream": true,
        "temperature": 0.2,
        "tool_choice": "auto",
        "tools": [
          {
            "description": "Reads.",
            "name": "read",
            "parameters": {
              "type": "object",
            },
            "strict": false,
            "type": "function",
          },
        ],
        "top_p": 0.95,
      }
    `);
  });

  test.each<[string, ProviderConfig]>([
    ['another host', { baseUrl: 'https://api.example.test/v1', only: ['one'] }],
    ['nothing', { baseUrl: 'https://openrouter.ai/api/v1', only: [] }],
    ['all', { baseUrl: 'https://openrouter.ai/api/v1', only: ['all'] }],
  ])('no routing: %s', (_name, settings) => {
    expect(body({}, settings)).not.toHaveProperty('provider');
  });

  test.each<[string, Partial<ModelRequest>, ProviderConfig, unknown]>([
    ['off', { reasoning: 'off' }, { reasoningSummary: 'auto' }, undefined],
    ['nothing set', {}, {}, undefined],
    ['a summary alone', {}, { reasoningSummary: 'auto' }, { summary: 'auto' }],
    ['a limit alone', {}, { reasoningMaxTokens: 5 }, { max_tokens: 5 }],
    ['a level of its own', { reasoning: 'xhigh' }, {}, { effort: 'xhigh' }],
  ])('reasoning: %s', (_name, changes, settings, expected) => {
    expect(body(changes, settings)['reasoning']).toEqual(expected);
  });

  test('a key for the cache at OpenAI alone', () => {
    expect(body({ session: 's9' }, { baseUrl: 'https://api.openai.com/v1' })['prompt_cache_key']).toBe('cast:s9');
    expect(body()).not.toHaveProperty('prompt_cache_key');
  });

  test('Codex gets instructions, and neither sampling nor a limit', () => {
    const settings: ProviderConfig = { baseUrl: 'https://chatgpt.com/backend-api/codex', temperature: 0.2, topP: 0.9 };
    expect(body({ maxOutputTokens: 9, reasoning: 'low' }, settings)).toMatchInlineSnapshot(`
      {
        "include": [
          "reasoning.encrypted_content",
        ],
        "input": [
          {
            "content": [
              {
                "text": "hello",
                "type": "input_text",
              },
            ],
            "role": "user",
            "type": "message",
          },
        ],
        "instructions": "",
        "model": "a-model",
        "reasoning": {
          "effort": "low",
        },
        "store": false,
        "stream": true,
      }
    `);
  });

  test('a reply that is held to a schema', () => {
    const format = { name: 'answer', schema: { type: 'object', properties: { n: { type: 'number' } } } };
    expect(body({ format })['text']).toEqual({ format: { type: 'json_schema', name: 'answer', strict: true, schema: format.schema } });
    expect(body()).not.toHaveProperty('text');
  });
});
