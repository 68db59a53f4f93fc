/** A session is recorded, and played again against the same plugins and against others. */
import { statSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { definePlugin, type Plugin } from '../../../kernel/index.ts';
import { fail, say, use, type Beat } from '../../../kernel/testkit/index.ts';
import { makeDesk, pluginsOf, USUAL, type Behaviour, type Desk } from './desk.ts';

let desk: Desk;
beforeEach(() => {
  desk = makeDesk();
});
afterEach(() => desk.remove());

const calls: Beat = use(['look', { text: 'aaaaa' }, 'a'], ['look', { text: 'b' }, 'b'], ['make', { text: 'rewrite me' }, 'c']);
const SCRIPT: readonly Beat[] = [
  say('this is bad'),
  calls,
  fail('overload', 'busy', { after: 'half' }),
  use('make', { text: 'deny this' }),
  use('make', { text: 'ask first' }),
  say('good'),
];

describe('the same plugins', () => {
  test('nothing differs, no body runs, nobody is asked', async () => {
    const recorded = await desk.record(SCRIPT, ['go']);
    expect(recorded.ran).toEqual(['look aaaaa', 'look b', 'make rewrite me, rewritten']);
    const again = await desk.check();
    expect(again.difference).toBeUndefined();
    expect([again.ran, again.requests]).toEqual([[], 0]);
    expect(again.ends.map(({ reason, steps, toolCalls }) => ({ reason, steps, toolCalls }))).toEqual(
      recorded.ends.map(({ reason, steps, toolCalls }) => ({ reason, steps, toolCalls })),
    );
  });

  test('what a person answered is answered again', async () => {
    const script = [use('make', { text: 'ask first' }), say('good')];
    const recorded = await desk.record(script, ['go'], { interactive: true, answer: () => 'once' });
    expect(recorded.ran).toEqual(['make ask first']);
    // Nobody is there this time.
    expect((await desk.check()).difference).toBeUndefined();
    expect(desk.recording().session.answers).toMatchObject([{ text: 'Really ask first?', answer: { choice: 'once', by: 'user' } }]);
  });

  test('the state that bodies of tools recorded is there again', async () => {
    const script = [use(['note', { text: '' }, 'a'], ['note', { text: '' }, 'b']), use(['note', { text: '' }, 'c'], ['note', { text: '' }, 'd']), say('never')];
    const recorded = await desk.record(script, ['go']);
    expect(recorded.ends[0]).toMatchObject({ reason: 'limit', steps: 3 });
    const again = await desk.check();
    expect(again.difference).toBeUndefined();
    expect(again.ends[0]).toMatchObject({ reason: 'limit', steps: 3 });
  });

  test('several turns, and a turn that failed', async () => {
    const recorded = await desk.record([say('one'), fail('quota', 'no credit'), say('three')], ['a', 'b', 'c']);
    expect(recorded.ends.map(({ exitCode }) => exitCode)).toEqual([0, 2, 0]);
    const again = await desk.check();
    expect(again.difference).toBeUndefined();
    expect(again.ends.map(({ exitCode }) => exitCode)).toEqual([0, 2, 0]);
  });
});

describe('other plugins: the first difference names hook, plugin and place', () => {
  const others = (change: Partial<Behaviour>): readonly Plugin[] => pluginsOf({ ...USUAL, ...change }, []);

  test.each<readonly [string, Partial<Behaviour>, object]>([
    [
      'an input is rewritten otherwise',
      { rewrites: (text) => (text.startsWith('rewrite') ? `${text}!` : undefined) },
      { hook: 'call', plugin: 'rewriter', label: 'rewrite', step: 1, call: 'c' },
    ],
    ['an input is no longer rewritten', { rewrites: () => undefined }, { hook: 'call', plugin: 'rewriter', step: 1, call: 'c', came: null }],
    ['a reply is no longer turned back', { rejects: () => undefined }, { hook: 'reply', plugin: 'reviewer', label: 'review', step: 1, came: null }],
    [
      'a reply is turned back for another reason',
      { rejects: (text) => (text.includes('bad') ? 'other' : undefined) },
      { hook: 'reply', plugin: 'reviewer', expected: expect.stringContaining('not like that'), came: expect.stringContaining('other') },
    ],
    [
      'another reply is turned back',
      { rejects: (text) => (text.includes('good') || text.includes('bad') ? 'not like that' : undefined) },
      { hook: 'reply', plugin: 'reviewer', step: 4, expected: null },
    ],
    [
      'a call that ran is denied',
      { votes: (text) => (text === 'b' ? { deny: 'not b' } : USUAL.votes(text)) },
      { hook: 'gate', plugin: 'voter', label: 'vote', step: 1, call: 'b', expected: null, came: '{"deny":"not b"}' },
    ],
    [
      'a denied call is asked about',
      { votes: (text) => (text.startsWith('deny') ? { ask: 'ok?' } : USUAL.votes(text)) },
      { hook: 'gate', plugin: 'voter', step: 2, expected: '{"deny":"never"}', came: '{"ask":"ok?"}' },
    ],
  ])('%s', async (_, change, difference) => {
    await desk.record(SCRIPT, ['go']);
    const checked = await desk.check(others(change));
    expect(checked.difference).toMatchObject(difference);
    expect(checked.requests).toBe(0);
  });

  test('a tap that fails now', async () => {
    await desk.record(SCRIPT, ['go']);
    const votes = (): never => {
      throw new Error('broken');
    };
    expect((await desk.check(others({ votes }))).difference).toMatchObject({ hook: 'gate', plugin: 'voter', came: '{"fault":"broken"}' });
  });

  test('a note for the model that is new shows in the request', async () => {
    await desk.record([say('one')], ['go']);
    const nosy = definePlugin({ name: 'nosy', apply: ({ hooks, remind }) => hooks.prepare.tap('remind', () => remind('look here')) }) as Plugin;
    expect((await desk.check([...pluginsOf(USUAL, []), nosy])).difference).toMatchObject({
      hook: 'provider',
      plugin: 'script',
      label: 'main',
      came: expect.stringContaining('look here'),
    });
  });
});

test('any session that is recorded replays the same, and a change of one plugin is named', async () => {
  const text = fc.constantFrom('aaaa', 'bb', 'rewrite x', 'deny x', 'ask x', 'fail x');
  const call = fc.tuple(fc.constantFrom('look', 'make', 'note', 'none'), fc.record({ text }));
  const beat = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.array(call, { minLength: 1, maxLength: 4 }).map((given) => use(...given.map(([tool, data], index) => [tool, data, `c${index}`] as const))),
    },
    { weight: 1, arbitrary: fc.constantFrom('bad idea', 'a bad one').map((said) => say(said)) },
    { weight: 1, arbitrary: fc.constant(fail('overload', 'busy', { after: 'ha' })) },
  );
  const turn = fc.array(beat, { maxLength: 4 }).map((beats) => [...beats, say('good')]);
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 2 }), fc.boolean(), async (turns, allows) => {
      const own = makeDesk();
      try {
        await own.record(
          turns.flat(),
          turns.map((_, index) => `go ${index}`),
          { interactive: true, answer: () => (allows ? 'once' : 'reject') },
        );
        const again = await own.check();
        expect(again.difference).toBeUndefined();
        expect(again.ran).toEqual([]);
        const { trace } = own.recording().session;
        const of = (hook: string): boolean => trace.some((event) => event.hook === hook);
        if (of('call'))
          expect((await own.check(pluginsOf({ ...USUAL, rewrites: () => undefined }, []))).difference).toMatchObject({ hook: 'call', plugin: 'rewriter' });
        if (of('reply'))
          expect((await own.check(pluginsOf({ ...USUAL, rejects: () => undefined }, []))).difference).toMatchObject({ hook: 'reply', plugin: 'reviewer' });
        if (of('gate'))
          expect((await own.check(pluginsOf({ ...USUAL, votes: () => undefined }, []))).difference).toMatchObject({ hook: 'gate', plugin: 'voter' });
      } finally {
        own.remove();
      }
    }),
    { numRuns: 25 },
  );
}, 100_000);

