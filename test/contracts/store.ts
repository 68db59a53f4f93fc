/** What every store of sessions owes: run against each of them by its own test file. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Clock, Entry, Message, NewEntry, SessionRecord, Store } from '../../kernel/index.ts';

export interface StoreUnderTest {
  readonly store: Store;
  /** Called when the test is over, after the store was closed. */
  dispose?(): void | Promise<void>;
}

export interface ManualClock extends Clock {
  tick(ms: number): void;
}
export const manualClock = (start = Date.UTC(2026, 0, 1)): ManualClock => {
  let now = start;
  return {
    now: () => now,
    sleep: () => Promise.resolve(),
    tick(ms) {
      now += ms;
    },
  };
};

export const newRecord = (id: string, more: Partial<SessionRecord> = {}): Parameters<Store['create']>[0] => ({
  id,
  cwd: '/project/src',
  root: '/project',
  title: '',
  model: 'small',
  provider: 'local',
  parent: null,
  kind: 'conversation',
  createdAt: 1_000,
  ...more,
});

export const says = (role: Message['role'], text: string, more: Partial<Message> = {}): NewEntry => ({
  kind: 'message',
  data: {
    role,
    origin: role === 'assistant' ? 'model' : role === 'tool' ? 'kernel' : 'user',
    blocks: [role === 'tool' ? { type: 'result', id: 'call-1', tool: 'bash', content: text, status: 'ok' } : { type: 'text', text }],
    ...more,
  },
});
export const calls = (text = ''): NewEntry =>
  says('assistant', text, {
    blocks: [
      { type: 'text', text },
      { type: 'call', id: 'call-1', tool: 'bash', arguments: '{"command":"ls"}' },
    ],
  });

/** Entries numbered from `seq`, each the child of the one before; ids are `e1`, `e2`, … */
export const entriesFrom = (seq: number, parent: string | null, ...news: NewEntry[]): Entry[] =>
  news.map((entry, index) => ({
    ...entry,
    id: `e${seq + index}`,
    parent: index === 0 ? parent : `e${seq + index - 1}`,
    seq: seq + index,
    at: 5_000 + seq + index,
  }));

/** Claims, appends after what is there, releases. */
export const put = async (store: Store, id: string, ...news: NewEntry[]): Promise<Entry[]> => {
  const lease = await store.claim(id);
  const batch = entriesFrom(lease.lastSeq + 1, lease.head, ...news);
  await store.append(id, batch, { epoch: lease.epoch });
  await lease.release();
  return batch;
};

