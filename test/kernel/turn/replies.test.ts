/** Replies that are none, and what a turn ends with. */
import { describe, expect, test } from 'vitest';
import { definePlugin } from 'cast';
import { createTestSession, fail, say } from 'cast/testkit';

describe('a reply', () => {
  test('that breaks off is no answer', async () => {
    await using session = await createTestSession({
      script: [
        function* () {
          yield { type: 'text', text: 'half' };
        },
      ],
    });
    expect(await session.run('go')).toMatchObject({ reason: 'disconnected', exitCode: 1 });
  });
  test('that has no end is given up', async () => {
    await using session = await createTestSession({
      script: [
        function* () {
          // Without end on the side of the model; a bound that does not hold is seen soon enough.
          for (let piece = 0; piece < 100; piece++) yield { type: 'reasoning', text: 'x'.repeat(1024 * 1024) };
          yield { type: 'text', text: 'after all' };
          yield { type: 'end', reason: 'stop' };
        },
      ],
    });
    expect(await session.run('go')).toMatchObject({ reason: 'error', exitCode: 1 });
    expect(session.events('error')).toMatchObject([{ code: 'MODEL_FAILED', message: expect.stringContaining('longer than') as string }]);
  });
  test('of thousands of pieces is one text for each stretch of it, in the order in which they came', async () => {
    const words = Array.from({ length: 5_000 }, (_, index) => `${index} `);
    await using session = await createTestSession({
      script: [
        function* () {
          for (const text of words) yield { type: 'reasoning', text };
          for (const text of words) yield { type: 'text', text };
          yield { type: 'reasoning', text: 'once more' };
          for (const text of words) yield { type: 'text', text };
          yield { type: 'end', reason: 'stop' };
        },
      ],
    });
    await session.run('go');
    const text = words.join('');
    expect(session.events('reply.accepted')[0]).toMatchObject({
      visible: text + text,
      message: {
        blocks: [
          { type: 'reasoning', text },
          { type: 'text', text },
          { type: 'reasoning', text: 'once more' },
          { type: 'text', text },
        ],
      },
    });
    const shown = session.events('text.delta').map((delta) => delta.text);
    expect(shown.join('')).toBe(text + text);
  });
  test('that is empty is no answer', async () => {
    await using session = await createTestSession({ script: [say('')] });
    expect(await session.run('go')).toMatchObject({ reason: 'error' });
    expect(session.events('error')).toMatchObject([{ code: 'EMPTY_REPLY' }]);
  });
  test('that breaks off at every attempt is kept as far as it came the last time, and not announced to be made again', async () => {
    let asked = 0;
    const stubborn = definePlugin({
      name: 'stubborn',
      apply: ({ hooks }) =>
        hooks.failure.tap('again', () => {
          asked += 1;
          return { retry: { reason: 'again', afterMs: 1 } };
        }),
    });
    const half = fail('network', 'gone', { after: 'half' });
    await using session = await createTestSession({ plugins: [stubborn], script: Array.from({ length: 20 }, () => half) });
    expect(await session.run('go')).toMatchObject({ reason: 'disconnected', exitCode: 1 });
    expect([session.requests.length, asked, session.events('retry').length, session.events('text.retracted').length]).toEqual([16, 15, 15, 15]);
    expect(session.events('reply.partial')).toEqual([{ visible: 'half' }]);
  });
  test('that is turned back at every attempt ends with that, whatever failed before', async () => {
    const picky = definePlugin({
      name: 'picky',
      apply: ({ hooks }) => {
        hooks.failure.tap('again', () => ({ retry: { reason: 'again' } }));
        hooks.reply.tap('no', (review) => review.reject('not good'));
      },
    });
    await using session = await createTestSession({ plugins: [picky], script: [fail('network', 'gone'), ...Array.from({ length: 20 }, () => say('x'))] });
    expect(await session.run('go')).toMatchObject({ reason: 'error', exitCode: 1 });
    expect(session.events('error')).toMatchObject([{ code: 'REPLY_REJECTED' }]);
  });
  test.each([
    ['auth', 'MODEL_AUTH', 2],
    ['quota', 'MODEL_QUOTA', 2],
    ['rate', 'MODEL_RATE', 2],
    ['network', 'MODEL_UNREACHABLE', 2],
    ['refused', 'REFUSED', 1],
    ['bad_request', 'MODEL_BAD_REQUEST', 1],
    ['other', 'MODEL_FAILED', 1],
  ] as const)('that fails with %s ends with %s and exit %i', async (kind, code, exitCode) => {
    await using session = await createTestSession({ script: [fail(kind, 'the reason'), say('next')] });
    expect(await session.run('go')).toMatchObject({ exitCode });
    expect(session.events('error')).toMatchObject([{ code, message: 'the reason' }]);
    expect(await session.run('again')).toMatchObject({ reason: 'stop' });
  });
  test('is asked for again when a plugin says so, with what was shown taken back', async () => {
    const retrying = definePlugin({
      name: 'retrying',
      apply: ({ hooks }) => hooks.failure.tap('again', (failure) => (failure.seen < 2 ? { retry: { reason: 'try again', remind: 'be brief' } } : undefined)),
    });
    await using session = await createTestSession({ plugins: [retrying], script: [fail('network', 'gone', { after: 'Hel' }), say('Hello')] });
    expect(await session.run('go')).toMatchObject({ reason: 'stop' });
    expect(session.events('text.retracted')).toEqual([{ chars: 3 }]);
    expect(session.events('retry')).toMatchObject([{ attempt: 1, reason: 'try again' }]);
    expect(JSON.stringify(session.requests[1]?.messages)).toContain('be brief');
    expect(session.text()).toBe('Hello');
  });
  test('is not asked for without end', async () => {
    const stubborn = definePlugin({ name: 'stubborn', apply: ({ hooks }) => hooks.failure.tap('again', () => ({ retry: { reason: 'again' } })) });
    await using session = await createTestSession({ plugins: [stubborn], script: Array.from({ length: 40 }, () => fail('other')) });
    expect(await session.run('go')).toMatchObject({ reason: 'error' });
    expect(session.requests.length).toBe(16);
  });
  test('that spells out a credential, even in pieces, shows none of it', async () => {
    const key = 'sk-very-secret-value';
    await using session = await createTestSession({
      script: [say('the key is sk-ver', 'y-secret-', 'value, and sk-very', ' is none')],
      environment: { CAST_API_KEY: key },
    });
    await session.run('go');
    const shown = session
      .events('text.delta')
      .map((event) => event.text)
      .join('');
    expect(shown).toBe('the key is [redacted], and sk-very is none');
    expect(session.text()).toBe(shown);
    expect(JSON.stringify(await session.entries())).not.toContain(key);
  });
});
