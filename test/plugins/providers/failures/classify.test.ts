import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { ProviderFailure } from '../../../../kernel/index.ts';
import { classifyConnection, classifyRefusal, notAReply, type Place } from '../../../../plugins/providers/failures/classify.ts';

const NOW = Date.UTC(2026, 0, 15, 12, 0, 0);
const KEY = 'a-key-that-is-secret';
const place: Place = { host: 'api.example.test', keyName: 'CAST_API_KEY', key: KEY, model: 'm-1', now: () => NOW };
const refuse = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  classifyRefusal({ status, headers: new Headers(headers), body: typeof body === 'string' ? body : JSON.stringify(body) }, place);
const error = (message: string, more: object = {}) => ({ error: { message, ...more } });

const TABLE: readonly (readonly [string, number, unknown, ProviderFailure])[] = [
  ['a refused key', 401, error('No such key'), 'auth'],
  ['a bad key with status 400', 400, { code: 'bad argument', error: 'Incorrect API key provided: ab***yz' }, 'auth'],
  ['a page that blocks', 403, '<html><head><title>Blocked</title></head><body><h1>Go away</h1></body></html>', 'auth'],
  ['no money', 402, error('Pay first'), 'quota'],
  ['no money with status 429', 429, error('Slow down', { code: 'insufficient_quota' }), 'quota'],
  ['no credits with status 403', 403, { error: "Your team doesn't have any credits yet." }, 'quota'],
  ['an unknown model', 404, error('The model `x` does not exist'), 'not_found'],
  ['an unknown model with status 400', 400, error('model "x" not found'), 'not_found'],
  ['too many requests', 429, error('Too many'), 'rate'],
  ['a quota that fills up', 429, error('You exceeded your current quota. Please retry in 12s.'), 'rate'],
  ['a quota that is a rate by its code', 429, error('You exceeded your current quota.', { status: 'RESOURCE_EXHAUSTED' }), 'rate'],
  ['overload as 429', 429, error('The engine is currently overloaded'), 'overload'],
  ['overload', 529, error('Overloaded', { type: 'overloaded_error' }), 'overload'],
  ['a failing gateway', 502, '<html><title>502 Bad Gateway</title></html>', 'overload'],
  ['a time-out', 408, '', 'overload'],
  ['too long', 400, error("This model's maximum context length is 8192 tokens."), 'overflow'],
  ['too long by code', 400, error('No.', { code: 'context_length_exceeded' }), 'overflow'],
  ['too long with status 500', 500, error('the input length exceeds the context length'), 'overflow'],
  ['too large', 413, '', 'overflow'],
  ['too large as 429', 429, error('Request too large for x on tokens per min: Limit 3, Requested 9.', { code: 'rate_limit_exceeded' }), 'overflow'],
  ['tokens a minute are a rate', 429, error('Tokens per minute limit exceeded - too many tokens processed.'), 'rate'],
  ['an output limit is no overflow', 400, error('`max_tokens` must be less than the maximum value for `max_tokens`: the `context_window`'), 'bad_request'],
  ['a content filter', 400, error('Filtered', { code: 'content_filter' }), 'refused'],
  ['an unknown field', 400, error('unknown field frobnicate'), 'bad_request'],
  ['a validation error', 422, { detail: [{ loc: ['body', 'messages'], msg: 'field required' }] }, 'bad_request'],
  ['an error inside a reply', 200, error('went wrong', { code: 'server_error' }), 'overload'],
  ['an error inside a reply that names a status', 200, error('nope', { code: 401 }), 'auth'],
  ['nothing said inside a reply', 200, { error: 'unexpected EOF' }, 'overload'],
];

describe('refusals', () => {
  test.each(TABLE)('%s', (_name, status, body, kind) => {
    const failure = refuse(status, body);
    expect([failure.kind, failure.name]).toEqual([kind, 'ProviderError']);
    expect(failure.fix).toBeTruthy();
    expect(failure.message.length).toBeLessThanOrEqual(2000);
  });

  test('the message says who, what and the words of the provider', () => {
    expect(refuse(401, error('No such key')).message).toBe('api.example.test refused the API key or access to the model (HTTP 401): No such key');
    expect(refuse(404, error('nope')).message).toContain('does not know the model m-1');
    expect(refuse(422, { detail: [{ loc: ['body', 'a'], msg: 'required' }] }).message).toContain('body.a: required');
    expect(refuse(502, { error: { message: 'Provider returned error', metadata: { raw: '{"error":{"message":"busy"}}' } } }).message).toMatch(
      /Provider returned error: busy$/,
    );
    expect(classifyRefusal({ status: 401, body: '' }, { ...place, key: undefined }).message).toContain('none is set');
  });

  test('no HTML, no keys, no endless text', () => {
    const page = refuse(502, `<!DOCTYPE html><html><head><title>Bad &amp; gone</title></head><body>${'<p>x</p>'.repeat(9999)}</body></html>`);
    expect(page.message).toMatch(/\(HTTP 502\): Bad &amp; gone$/);
    expect(refuse(401, error(`Wrong key ${KEY} or sk-abcdefghijklmnop`)).message).toMatch(/Wrong key \[key\] or \[key\]$/);
    expect(refuse(400, error('x'.repeat(9000))).message.length).toBeLessThan(2000);
    expect(notAReply('<html><title>Sign in</title></html>', place)).toMatchObject({ kind: 'bad_request', message: expect.stringContaining('Sign in') });
  });
});

