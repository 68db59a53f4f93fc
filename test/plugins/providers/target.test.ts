import { expect, test } from 'vitest';
import type { ProviderConfig } from '../../../kernel/index.ts';
import { aim } from '../../../plugins/providers/target.ts';

const target = (config: ProviderConfig, key: string | null = 'k-123') =>
  aim({ name: 'p', config, secret: async () => key ?? undefined, version: '1.2.3', now: () => 0 });
const headers = async (config: ProviderConfig, key?: string | null): Promise<Readonly<Record<string, string>>> => {
  const common = new Set(['accept', 'content-type', 'user-agent']);
  return Object.fromEntries(Object.entries((await target(config, key)).headers).filter(([name]) => !common.has(name)));
};
const BEARER = { authorization: 'Bearer k-123' };
const OPENROUTER = 'https://openrouter.ai/api/v1';

test.each<[string, ProviderConfig, object]>([
  ['OpenRouter, by default', { baseUrl: OPENROUTER }, { 'x-title': 'cast' }],
  ['below OpenRouter', { baseUrl: 'https://eu.openrouter.ai/api/v1' }, { 'x-title': 'cast' }],
  ['the dialect of OpenRouter', { baseUrl: 'https://api.example.test/v1', dialect: 'openrouter' }, { 'x-title': 'cast' }],
  [
    'both of them',
    { baseUrl: OPENROUTER, providerHeaders: { httpReferer: 'https://me.example', xTitle: 'mine' } },
    { 'http-referer': 'https://me.example', 'x-title': 'mine' },
  ],
  ['one of them', { baseUrl: OPENROUTER, providerHeaders: { httpReferer: 'https://me.example' } }, { 'http-referer': 'https://me.example' }],
  ['none of them', { baseUrl: OPENROUTER, providerHeaders: {} }, {}],
  ['headers of its own besides', { baseUrl: OPENROUTER, headers: { 'X-Title': 'own', 'X-Other': '1' } }, { 'x-title': 'own', 'x-other': '1' }],
  ['another host', { baseUrl: 'https://api.example.test/v1', providerHeaders: { xTitle: 'mine' } }, {}],
  ['a host that looks alike', { baseUrl: 'https://openrouter.ai.example.test/v1', providerHeaders: { xTitle: 'mine' } }, {}],
  ['a host that ends alike', { baseUrl: 'https://notopenrouter.ai/v1' }, {}],
  ['a host with it in its path', { baseUrl: 'https://api.example.test/openrouter.ai/v1?x=openrouter.ai' }, {}],
])('who asks is told to OpenRouter alone: %s', async (_name, config, expected) => {
  expect(await headers(config)).toEqual({ ...BEARER, ...expected });
});

test.each([
  'https://mine.openai.azure.com/openai/v1',
  'https://mine.services.ai.azure.com/models',
  'https://mine.cognitiveservices.azure.com/openai/deployments/d',
])('Azure gets its key in a header of its own: %s', async (baseUrl) => {
  expect(await headers({ baseUrl })).toEqual({ 'api-key': 'k-123' });
  expect(await headers({ baseUrl }, null)).toEqual({});
  expect(await headers({ baseUrl, headers: { 'API-Key': 'own' } })).toEqual({ 'api-key': 'own' });
});

test('a host that looks like Azure does not', async () => {
  expect(await headers({ baseUrl: 'https://openai.azure.com.example.test/v1' })).toEqual(BEARER);
});

test('the query of an address stays behind the path', async () => {
  const at = await target({ baseUrl: 'https://mine.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21' });
  expect(at.address('/chat/completions')).toBe('https://mine.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21');
  expect(at.baseUrl).toBe('https://mine.openai.azure.com/openai/deployments/d');
});