const failure = async (run: () => unknown): Promise<string> => {
  try {
    await run();
    return 'no error';
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
};
const idsOf = (entries: readonly Entry[]): string[] => entries.map((entry) => entry.id);

export const testStore = (name: string, make: (clock: ManualClock) => Promise<StoreUnderTest>): void => {
  describe(`${name} keeps the contract of stores`, () => {
    let under: StoreUnderTest;
    let store: Store;
    let clock: ManualClock;
    beforeEach(async () => {
      clock = manualClock();
      under = await make(clock);
      ({ store } = under);
    });
    afterEach(async () => {
      await store.close();
      await under.dispose?.();
    });

    const begun = async (id: string, more: Partial<SessionRecord> = {}, ...news: NewEntry[]): Promise<void> => {
      await store.create(newRecord(id, more));
      await put(store, id, ...(news.length > 0 ? news : [says('user', `hello from ${id}`)]));
    };

    describe('records', () => {
      test('a new session is found by its id, and listed once something was said in it', async () => {
        await store.create(newRecord('s1'));
        expect(await store.get('s1')).toEqual({ ...newRecord('s1'), head: null, messages: 0, updatedAt: 1_000, pinned: false });
        expect(await store.list({ limit: 10 })).toEqual([]);
        clock.tick(500);
        await put(store, 's1', says('user', 'hello'));
        expect(await store.get('s1')).toMatchObject({ head: 'e1', messages: 1, title: 'hello', createdAt: 1_000, updatedAt: clock.now() });
        expect(await store.list({ limit: 10 })).toEqual([await store.get('s1')]);
      });

      test('an id is given once, whether or not something was said', async () => {
        await store.create(newRecord('s1'));
        expect(await failure(() => store.create(newRecord('s1')))).toBe('INTERNAL');
        await put(store, 's1', says('user', 'hello'));
        expect(await failure(() => store.create(newRecord('s1')))).toBe('INTERNAL');
      });

      test.each(['empty', 'begun'])('what a patch names is changed in a session that is %s, and the time of its last change is not', async (state) => {
        await store.create(newRecord('s1'));
        if (state === 'begun') await put(store, 's1', says('user', 'hello'));
        const before = await store.get('s1');
        clock.tick(500);
        await store.update('s1', { model: 'large', pinned: true, title: 'A title', cwd: '/elsewhere' });
        await store.update('s1', { pinned: true });
        expect(await store.get('s1')).toEqual({ ...before, model: 'large', pinned: true, title: 'A title', cwd: '/elsewhere' });
        await store.update('s1', { pinned: false, title: '' });
        expect(await store.get('s1')).toMatchObject({ pinned: false, title: '' });
      });

      test('lists are newest first, filtered, limited and paged', async () => {
        const sessions: [string, Partial<SessionRecord>][] = [
          ['s1', {}],
          ['s2', { root: '/other', cwd: '/other' }],
          ['s3', { kind: 'background' }],
          ['s4', { cwd: '/project' }],
        ];
        for (const [id, more] of sessions) {
          clock.tick(1_000);
          await begun(id, more);
        }
        const ids = async (query: Parameters<Store['list']>[0]): Promise<string[]> => (await store.list(query)).map((record) => record.id);
        expect(await ids({ limit: 10 })).toEqual(['s4', 's3', 's2', 's1']);
        expect(await ids({ limit: 10, root: '/project' })).toEqual(['s4', 's3', 's1']);
        expect(await ids({ limit: 10, root: '/project', kind: 'conversation' })).toEqual(['s4', 's1']);
        expect(await ids({ limit: 10, cwd: '/project/src' })).toEqual(['s3', 's1']);
        expect(await ids({ limit: 2 })).toEqual(['s4', 's3']);
        expect(await ids({ limit: 2, before: clock.now() - 1_000 })).toEqual(['s2', 's1']);
        clock.tick(1_000);
        await put(store, 's1', says('user', 'again'));
        expect(await ids({ limit: 1 })).toEqual(['s1']);
      });

      test('what is removed is gone with all its entries, and its id is free again', async () => {
        await begun('s1');
        await begun('s2');
        await store.remove('s1');
        expect(await store.get('s1')).toBeUndefined();
        expect((await store.list({ limit: 10 })).map((record) => record.id)).toEqual(['s2']);
        await store.create(newRecord('s1'));
        expect(await store.read('s1', { limit: 10 })).toEqual([]);
        await store.remove('s1');
        expect(await store.get('s1')).toBeUndefined();
      });

      test('the sessions of its subagents go with it, a fork of it stays', async () => {
        await begun('s1');
        await begun('child', { parent: 's1', kind: 'child' });
        await begun('grandchild', { parent: 'child', kind: 'child' });
        await begun('fork', { parent: 's1' });
        await store.remove('s1');
        expect((await store.list({ limit: 10 })).map((record) => record.id)).toEqual(['fork']);
      });

      test('nobody is there whom nobody created', async () => {
        expect(await store.get('nobody')).toBeUndefined();
        const runs: (() => unknown)[] = [
          () => store.update('nobody', { title: 'x' }),
          () => store.claim('nobody'),
          () => store.append('nobody', entriesFrom(1, null, says('user', 'x')), { epoch: 1 }),
          () => store.branch('nobody'),
          () => store.branch('nobody', { head: 'e1' }),
          () => store.read('nobody', { limit: 1 }),
          () => store.remove('nobody'),
        ];
        for (const run of runs) expect(await failure(run)).toBe('SESSION_UNKNOWN');
      });
    });

    describe('titles and counts', () => {
      test.each<[string, string, string]>([
        ['white space becomes one space', '  fix\n\tthe   build ', 'fix the build'],
        ['sixty characters stay whole', 'x'.repeat(60), 'x'.repeat(60)],
        ['more are cut', 'x'.repeat(61), `${'x'.repeat(60)}…`],
        ['no character is cut in two', '👍'.repeat(61), `${'👍'.repeat(60)}…`],
      ])('%s', async (_, text, title) => {
        await begun('s1', {}, says('user', text));
        expect(await store.get('s1')).toMatchObject({ title });
      });

      test('the first message of a person gives the title, not a reminder and not a later one', async () => {
        const reminder = says('user', '<system-reminder>today is Monday</system-reminder>', { origin: 'reminders' });
        await begun('s1', {}, reminder, says('user', 'first'), says('assistant', 'yes'), says('user', 'second'));
        expect(await store.get('s1')).toMatchObject({ title: 'first', messages: 3 });
      });

      test('a title that was given stays, and one that was taken away does not come back', async () => {
        await begun('s1', { title: 'Given' }, says('user', 'first'));
        expect(await store.get('s1')).toMatchObject({ title: 'Given' });
        await store.update('s1', { title: '' });
        await put(store, 's1', says('user', 'second'));
        expect(await store.get('s1')).toMatchObject({ title: '' });
      });

      test('replies that call tools, results, rejected replies and other entries are not counted', async () => {
        const reply: Message = { role: 'assistant', origin: 'model', blocks: [{ type: 'text', text: 'no' }] };
        const rejected: NewEntry = { kind: 'rejected', data: { message: reply, reasons: ['too short'] } };
        const turn: NewEntry = { kind: 'turn', data: { turn: 1, phase: 'end' } };
        await begun('s1', {}, says('user', 'go'), calls('looking'), says('tool', 'files'), rejected, says('assistant', 'done'), turn);
        expect(await store.get('s1')).toMatchObject({ messages: 2, head: 'e6' });
      });
    });

    describe('leases', () => {
      test('a session is held by one at a time, and each claim has a higher epoch', async () => {
        await begun('s1');
        const first = await store.claim('s1');
        expect(first).toMatchObject({ head: 'e1', lastSeq: 1 });
        await expect(async () => store.claim('s1')).rejects.toMatchObject({ code: 'SESSION_BUSY', message: expect.stringContaining(`${process.pid}`) });
        await first.release();
        await first.release();
        const second = await store.claim('s1');
        expect(second.epoch).toBeGreaterThan(first.epoch);
        await first.release();
        expect(await failure(() => store.claim('s1'))).toBe('SESSION_BUSY');
        expect(await failure(() => store.remove('s1'))).toBe('SESSION_BUSY');
      });

      test('the same holds for a session in which nothing was said yet', async () => {
        await store.create(newRecord('s1'));
        const first = await store.claim('s1');
        expect(first).toMatchObject({ head: null, lastSeq: 0 });
        expect(await failure(() => store.claim('s1'))).toBe('SESSION_BUSY');
        await first.release();
        const second = await store.claim('s1');
        expect(second.epoch).toBeGreaterThan(first.epoch);
        const batch = entriesFrom(1, null, says('user', 'hello'));
        expect(await failure(() => store.append('s1', batch, { epoch: first.epoch }))).toBe('STORE_LEASE_LOST');
        await store.append('s1', batch, { epoch: second.epoch });
        await second.release();
        expect((await store.claim('s1')).epoch).toBeGreaterThan(second.epoch);
      });

      test('an append under an old, released or invented epoch writes nothing', async () => {
        await begun('s1');
        const old = await store.claim('s1');
        const batch = entriesFrom(2, 'e1', says('user', 'late'));
        await old.release();
        const append = (epoch: number) => failure(() => store.append('s1', batch, { epoch }));
        expect(await append(old.epoch)).toBe('STORE_LEASE_LOST');
        const lease = await store.claim('s1');
        expect(await append(old.epoch)).toBe('STORE_LEASE_LOST');
        expect(await append(lease.epoch + 1)).toBe('STORE_LEASE_LOST');
        expect(idsOf(await store.read('s1', { limit: 10 }))).toEqual(['e1']);
        expect(await append(lease.epoch)).toBe('no error');
      });
    });

    describe('entries', () => {
      test('come back as they were written', async () => {
        const written = entriesFrom(
          1,
          null,
          says('user', 'line\n“quoted” \u0000 👍', { raw: 'raw' }),
          { kind: 'plugin', data: { plugin: 'todo', slice: 'list', data: { items: [1, null, 'x'] } } },
          { kind: 'workspace', data: { cwd: '/project/other' } },
        );
        await store.create(newRecord('s1'));
        const lease = await store.claim('s1');
        await store.append('s1', written, { epoch: lease.epoch });
        expect(await store.branch('s1')).toEqual(written);
        expect(await store.read('s1', { limit: 10 })).toEqual([...written].reverse());
      });

      test('a batch is written whole or not at all', async () => {
        await begun('s1');
        const lease = await store.claim('s1');
        const [good, bad] = entriesFrom(2, 'e1', says('user', 'good'), says('user', 'bad'));
        if (!good || !bad) throw new Error('two entries are needed');
        expect(await failure(() => store.append('s1', [good, { ...bad, seq: 2 }], { epoch: lease.epoch }))).toBe('INTERNAL');
        expect(await failure(() => store.append('s1', [good], { epoch: lease.epoch, head: 'e9' }))).toBe('HISTORY_BAD_MOVE');
        expect(idsOf(await store.read('s1', { limit: 10 }))).toEqual(['e1']);
        expect(await store.get('s1')).toMatchObject({ head: 'e1', messages: 1 });
      });

      test('a branch follows parents from its head, whatever lies between', async () => {
        await begun('s1', {}, says('user', 'one'), says('assistant', 'two'), says('user', 'three'));
        const lease = await store.claim('s1');
        await store.append('s1', [], { epoch: lease.epoch, head: 'e2' });
        expect(idsOf(await store.branch('s1'))).toEqual(['e1', 'e2']);
        await store.append('s1', entriesFrom(4, 'e2', says('user', 'other')), { epoch: lease.epoch });
        expect(idsOf(await store.branch('s1'))).toEqual(['e1', 'e2', 'e4']);
        expect(idsOf(await store.branch('s1', { head: 'e3' }))).toEqual(['e1', 'e2', 'e3']);
        expect(idsOf(await store.read('s1', { limit: 10 }))).toEqual(['e4', 'e3', 'e2', 'e1']);
        await store.append('s1', [], { epoch: lease.epoch, head: null });
        expect(await store.branch('s1')).toEqual([]);
        expect(await failure(() => store.branch('s1', { head: 'e9' }))).toBe('HISTORY_BAD_MOVE');
      });

      test('the newest part of a branch is read up to where it is enough, and of the kinds that are wanted', async () => {
        const turn: NewEntry = { kind: 'turn', data: { turn: 1, phase: 'start' } };
        await begun('s1', {}, says('user', 'one'), turn, says('assistant', 'two'), turn, says('user', 'three'));
        const told: string[] = [];
        const until = (entry: Entry): boolean => told.push(entry.id) === 2;
        expect(idsOf(await store.branch('s1', { until }))).toEqual(['e4', 'e5']);
        expect(told).toEqual(['e5', 'e4']);
        expect(idsOf(await store.branch('s1', { head: 'e3', until: () => true }))).toEqual(['e3']);
        expect(idsOf(await store.branch('s1', { kinds: ['turn'] }))).toEqual(['e2', 'e4']);
        told.length = 0;
        expect(idsOf(await store.branch('s1', { kinds: ['message'], until }))).toEqual(['e3', 'e5']);
        expect(idsOf(await store.branch('s1', { until: () => false }))).toHaveLength(5);
        // What the walk has opened is closed again: the store can still be written.
        const lease = await store.claim('s1');
        await store.append('s1', [], { epoch: lease.epoch, head: 'e2' });
      });

      test('an append without entries and without a head leaves the head where it is', async () => {
        await begun('s1');
        const lease = await store.claim('s1');
        await store.append('s1', [], { epoch: lease.epoch, leave: ['e1'] });
        expect(await store.get('s1')).toMatchObject({ head: 'e1' });
      });

      test('reading pages backwards and picks kinds', async () => {
        const turn: NewEntry = { kind: 'turn', data: { turn: 1, phase: 'start' } };
        await begun('s1', {}, turn, says('user', 'a'), says('assistant', 'b'), turn, says('user', 'c'));
        expect(idsOf(await store.read('s1', { limit: 2 }))).toEqual(['e5', 'e4']);
        expect(idsOf(await store.read('s1', { limit: 2, before: 4 }))).toEqual(['e3', 'e2']);
        expect(idsOf(await store.read('s1', { limit: 10, kinds: ['turn'] }))).toEqual(['e4', 'e1']);
        expect(idsOf(await store.read('s1', { limit: 1, kinds: ['turn', 'message'], before: 5 }))).toEqual(['e4']);
      });

      test('changing what was handed in changes nothing that is stored', async () => {
        const data = { plugin: 'todo', slice: 'list', data: { done: false } };
        await begun('s1', {}, { kind: 'plugin', data });
        data.data.done = true;
        expect(await store.branch('s1')).toMatchObject([{ data: { data: { done: false } } }]);
      });
    });

    describe('search', () => {
      const find = async (text: string, more: { root?: string; limit?: number } = {}) => {
        if (!store.search) throw new Error('this store cannot be searched');
        return store.search({ text, limit: 20, ...more });
      };
      const found = async (text: string, more: { root?: string; limit?: number } = {}): Promise<string[]> =>
        (await find(text, more)).hits.map((hit) => hit.session.id);

      test('finds what people and models said, by beginnings and by parts of words, whatever the case and the accents', async () => {
        await begun('s1', {}, says('user', 'Please repair the Login'), says('assistant', 'The tokenizer was at fault: crème brûlée'));
        await begun('s2', {}, says('user', 'something else'));
        for (const text of ['login', 'LOG', 'repair', 'okeniz', 'creme', 'BRÛL', 'fault: creme', 'tokenizer login'])
          expect([text, await found(text)]).toEqual([text, ['s1']]);
        expect(await found('nowhere-to-be-found')).toEqual([]);
      });

      test('words may stand in different messages, and each of them must be there', async () => {
        await begun('s1', {}, says('user', 'alpha first'), says('assistant', 'beta then'));
        await begun('s2', {}, says('user', 'alpha only'));
        await begun('s3', {}, says('user', 'beta only'));
        expect(await found('alpha beta')).toEqual(['s1']);
        expect(await found('alpha beta gamma')).toEqual([]);
      });

      test.each([
        '"',
        '*',
        'AND',
        'OR NOT',
        '(',
        ')',
        'NEAR(a b)',
        '{',
        '^',
        ':',
        '-',
        '%',
        '_',
        '\\',
        "'",
        "'; DROP TABLE sessions; --",
        '\u0000',
        '\ud800',
        'a"b',
        'words:x',
        '+',
      ])('a query may hold %j, which has no meaning of its own', async (text) => {
        await begun('s1', {}, says('user', 'nothing of it'));
        await find(text);
        await find(`nothing ${text}`);
        await find(`"nothing${text}`);
        expect(await found('nothing')).toEqual(['s1']);
      });

      test('signs for anything stand for themselves', async () => {
        await begun('s1', { title: '100% of_it' });
        await begun('s2', { title: '100 of it' });
        expect(await found('100%')).toEqual(['s1']);
        expect(await found('of_i')).toEqual(['s1']);
        expect(await found('0%0')).toEqual([]);
      });

      test('scripts without spaces are found by one, two and more characters', async () => {
        await begun('s1', {}, says('user', '请帮我修复登录页面的错误'));
        await begun('s2', {}, says('user', 'ログイン画面を直してください'));
        await begun('s3', {}, says('user', '로그인 화면을 고쳐 주세요 🦊🐢'));
        for (const text of ['登录', '修复', '录', '误', '登录页面', '修复登录页面']) expect([text, await found(text)]).toEqual([text, ['s1']]);
        for (const text of ['画面', 'ログ', 'グイン', '直して']) expect([text, await found(text)]).toEqual([text, ['s2']]);
        for (const text of ['그인', '화면', '🐢', '🦊']) expect([text, await found(text)]).toEqual([text, ['s3']]);
        expect(await found('登页')).toEqual([]);
      });

      test('what describes a session comes first, what only resembles the query last', async () => {
        await begun('s1', { title: 'Notes' }, says('user', 'the parser is slow'));
        await begun('s2', { title: 'The parser' }, says('user', 'hello'));
        await begun('s3', { title: 'p-a-r-s-e-r' }, says('user', 'hello'));
        expect(await found('parser')).toEqual(['s2', 's1', 's3']);
        expect((await find('parser')).hits.map(({ match }) => match)).toEqual(['title', 'message', 'title']);
        expect(await found('s3')).toEqual(['s3']);
      });

      test.each<[string, Partial<SessionRecord>, string]>([
        ['path', { cwd: '/project/deep/folder' }, 'deep/fold'],
        ['model', { model: 'giant-7b' }, 'GIANT'],
      ])('finds a session by its %s', async (match, more, text) => {
        await begun('s1', more);
        await begun('s2');
        expect((await find(text)).hits).toMatchObject([{ session: { id: 's1' }, match }]);
      });

      test('a message that holds the words as they were typed, and more often, is better', async () => {
        const filler = 'and a good deal of other words to make it long '.repeat(5);
        await begun('s1', { title: 'a' }, says('user', `memory ${filler} out ${filler} of`));
        await begun('s2', { title: 'b' }, says('user', 'it ran out of memory'));
        await begun('s3', { title: 'c' }, says('user', `of memory ${filler} out`));
        expect((await found('out of memory'))[0]).toBe('s2');
      });

      test('a snippet marks what was looked for, and where it stands', async () => {
        await begun('s1', { title: 'x' }, says('user', `${'before '.repeat(30)}the Crème\nwas good${' after'.repeat(60)}`));
        const [hit] = (await find('creme good')).hits;
        const { seq, text = '', marks = [] } = hit?.snippet ?? {};
        expect(seq).toBe(1);
        expect(marks.map(([from, to]) => text.slice(from, to))).toEqual(['Crème', 'good']);
        expect(text).toMatch(/^….*the Crème was good.*…$/);
        expect(text.length).toBeLessThan(200);
      });

      test('notes for the model, results, rejected replies and other sessions than conversations are not found', async () => {
        const reply: Message = { role: 'assistant', origin: 'model', blocks: [{ type: 'text', text: 'needle' }] };
        await begun('s1', {}, says('user', 'hello'), says('user', 'needle', { origin: 'reminders', reminder: true }), says('tool', 'needle'), {
          kind: 'rejected',
          data: { message: reply, reasons: ['no'] },
        });
        await begun('s2', { kind: 'background', title: 'needle' }, says('user', 'needle'));
        await begun('s3', { kind: 'child', title: 'needle' }, says('user', 'needle'));
        expect(await found('needle')).toEqual([]);
      });

      test('of one project, of all, no more than asked for, and the newest of them without a word', async () => {
        await begun('s1', { title: 'a' }, says('user', 'needle'));
        clock.tick(1_000);
        await begun('s2', { title: 'b', root: '/other', cwd: '/other' }, says('user', 'needle'));
        clock.tick(1_000);
        await begun('s3', { title: 'c' }, says('user', 'needle'));
        expect(await found('needle', { root: '/project' })).toEqual(['s3', 's1']);
        expect(await found('needle')).toEqual(['s3', 's2', 's1']);
        expect(await find('needle', { limit: 1 })).toMatchObject({ hits: [{ session: { id: 's3' } }], hasMore: true, waiting: 0 });
        expect(await found('  ')).toEqual(['s3', 's2', 's1']);
      });

      test('what was undone is found; what was removed is not', async () => {
        await begun('s1', {}, says('user', 'one'), says('user', 'undone'));
        await begun('s2', {}, says('user', 'undone as well'));
        const lease = await store.claim('s1');
        await store.append('s1', [], { epoch: lease.epoch, head: 'e1' });
        await lease.release();
        expect((await found('undone')).sort()).toEqual(['s1', 's2']);
        await store.remove('s2');
        expect(await found('undone')).toEqual(['s1']);
        await begun('s2', {}, says('user', 'new'));
        expect(await found('undone')).toEqual(['s1']);
      });
    });

    test('closing twice is fine, and nothing can be done afterwards', async () => {
      await begun('s1');
      await store.claim('s1');
      await store.close();
      await store.close();
      expect(await failure(() => store.claim('s1'))).toBe('STORE_UNAVAILABLE');
      expect(await failure(() => store.get('s1'))).toBe('STORE_UNAVAILABLE');
      expect(await failure(() => store.list({ limit: 1 }))).toBe('STORE_UNAVAILABLE');
      expect(await failure(() => store.create(newRecord('s2')))).toBe('STORE_UNAVAILABLE');
    });
  });
};
