/** A long session: what is read to go on with it is what the model sees and the newest snapshot, and says the same as all of it would. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkedBy, definePlugin, defineTool, jsonSchema, type Entry, type Store } from '../../../kernel/index.ts';
import { LIMITS } from '../../../kernel/limits.ts';
import { createMemoryStore } from '../../../kernel/session/memory-store.ts';
import { viewOf } from '../../../kernel/session/view.ts';
import { createTestSession, manualClock, say, type TestSession, use } from '../../../kernel/testkit/index.ts';

const NUMBER = checkedBy<{ readonly add: number }>('a number', ({ add }) => typeof add === 'number');

/** `/note N` records, `/shorten` compacts at a cut of its choice, `/hide` masks the newest message. */
const busy = (version = '1.0.0', hasSet = true) =>
  definePlugin({
    name: 'busy',
    version,
    apply: ({ state, registries, session, hooks }) => {
      const sum = state<{ total: number }, typeof NUMBER>({
        name: 'sum',
        data: NUMBER,
        initial: { total: 0 },
        fold: ({ total }, { add }) => ({ total: total + add }),
      });
      const seen = hasSet
        ? state<Set<number>, typeof NUMBER>({ name: 'seen', data: NUMBER, initial: new Set(), fold: (set, { add }) => new Set([...set, add % 7]) })
        : undefined;
      const work: Record<string, (args: string) => Promise<string | undefined>> = {
        note: async (args) => {
          for (let index = 0; index < Number(args); index += 1) await sum.record({ add: index });
          await seen?.record({ add: Number(args) });
          return undefined;
        },
        shorten: async () => {
          await session.compact('command', new AbortController().signal);
          return undefined;
        },
        hide: async () => {
          const last = session.view().at(-1);
          if (last && !last.entry.includes('#')) await session.mask(last.entry, 'hidden').catch(() => undefined);
          return undefined;
        },
        show: async () => JSON.stringify({ sum: sum.value.total, seen: [...(seen?.value ?? [])].sort((a, b) => a - b) }),
      };
      for (const [name, run] of Object.entries(work)) registries.commands.add({ name, summary: name, run });
      hooks.compact.tap('cut', ({ cuts }) => {
        const keepFrom = cuts.at(-1);
        return keepFrom === undefined ? { cancel: 'nothing to cut' } : { summary: 'what was', keepFrom };
      });
    },
  });

/** Tells how many entries were read. */
const counting = (store: Store): { readonly store: Store; read: number } => {
  const counted = {
    read: 0,
    store: {
      ...store,
      branch: (id: string, query = {}) => {
        const entries = store.branch(id, query) as readonly Entry[];
        counted.read += entries.length;
        return entries;
      },
    } as Store,
  };
  return counted;
};

const state = async (session: TestSession) => {
  const shown = await session.client.command('show', '');
  const { turn, cwd } = await session.client.snapshot();
  return { shown, turn, cwd };
};
/** The view as the whole branch says. */
const wholeView = (entries: readonly Entry[]) => viewOf({ entries });

const open = (store: Store, id?: string, plugin = busy()) =>
  createTestSession({
    plugins: [plugin],
    store,
    cwd: tmpdir(),
    script: Array.from({ length: 50 }, () => say('fine')),
    ...(id === undefined ? {} : { session: id }),
  });

const obey = async (session: TestSession, name: string, args = ''): Promise<void> => {
  const outcome = await session.client.command(name, args);
  expect(outcome).toMatchObject({ ok: true });
};

