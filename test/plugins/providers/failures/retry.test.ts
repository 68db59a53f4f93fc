import { describe, expect, test } from 'vitest';
import { type Failure, ProviderError, type ProviderErrorOptions, type ProviderFailure } from '../../../../kernel/index.ts';
import { createRetry } from '../../../../plugins/providers/failures/retry.ts';

const failure = (kind: ProviderFailure, more: Partial<Failure> = {}, options: ProviderErrorOptions = {}): Failure => ({
  provider: 'p',
  model: 'm',
  kind,
  error: new ProviderError(kind, `it was ${kind}`, options),
  seen: 1,
  seenInStep: 1,
  elapsedMs: 0,
  partial: '',
  began: false,
  ...more,
});
const step = { turn: 1, step: 1 };
const noJitter = () => 0;
const delays = (retry: ReturnType<typeof createRetry>, count: number): unknown[] =>
  Array.from({ length: count }, (_, index) => {
    const answer = retry(failure('overload', { seenInStep: index + 1 }), step);
    return answer && 'retry' in answer ? answer.retry.afterMs : 'stop';
  });

describe('before the first part', () => {
  test('waits grow up to a cap, eight attempts in all', () => {
    expect(delays(createRetry(noJitter), 8)).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 'stop']);
  });

  test('waits are spread', () => {
    expect(
      delays(
        createRetry(() => 1),
        1,
      ),
    ).toEqual([400]);
  });

  test.each([
    ['a certificate that nobody vouches for', 'DEPTH_ZERO_SELF_SIGNED_CERT', false],
    ['a server without TLS', 'write EPROTO: wrong version number', false],
    ['a connection that was refused', 'connect ECONNREFUSED', true],
  ])('%s', (_name, cause, isTriedAgain) => {
    const answer = createRetry(noJitter)(failure('network', { error: new ProviderError('network', 'no', { cause: new Error(cause) }) }), step);
    expect(answer !== undefined).toBe(isTriedAgain);
  });

  test('each step counts by itself', () => {
    const retry = createRetry(noJitter);
    delays(retry, 8);
    expect(retry(failure('overload'), { turn: 1, step: 2 })).toMatchObject({ retry: { afterMs: 500 } });
    expect(retry(failure('overload'), { turn: 2, step: 2 })).toMatchObject({ retry: { afterMs: 500 } });
  });

  test('a step that is taken again after a rewind counts anew', () => {
    const retry = createRetry(noJitter);
    delays(retry, 8);
    expect(retry(failure('overload'), step)).toMatchObject({ retry: { afterMs: 500 } });
  });

  test('another model has attempts and time of its own', () => {
    const retry = createRetry(noJitter);
    delays(retry, 8);
    const other = { seenInStep: 9, elapsedMs: 119_900, provider: 'q' };
    expect(retry(failure('overload', other), step)).toMatchObject({ retry: { afterMs: 500 } });
    expect(retry(failure('overload', { ...other, seenInStep: 10, elapsedMs: 150_000 }), step)).toMatchObject({ retry: { afterMs: 1000 } });
    expect(retry(failure('overload', { ...other, seenInStep: 11, model: 'n', elapsedMs: 300_000 }), step)).toMatchObject({ retry: { afterMs: 500 } });
  });

  test('another model has it of its own from the first failure that is left to it', () => {
    const asked = failure('rate', { seenInStep: 2, elapsedMs: 100_000 }, { retryAfterMs: 60_000 });
    expect(createRetry(noJitter)(asked, step)).toMatchObject({ retry: { afterMs: 60_000 } });
  });

  test('120 seconds in all', () => {
    const retry = createRetry(noJitter);
    expect(retry(failure('network', { elapsedMs: 119_400 }), step)).toMatchObject({ retry: { afterMs: 500 } });
    expect(retry(failure('network', { elapsedMs: 119_400, seenInStep: 2 }), step)).toEqual({ stop: 'it was network (tried for 2 min)' });
  });

  test.each<[string, number, number, object]>([
    ['what the provider asks for is waited for in full', 45_000, 0, { retry: { afterMs: 45_000, reason: 'it was rate' } }],
    ['up to what is left', 90_000, 40_000, { stop: 'it was rate (it asks to wait 2 min, which is too long to wait for)' }],
    ['not for a day', 86_400_000, 0, { stop: 'it was rate (it asks to wait 24 h, which is too long to wait for)' }],
    ['a wait of nothing says nothing', 0, 0, { retry: { afterMs: 500, reason: 'it was rate' } }],
  ])('%s', (_name, retryAfterMs, elapsedMs, expected) => {
    expect(createRetry(noJitter)(failure('rate', { elapsedMs }, { retryAfterMs }), step)).toEqual(expected);
  });
});

describe('after the first part', () => {
  const broken = (seenInStep: number, elapsedMs = 0) => failure('network', { began: true, elapsedMs, seenInStep });

  test('two restarts of a step', () => {
    const retry = createRetry(noJitter);
    expect([retry(broken(1), step), retry(broken(2), step)]).toMatchObject([{ retry: { afterMs: 500 } }, { retry: { afterMs: 1000 } }]);
    expect(retry(broken(3), step)).toEqual({ stop: 'it was network (the reply broke off 3 times)' });
  });

  test('a long reply that broke leaves the time for its restart', () => {
    const retry = createRetry(noJitter);
    expect(retry(broken(1, 600_000), step)).toMatchObject({ retry: {} });
    expect(retry(failure('overload', { elapsedMs: 601_000, seenInStep: 2 }), step)).toMatchObject({ retry: { afterMs: 500 } });
  });
});

describe('kinds', () => {
  test.each<ProviderFailure>(['overflow', 'auth', 'quota', 'refused', 'not_found', 'bad_request', 'other'])('%s is not sent again', (kind) => {
    expect(createRetry(noJitter)(failure(kind), step)).toBeUndefined();
  });

  test.each<ProviderFailure>(['empty', 'cut'])('%s: once, with a reminder, then the end', (kind) => {
    const retry = createRetry(noJitter);
    expect(retry(failure(kind), step)).toEqual({ retry: { afterMs: 0, reason: `it was ${kind}`, remind: expect.stringMatching(/Your last reply/) } });
    expect(retry(failure(kind, { seenInStep: 2 }), step)).toEqual({ stop: `it was ${kind}` });
  });
});
