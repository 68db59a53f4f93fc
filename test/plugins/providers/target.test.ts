import { describe, expect, test } from 'vitest';
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

describe('what cannot be sent', () => {
  test.each<[string, ProviderConfig, string, RegExp]>([
    ['a key with a line break', {}, 'one\r\nx-evil: 1', /the key in CAST_API_KEY cannot be sent/],
    ['a key with a character of a text', { key: 'MY_KEY' }, 'sk-abc\u2026', /the key in MY_KEY cannot be sent/],
    ['a header with a line break', { headers: { 'X-My': 'a\r\nb: c' } }, 'k', /the header "x-my" of providers\.p\.headers cannot be sent/],
    ['a header with a space in its name', { headers: { 'x my': 'a' } }, 'k', /the header "x my" of/],
    ['a key of its own header', { headers: { Authorization: 'Bearer \u2026' } }, 'k', /the header "authorization" of/],
    ['an address without a protocol', { baseUrl: 'localhost:8080/v1' }, 'k', /providers\.p\.baseUrl is no address of http.*: localhost:8080\/v1$/],
    ['another protocol', { baseUrl: 'ftp://host/v1' }, 'k', /is no address of http/],
  ])('%s', async (_name, config, key, words) => {
    await expect(target(config, key)).rejects.toMatchObject({ kind: 'bad_request', message: expect.stringMatching(words), fix: expect.any(String) });
  });

  test('no message shows what was not to be shown', async () => {
    const errors = await Promise.all(
      [target({}, 'secret\u2026'), target({ baseUrl: 'me:secret@host/v1?key=secret' }), target({ headers: { a: 'secret\n' } })].map((each) =>
        each.catch((error: Error) => error),
      ),
    );
    for (const error of errors) expect([error instanceof Error, String(error)]).toEqual([true, expect.not.stringContaining('secret')]);
  });
});

test('white space around a key is no part of it', async () => {
  expect(await headers({}, ' k-123 \n')).toEqual(BEARER);
});

test('name and password of an address are its login', async () => {
  const login = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
  expect(await headers({ baseUrl: 'https://me:pa%40ss@api.example.test/v1' }, null)).toEqual(login('me:pa@ss'));
  expect(await headers({ baseUrl: 'https://me:100%@api.example.test/v1' })).toEqual(login('me:100%'));
  const at = await target({ baseUrl: 'https://me:pass@api.example.test/v1' });
  expect([at.baseUrl, at.address('/models'), at.place.host]).toEqual(['https://api.example.test/v1', 'https://api.example.test/v1/models', 'api.example.test']);
});

test('headers that say how a message is sent are not taken from a configuration', async () => {
  expect(await headers({ headers: { 'Transfer-Encoding': 'chunked', Connection: 'close', Host: 'x', 'Content-Length': '3' } })).toEqual(BEARER);
});