describe('a session of thousands of entries', () => {
  test('is gone on with from its newest snapshot and its newest cut', async () => {
    const store = createMemoryStore(manualClock());
    const first = await open(store, undefined, busy('1.0.0', false));
    for (let turn = 1; turn <= 10; turn += 1) {
      await obey(first, 'note', '300');
      await first.run(`prompt ${turn}`);
    }
    await obey(first, 'shorten');
    await first.run('after the cut');
    const before = await state(first);
    await first.close();

    const all = await store.branch(first.id);
    expect(all.length).toBeGreaterThan(3_000);
    const counted = counting(store);
    await using second = await open(counted.store, first.id, busy('1.0.0', false));
    expect(counted.read).toBeLessThan(LIMITS.snapshotEntries + LIMITS.heldEntries + 400);
    expect(await state(second)).toEqual(before);
    await second.run('once more');
    expect(second.requests[0]?.messages.map(({ blocks }) => blocks)).toEqual([
      ...wholeView(all).map(({ blocks }) => blocks),
      [{ type: 'text', text: 'once more' }],
    ]);
    expect((await second.client.snapshot()).turn).toBe(before.turn + 1);
  });

  test('a state that is no JSON, and one whose fold is of another version, are folded from the first entry', async () => {
    const store = createMemoryStore(manualClock());
    const first = await open(store);
    for (const prompt of ['a', 'b', 'c']) {
      await obey(first, 'note', '400');
      await first.run(prompt);
    }
    const before = await state(first);
    await first.close();
    const snapshot = (await store.branch(first.id)).findLast((entry) => entry.kind === 'snapshot');
    expect(snapshot?.data).toMatchObject({ unfolded: ['busy/seen'], states: { 'busy/sum': { value: { total: expect.any(Number) as number } } } });
    await using same = await open(store, first.id);
    expect(await state(same)).toEqual(before);
    await using newer = await open(store, first.id, busy('2.0.0'));
    expect(await state(newer)).toEqual(before);
  });

  test('a plugin that is off meanwhile finds its state again', async () => {
    const store = createMemoryStore(manualClock());
    const first = await open(store);
    await obey(first, 'note', '600');
    await first.run('a');
    const { shown } = await state(first);
    await first.close();
    const filler = definePlugin({
      name: 'filler',
      apply: ({ state: slice, registries }) => {
        const own = slice<number, typeof NUMBER>({ name: 'n', data: NUMBER, initial: 0, fold: (n, { add }) => n + add });
        registries.commands.add({
          name: 'fill',
          summary: 'fill',
          run: async () => {
            for (let n = 0; n < 600; n += 1) await own.record({ add: 1 });
          },
        });
      },
    });
    const without = await createTestSession({ plugins: [filler], store, session: first.id, script: [say('ok')] });
    await obey(without, 'fill');
    await without.run('b');
    await without.close();
    const snapshots = (await store.branch(first.id)).filter((entry) => entry.kind === 'snapshot');
    expect(snapshots).toHaveLength(2);
    expect(snapshots.at(-1)?.data).toMatchObject({ unfolded: expect.arrayContaining(['busy/sum']) as unknown });
    await using again = await open(store, first.id);
    expect((await state(again)).shown).toEqual(shown);
  });

  test('a turn that is no longer held can be rewound, and the one behind it goes on from there', async () => {
    const store = createMemoryStore(manualClock());
    const first = await open(store);
    await first.run('one');
    await first.run('two');
    const early = await state(first);
    for (let turn = 3; turn <= 8; turn += 1) {
      await obey(first, 'note', '300');
      await first.run(`prompt ${turn}`);
      await obey(first, 'shorten');
    }
    await first.close();
    await using second = await open(store, first.id);
    await expect(second.client.rewind({ turn: 99 })).rejects.toMatchObject({ code: 'HISTORY_BAD_MOVE' });
    await second.client.rewind({ turn: 3 });
    // What was noted before turn 3 began stays.
    expect((await second.client.snapshot()).turn).toBe(early.turn);
    await second.run('three again');
    const texts = second.requests[0]?.messages.flatMap(({ blocks }) => blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])));
    expect(texts).toEqual(['one', 'fine', 'two', 'fine', 'three again']);
  });
});

test.each([false, true])('the prompt of a turn of thousands of entries is carried over its cuts (masked: %s)', async (isMasked) => {
  const store = createMemoryStore(manualClock());
  const working = definePlugin({
    name: 'working',
    apply: ({ registries, state, session, hooks }) => {
      const own = state<number, typeof NUMBER>({ name: 'n', data: NUMBER, initial: 0, fold: (n, { add }) => n + add });
      const run = async () => {
        for (let n = 0; n < 300; n += 1) await own.record({ add: 1 });
        return 'done';
      };
      registries.tools.add(defineTool({ name: 'work', description: 'work', effect: 'write', input: jsonSchema({ type: 'object' }), run }));
      hooks.prepare.tap('shorten', async ({ step, signal }) => {
        const prompt = session.view().find(({ role, reminder }) => role === 'user' && !reminder);
        if (step === 2 && isMasked && prompt) await session.mask(prompt.entry, 'hidden');
        if (step === 4 || step === 7) await session.compact('threshold', signal);
      });
    },
  });
  const plugins = [busy('1.0.0', false), working];
  const first = await createTestSession({ plugins, store, cwd: tmpdir(), script: [...Array.from({ length: 8 }, () => use('work')), say('done')] });
  await first.run('the prompt');
  await first.close();
  const counted = counting(store);
  const all = await store.branch(first.id);
  await using second = await createTestSession({ plugins, store: counted.store, cwd: tmpdir(), session: first.id, script: [say('fine')] });
  expect(counted.read).toBeLessThan(all.length / 2);
  await second.run('next');
  const sent = second.requests[0]?.messages.map(({ blocks }) => blocks);
  expect(sent?.slice(0, -1)).toEqual(wholeView(all).map(({ blocks }) => blocks));
  expect(JSON.stringify(sent).includes('the prompt')).toBe(!isMasked);
});