describe('the file', () => {
  test('is for its owner alone, in one piece, and without secrets', async () => {
    const secret = 'sk-very-secret-0123456789';
    const parted: Beat = function* () {
      yield { type: 'text', text: `the key is ${secret.slice(0, 9)}` };
      yield { type: 'text', text: `${secret.slice(9)} indeed` };
      yield* use('make', { text: secret })(undefined as never, undefined as never) as Iterable<never>;
    };
    await desk.record([parted, say('done')], [`my key is ${secret}`], { environment: { CAST_API_KEY: secret } });
    const text = readFileSync(desk.file, 'utf8');
    expect(text).not.toContain(secret);
    expect(text).toContain('[redacted]');
    expect(statSync(desk.file).mode & 0o777).toBe(0o600);
    expect(readdirSync(desk.cwd)).toEqual(['session.json']);
    expect((await desk.check()).difference).toBeUndefined();
  });

  test('one that is none lets nothing pass', async () => {
    await desk.record([use('look', { text: 'a' }), say('done')], ['go']);
    const recording = desk.recording();
    writeFileSync(desk.file, JSON.stringify({ ...recording, session: { ...recording.session, calls: [{}] } }));
    const ran: string[] = [];
    await expect(desk.check(pluginsOf(USUAL, ran), { script: [use('look', { text: 'a' }), say('never')] })).rejects.toThrow(
      /session\.calls\[0\]\.turn must be a number/,
    );
    expect(ran).toEqual([]);
  });
});
