import { expect, test } from 'vitest';
import type { ProviderConfig } from '../../../kernel/index.ts';
import { secretsIn } from '../../../kernel/host/config-secrets.ts';
import { providerId } from '../../../kernel/session/models.ts';

test.each<[string, ProviderConfig, readonly string[]]>([
  ['a header with a telling name', { headers: { 'X-My-Auth': 'abc', 'x-team': 'platform' } }, ['abc']],
  ['with its scheme and without', { headers: { Authorization: 'Bearer abc' } }, ['Bearer abc', 'abc']],
  ['a header that looks like a key', { headers: { 'x-tenant': 'f81d4fae7dec11d0a76500a0c91e6bf6' } }, ['f81d4fae7dec11d0a76500a0c91e6bf6']],
  ['headers that are none', { headers: { 'http-referer': 'https://me.example.test/page1', 'anthropic-version': '2023-06-01', 'x-title': 'my tool' } }, []],
  ['the query of an address', { baseUrl: 'https://host/v1?key=a%2Bb&api-version=2024-10-21-preview' }, ['a+b', 'a%2Bb']],
  ['the password of an address', { baseUrl: 'https://me:p%40ss@host/v1' }, ['p%40ss', 'p@ss']],
  ['no address', { baseUrl: 'nowhere' }, []],
])('%s', (_name, provider, expected) => {
  expect(new Set(secretsIn({ providers: { p: provider } }))).toEqual(new Set(expected));
});

test('the address by which a session knows its provider holds none of them', () => {
  const id = (baseUrl: string) => providerId({ provider: 'p', providers: { p: { baseUrl } } });
  expect(id('https://me:pass@host:8080/v1?key=abc')).toBe('https://host:8080/v1');
  expect(id('https://host/v1/')).toBe('https://host/v1/');
});
