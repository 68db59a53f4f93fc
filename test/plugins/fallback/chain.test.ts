import { describe, expect, test } from 'vitest';
import { readChain } from '../../../plugins/fallback/chain.ts';
import { Cooldowns, inWords } from '../../../plugins/fallback/cooldowns.ts';

const read = (entries: readonly string[], isModel: (entry: string) => boolean = () => false) =>
  readChain({ entries, origin: { layer: 'user', file: '/home/me/.cast/settings.json' }, providers: ['main', 'local'], active: 'main', isModel });

describe('entries', () => {
  test.each<[string, string, object]>([
    ['provider and model', 'local/small', { provider: 'local', model: 'small' }],
    ['a model of the active provider', 'small', { provider: 'main', model: 'small' }],
    ['a model with slashes', 'local/vendor/small:free', { provider: 'local', model: 'vendor/small:free' }],
    ['blanks around it', ' local/small ', { provider: 'local', model: 'small' }],
  ])('%s', (_, entry, model) => expect(read([entry])).toEqual({ models: [model], warnings: [] }));

  test('an unknown provider is left out, and what to write is said', () => {
    expect(read(['lokal/small', 'local/small'])).toEqual({
      models: [{ provider: 'local', model: 'small' }],
      warnings: [
        'fallback[0] (/home/me/.cast/settings.json) is left out: there is no provider lokal; known: main, local. ' +
          'Correct `lokal/small`, or write `main/lokal/small` for a model of main.',
      ],
    });
  });

  test('the same model twice stands there once', () =>
    expect(read(['local/small', 'small', ' local/small', 'main/small']).models).toEqual([
      { provider: 'local', model: 'small' },
      { provider: 'main', model: 'small' },
    ]));

  test('a prefix may belong to a model of the active provider', () =>
    expect(read(['vendor/small'], () => true).models).toEqual([{ provider: 'main', model: 'vendor/small' }]));

  test.each([
    [' ', 'it is empty'],
    ['local/', '`local/` names no model'],
    ['local', '`local` is a provider. Write `local/MODEL`, or `main/local`'],
  ])('%j is left out', (entry, why) => expect(read([entry], () => true)).toEqual({ models: [], warnings: [expect.stringContaining(why)] }));
});

describe('how long a model is left alone', () => {
  const model = { provider: 'p', model: 'm' };
  const MINUTE = 60_000;

  test.each([
    ['quota', undefined, 60 * MINUTE],
    ['quota', 5 * MINUTE, 5 * MINUTE],
    ['rate', undefined, MINUTE],
    ['rate', 86_400_000, 86_400_000],
    ['rate', 1e15, 7 * 86_400_000],
    ['overload', undefined, 2 * MINUTE],
    ['overload', 10 * MINUTE, 10 * MINUTE],
    ['auth', undefined, 60 * MINUTE],
  ] as const)('%s, asked to wait %s ms', (kind, asked, ms) => {
    const cooldowns = new Cooldowns();
    expect([cooldowns.start(model, kind, asked, 1000), cooldowns.until(model)]).toEqual([ms, 1000 + ms]);
  });

  test('an outage counts double each time it returns, up to half an hour, until there is an answer', () => {
    const cooldowns = new Cooldowns();
    const waits = Array.from({ length: 6 }, () => cooldowns.start(model, 'network', undefined, 0) / MINUTE);
    expect(waits).toEqual([2, 4, 8, 16, 30, 30]);
    cooldowns.answered(model);
    expect([cooldowns.until(model), cooldowns.start(model, 'stall', undefined, 0)]).toEqual([0, 2 * MINUTE]);
  });

  test('each model by itself', () => {
    const cooldowns = new Cooldowns();
    cooldowns.start(model, 'quota', undefined, 0);
    expect(cooldowns.until({ ...model, model: 'other' })).toBe(0);
  });

  test.each([
    [400, '1 s'],
    [45_000, '45 s'],
    [2 * MINUTE, '2 min'],
    [60 * MINUTE, '60 min'],
    [86_400_000, '24 h'],
  ])('%i ms in words', (ms, words) => expect(inWords(ms)).toBe(words));
});