describe('delays', () => {
  test.each<[string, Record<string, string>, unknown, number | undefined]>([
    ['retry-after-ms', { 'retry-after-ms': '1500', 'retry-after': '9' }, {}, 1500],
    ['seconds', { 'retry-after': '3' }, {}, 3000],
    ['a date', { 'retry-after': new Date(NOW + 5000).toUTCString() }, {}, 5000],
    ['a date that is over', { 'retry-after': new Date(NOW - 5000).toUTCString() }, {}, 0],
    ['a day', { 'retry-after': '86400' }, {}, 86_400_000],
    ['words', {}, error('Please try again in 9m38.016s. Thanks'), 578_016],
    ['words in full', {}, error('Please retry after 17 seconds.'), 17_000],
    ['retryDelay', {}, [{ error: { code: 429, message: 'slow', details: [{ retryDelay: '26s' }] } }], 26_000],
    ['the limit used up', { 'x-ratelimit-reset-requests': '2m', 'x-ratelimit-reset-tokens': '4.5s', 'x-ratelimit-remaining-requests': '0' }, {}, 120_000],
    ['a moment in the body', {}, { error: { message: 'x', metadata: { headers: { 'X-RateLimit-Reset': String(NOW + 60_000) } } } }, 60_000],
    ['nonsense', { 'retry-after': 'soon' }, {}, undefined],
    ['nothing', {}, {}, undefined],
  ])('%s', (_name, headers, body, expected) => {
    expect(refuse(429, body, headers).retryAfterMs).toBe(expected);
  });
});

describe('connections', () => {
  test.each([
    ['ECONNREFUSED', /refused/],
    ['ENOTFOUND', /host name/],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', /certificate/],
    ['ECONNRESET', /broke/],
    ['wrong version number', /TLS/],
    ['EWEIRD', /failed/],
  ])('%s is named in plain words', (code, words) => {
    const failure = classifyConnection(new TypeError('fetch failed', { cause: Object.assign(new Error('deep'), { code }) }), place);
    expect(failure).toMatchObject({ kind: 'network', message: expect.stringMatching(words), fix: expect.any(String) });
    expect(failure.message).toContain(code);
  });
});

test.each([
  [400, { error: { code: 'Arrearage', message: 'Access denied, please make sure your account is in good standing.' } }],
  [403, { error: { code: 'AccountOverdueError', message: 'The request failed because your account has an overdue balance.' } }],
  [403, { code: 30001, message: 'Sorry, your account balance is insufficient' }],
  [429, { error: { message: '账户已欠费，请充值' } }],
  [429, { code: 'x', error: 'Your team has either used all available credits or reached its monthly spending limit.' }],
])('an account without credit, with HTTP %i', (status, body) => {
  expect(refuse(status, body).kind).toBe('quota');
});

test('an answer that is neither a reply nor an error is not waited for', () => {
  for (const status of [302, 304]) expect(refuse(status, '')).toMatchObject({ kind: 'bad_request', message: expect.stringContaining(`HTTP ${status}`) });
});

describe('recorded errors', () => {
  const folder = fileURLToPath(new URL('../../../../shared/fixtures/streams/errors/', import.meta.url));
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.json')) : [];
  const KINDS: Readonly<Record<string, readonly ProviderFailure[]>> = {
    auth: ['auth'],
    quota: ['quota'],
    payment: ['quota'],
    model_not_found: ['not_found'],
    invalid_request: ['bad_request'],
    content_filter: ['refused'],
    context_overflow: ['overflow'],
    rate_limit: ['rate', 'overload'],
    overloaded: ['overload', 'rate'],
    server_error: ['overload'],
  };
  /** Byte for byte the quota error of another provider. */
  const SAME_AS_QUOTA = 'alibaba-rate.json';

  test.skipIf(files.length === 0).each(files.length === 0 ? ['(no recordings at hand)'] : files)('%s', (file) => {
    const { status, headers, body, expect: expected } = JSON.parse(readFileSync(`${folder}${file}`, 'utf8'));
    const failure = classifyRefusal({ status, headers: new Headers(headers), body }, place);
    expect(file === SAME_AS_QUOTA ? ['quota'] : KINDS[expected.class]).toContain(failure.kind);
    if (expected.retryAfterMs !== null) expect(failure.retryAfterMs).toBe(expected.retryAfterMs);
  });
});