test('where it works is known without the entry that says so', async () => {
  const store = createMemoryStore(manualClock());
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cast-long-')));
  const walking = definePlugin({
    name: 'walking',
    apply: ({ registries, session }) => {
      const run = async () => {
        session.moveTo(folder);
        return 'gone';
      };
      registries.tools.add(defineTool({ name: 'go', description: 'go', effect: 'write', input: jsonSchema({ type: 'object' }), run }));
    },
  });
  const first = await createTestSession({
    plugins: [busy('1.0.0', false), walking],
    store,
    cwd: tmpdir(),
    script: [use('go'), say('there'), say('fine'), say('fine')],
  });
  await first.run('go');
  await obey(first, 'note', '600');
  await first.run('on');
  await obey(first, 'shorten');
  await obey(first, 'note', '600');
  await first.run('and on');
  await first.close();
  const counted = counting(store);
  await using second = await open(counted.store, first.id, busy('1.0.0', false));
  expect(counted.read).toBeLessThan(LIMITS.snapshotEntries + 300);
  expect((await second.client.snapshot()).cwd).toBe(folder);
  rmSync(folder, { recursive: true });
});

/** More for a longer look: `LONG_RUNS=500`. */
const RUNS = Number(process.env['LONG_RUNS'] ?? 25);

type Step = readonly ['note' | 'run' | 'shorten' | 'hide' | 'rewind' | 'reopen', number];
const step: fc.Arbitrary<Step> = fc.tuple(fc.constantFrom('note', 'run', 'run', 'shorten', 'hide', 'rewind', 'reopen'), fc.nat(9));

test('whatever was done with it, it says what all of its entries say', { timeout: 90_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 22 }), async (steps) => {
      const store = createMemoryStore(manualClock());
      let session = await open(store);
      const take: Record<Step[0], (n: number) => Promise<unknown>> = {
        note: (n) => obey(session, 'note', `${n * 60}`),
        run: (n) => session.run(`prompt ${n}`),
        shorten: () => obey(session, 'shorten'),
        hide: () => obey(session, 'hide'),
        rewind: (n) => session.client.rewind({ turn: n }).catch(() => undefined),
        reopen: async () => {
          const before = await state(session);
          const { id } = session;
          await session.close();
          session = await open(store, id);
          expect(await state(session)).toEqual(before);
        },
      };
      try {
        await session.run('first');
        for (const [name, n] of steps) await take[name](n);
        const entries = await store.branch(session.id);
        const sum = entries.reduce(
          (total, entry) => (entry.kind === 'plugin' && entry.data.slice === 'sum' ? total + (entry.data.data as { add: number }).add : total),
          0,
        );
        expect((await state(session)).shown).toMatchObject({ result: expect.stringContaining(`"sum":${sum},`) as string });
        const inContext = new Set(
          (await session.client.page(undefined, 10_000)).items.flatMap((item) => (item.kind !== 'compaction' && item.inContext ? [item.entry] : [])),
        );
        const masked = new Set(entries.flatMap((entry) => (entry.kind === 'mask' ? [entry.data.entry] : [])));
        const expected = wholeView(entries).flatMap(({ entry }) =>
          masked.has(entry) || entries.find(({ id }) => id === entry)?.kind !== 'message' ? [] : [entry],
        );
        expect(inContext).toEqual(new Set(expected));
      } finally {
        await session.close();
      }
    }),
    { numRuns: RUNS },
  );
});

test('where a damaged file has lost the entry of a cut, the summary and what follows it are shown', () => {
  const message = (id: string, text: string): Entry => ({
    id,
    parent: null,
    seq: 1,
    at: 0,
    kind: 'message',
    data: { role: 'user', origin: 'user', blocks: [{ type: 'text', text }] },
  });
  const cut: Entry = {
    id: 'c',
    parent: null,
    seq: 2,
    at: 0,
    kind: 'compaction',
    data: { summary: 'earlier', keepFrom: 'lost', reason: 'threshold', tokensBefore: 9, tokensAfter: 1 },
  };
  const view = viewOf({ entries: [message('a', 'one'), cut, message('b', 'two')] });
  expect(view.map(({ entry }) => entry)).toEqual(['c', 'b']);
});
