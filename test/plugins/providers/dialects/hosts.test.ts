import { describe, expect, test } from 'vitest';
import { isCodex, isOpenAI, isOpenRouter } from '../../../../plugins/providers/dialects/hosts.ts';

describe('hosts are known by their address, not by a part of its text', () => {
  test.each<[string, boolean]>([
    ['https://chatgpt.com/backend-api/codex', true],
    ['https://chatgpt.com/backend-api/codex/', true],
    ['https://CHATGPT.com/backend-api/codex', true],
    ['http://chatgpt.com/backend-api/codex', false],
    ['https://chatgpt.com:8443/backend-api/codex', false],
    ['https://chatgpt.com/backend-api/codex2', false],
    ['https://chatgpt.com/backend-api', false],
    ['https://chatgpt.com.example.test/backend-api/codex', false],
    ['https://api.chatgpt.com/backend-api/codex', false],
    ['https://example.test/?https://chatgpt.com/backend-api/codex', false],
  ])('Codex %s: %s', (address, expected) => {
    expect(isCodex(new URL(address))).toBe(expected);
  });

  test.each<[string, boolean]>([
    ['https://openrouter.ai/api/v1', true],
    ['https://eu.openrouter.ai/api/v1', true],
    ['https://notopenrouter.ai/api/v1', false],
    ['https://example.test/openrouter.ai', false],
  ])('OpenRouter %s: %s', (address, expected) => {
    expect(isOpenRouter(new URL(address))).toBe(expected);
  });

  test('OpenAI', () => {
    expect(isOpenAI(new URL('https://api.openai.com/v1'))).toBe(true);
    expect(isOpenAI(new URL('https://api.openai.com.example.test/v1'))).toBe(false);
  });
});
