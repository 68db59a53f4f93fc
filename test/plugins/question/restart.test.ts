import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Entry } from '../../../kernel/index.ts';
import { createMemoryStore, createTestSession, hang, manualClock, say, use } from '../../../kernel/testkit/index.ts';
import plugin from '../../../plugins/question/index.ts';
import { type Home, makeHome } from '../../home.ts';
import { answerIn, DATABASE, lastTexts, openIn, PLATFORMS } from './form.ts';

let home: Home;
beforeEach(() => {
  home = makeHome();
});
afterEach(() => home.remove());

const ask = use('question', { questions: [DATABASE] });
/** Asked in a process that has ended since. */
const askedBefore = async (): Promise<{ readonly id: string; readonly entries: readonly Entry[] }> => {
  const session = await home.start([ask]);
  await session.run('go');
  await openIn(session);
  const entries = await session.entries();
  await session.stop();
  return { id: session.id, entries };
};

describe('after a restart', () => {
  test('the question is open again, nothing is written by that, and its answer is taken', async () => {
    const { id, entries } = await askedBefore();
    const session = await home.start([say('so be it')], { session: id });
    expect(await openIn(session)).toMatchObject({ kind: 'question', fields: [DATABASE] });
    expect(await session.client.snapshot()).toMatchObject({ status: 'idle' });
    expect(await session.entries()).toEqual(entries);
    await answerIn(session, ['pg']);
    expect(lastTexts(session)).toEqual(['user: go', 'assistant: call', 'tool: result', 'user: Question: Which database shall it be? Answer: PostgreSQL']);
    await session.stop();

    const later = await home.start([], { session: id });
    expect((await later.client.snapshot()).questions).toEqual([]);
  });

  test('a question that was withdrawn by a prompt is not open again', async () => {
    const { id } = await askedBefore();
    const session = await home.start([say('fine')], { session: id });
    await session.run('never mind');
    await session.stop();
    expect((await (await home.start([], { session: id })).client.snapshot()).questions).toEqual([]);
  });

  test('nobody is asked where no person is, and a prompt there closes it', async () => {
    const { id } = await askedBefore();
    const headless = await home.start([say('PostgreSQL it is')], { session: id, interactive: false });
    expect((await headless.client.snapshot()).questions).toEqual([]);
    expect(headless.log.of('question.answered')).toEqual([]);
    await headless.stop();
    await openIn(await home.start([], { session: id }));

    const again = await home.start([say('PostgreSQL it is')], { session: id, interactive: false });
    await again.run('use PostgreSQL');
    expect(again.requests[0]?.tools.map(({ name }) => name)).not.toContain('question');
    await again.stop();
    expect((await (await home.start([], { session: id })).client.snapshot()).questions).toEqual([]);
  });

  test('an answer that finds the session taken by another process is asked for again', async () => {
    const { id } = await askedBefore();
    const other = await home.start([hang()], { session: id, interactive: false });
    const session = await home.start([say('ok')], { session: id });
    const running = other.run('I am working');
    await other.log.until('turn.started');
    expect(await answerIn(session, ['pg'])).toMatchObject({ reason: 'error' });
    expect(session.log.of('error')).toMatchObject([{ code: 'SESSION_BUSY' }]);
    await openIn(session);
    await other.client.abort();
    await running;
    // Meanwhile the conversation has gone on, and the question with it.
    await session.run('what now?');
    await vi.waitFor(async () => expect((await session.client.snapshot()).questions).toEqual([]));
  });
});

test.each([[[null]], [[{}]], [[{ question: 'Q', options: [null] }]], [[{ question: 1, options: [] }]], [[]]])(
  'a damaged form, %j, is not put to anybody',
  async (fields) => {
    const store = createMemoryStore(manualClock());
    await using before = await createTestSession({ plugins: [plugin as never], script: [ask], store, interactive: true });
    await before.run('go');
    const record = await store.get(before.id);
    if (!record) throw new Error('there is no session');
    await store.create({ ...record, id: 'damaged' });
    const lease = await store.claim('damaged');
    const kept = (await before.entries()).filter(({ kind }) => kind !== 'plugin');
    const pending = { id: 'form', session: 'damaged', fields };
    const damaged = {
      kind: 'plugin',
      data: { plugin: 'question', slice: 'pending', data: { pending } },
      id: 'd',
      parent: kept.at(-1)?.id ?? null,
      seq: 99,
      at: 0,
    };
    await store.append('damaged', [...kept, damaged as never], { epoch: lease.epoch });
    await lease.release();
    await using session = await createTestSession({ plugins: [plugin as never], script: [ask], store, session: 'damaged', interactive: true });
    expect((await session.client.snapshot()).questions).toEqual([]);
    await session.run('ask again');
    await openIn(session);
  },
);

describe('in two processes', () => {
  test('the second answer does not turn over the first, and leaves alone what was asked since', async () => {
    const again = use('question', { questions: [PLATFORMS] });
    const first = await home.start([ask, again, say('so be it')]);
    await first.run('go');
    const second = await home.start([], { session: first.id });
    await openIn(second);
    await answerIn(first, ['pg']);
    expect(await openIn(first)).toMatchObject({ fields: [PLATFORMS] });

    const ended = second.log.until('turn.ended');
    await second.client.answer((await openIn(second)).id, ['sqlite']);
    await ended;
    expect(second.requests).toEqual([]);
    expect(second.log.of('reply.accepted')).toMatchObject([{ visible: expect.stringContaining('counts for nothing') }]);
    // Here as well it is what was asked last that is open.
    expect(await openIn(second)).toMatchObject({ fields: [PLATFORMS] });
    await answerIn(first, [['mac']]);
    expect(lastTexts(first).slice(-3)).toEqual([
      'user: Question: Which database shall it be? Answer: SQLite',
      expect.stringContaining('counts for nothing'),
      'user: Question: Which platforms? Answer: macOS',
    ]);
  });
});

describe('the branch decides', () => {
  test('a rewind to before the question withdraws it, one to before its answer opens it again', async () => {
    const session = await home.start([say('hello'), ask, say('so be it'), say('again')]);
    await session.run('hi');
    await session.run('go');
    await answerIn(session, ['pg']);
    expect((await session.client.snapshot()).questions).toEqual([]);
    await session.client.rewind({ turn: 3 });
    const { id } = await openIn(session);
    await session.client.rewind({ turn: 2 });
    expect((await session.client.snapshot()).questions).toEqual([]);
    expect(await session.client.answer(id, ['pg'])).toBe(false);
    await session.run('on');
    expect(lastTexts(session)).toEqual(['user: hi', 'assistant: hello', 'user: on']);
  });

  test('a fork does not ask what was asked before it', async () => {
    const store = createMemoryStore(manualClock());
    await using session = await createTestSession({ plugins: [plugin as never], script: [ask], store, interactive: true });
    await session.run('go');
    await openIn(session);
    const record = await store.get(session.id);
    if (!record) throw new Error('there is no session');
    await store.create({ ...record, id: 'fork' });
    const lease = await store.claim('fork');
    await store.append('fork', await session.entries(), { epoch: lease.epoch });
    await lease.release();
    await using fork = await createTestSession({ plugins: [plugin as never], script: [ask], store, session: 'fork', interactive: true });
    expect((await fork.client.snapshot()).questions).toEqual([]);
    await fork.run('ask again');
    await openIn(fork);
  });
});
