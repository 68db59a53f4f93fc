/** The edges of faults: half changes, one question for many, guards that cannot wait, what outlives a generation, late clocks. */
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { definePlugin, defineTool, jsonSchema, type HookName, type Manifest, type Plugin, type Scope, type TapPort } from 'cast';
import { createTestSession, say, use } from 'cast/testkit';
import type { FaultObserver, TapRecord } from '../../../kernel/hooks/guard.ts';
import { HOOKS } from '../../../kernel/hooks/catalogue.ts';
import { HookSet } from '../../../kernel/hooks/hook-set.ts';
import { createPorts } from '../../../kernel/hooks/port.ts';
import { Budget, offTheClock, runAs, watchRuns, type Running } from '../../../kernel/hooks/running.ts';

const MANIFEST: Manifest = { name: 'mine', version: '1', apiVersion: 1, summary: '', capabilities: [], activation: ['session'], taps: null };
const setOf = (observer: Partial<FaultObserver>, apply: (hooks: Scope<unknown, never>['hooks']) => void): HookSet => {
  const hooks = new HookSet({ fault: () => undefined, closedGuard: async () => 'open', ...observer });
  apply(createPorts(hooks, MANIFEST, 1));
  return hooks;
};
const boom = (): never => {
  throw new Error('oops');
};
const at = () => ({ signal: new AbortController().signal }) as never;

describe('a tap whose faults are skipped leaves no half change', () => {
  const reader = definePlugin({
    name: 'reader',
    apply: ({ registries }) =>
      void registries.tools.add(
        defineTool({ name: 'read', description: 'reads', input: jsonSchema<object>({ type: 'object' }), effect: 'read', run: async () => 'text' }),
      ),
  });
  const halfWay = (apply: Parameters<typeof definePlugin>[0]['apply']): Plugin => definePlugin({ name: 'half', ...(apply ? { apply } : {}) });

  test('in offer', async () => {
    const half = halfWay(({ hooks }) =>
      hooks.offer.tap('half', { onFault: 'skip' }, (offer) => {
        offer.keep(() => false, 'none');
        boom();
      }),
    );
    await using session = await createTestSession({ plugins: [reader, half], script: [use('read'), say('done')] });
    await session.run('go');
    expect(session.results()).toMatchObject([{ status: 'ok', content: 'text' }]);
  });

  test.each([
    ['throws', boom],
    ['hangs and goes on later', async () => wait(150)],
  ])('in reply, when it %s', async (_, then) => {
    const half = halfWay(({ hooks }) =>
      hooks.reply.tap('half', { onFault: 'skip', budgetMs: 50 }, async (review) => {
        review.show('half');
        review.reject('half');
        review.record('half', 1);
        await then();
        review.reject('late');
      }),
    );
    const whole = definePlugin({ name: 'whole', apply: ({ hooks }) => hooks.reply.tap('whole', (review) => review.show(`${review.visible}!`)) });
    await using session = await createTestSession({ plugins: [half, whole], script: [say('done')] });
    expect(await session.run('go')).toMatchObject({ reason: 'stop' });
    expect([session.text(), session.requests.length]).toEqual(['done!', 1]);
    expect((await session.entries()).filter((entry) => entry.kind === 'plugin')).toEqual([]);
  });

  test('and one that returns has changed it', async () => {
    const deny = halfWay(({ hooks }) => hooks.offer.tap('none', (offer) => offer.keep(() => false, 'not now')));
    await using session = await createTestSession({ plugins: [reader, deny], script: [use('read'), say('done')] });
    await session.run('go');
    expect(session.results()).toMatchObject([{ content: expect.stringContaining('read is not available: not now (half)') }]);
  });
});

describe('a closed guard', () => {
  const closed = (observer: Partial<FaultObserver>, hook: HookName = 'gate'): { hooks: HookSet; tap: TapRecord } => {
    const hooks = setOf(observer, (ports) => (ports[hook] as TapPort<() => void>).tap('guard', { stage: 'policy' }, () => undefined));
    const [tap] = hooks.taps;
    if (!tap) throw new Error('no tap');
    tap.state = 'quarantined';
    return { hooks, tap };
  };

  test('raises one question for all that wait, and the next one when it closes again', async () => {
    let questions = 0;
    const { hooks, tap } = closed({ closedGuard: async () => (await wait(20), (questions += 1), 'open') });
    await Promise.all([1, 2, 3].map(() => hooks.bail('gate', at(), undefined)));
    expect([questions, tap.state, tap.calls]).toEqual([1, 'open', 3]);
    tap.state = 'quarantined';
    await hooks.bail('gate', at(), undefined);
    expect(questions).toBe(2);
  });

  test('refuses all that wait when nobody decides, and can be asked about again', async () => {
    let questions = 0;
    const { hooks } = closed({ closedGuard: async () => (await wait(5), (questions += 1), boom()) });
    const votes = await Promise.allSettled([1, 2].map(() => hooks.bail('gate', at(), undefined)));
    expect([votes.map((vote) => vote.status), questions]).toEqual([['rejected', 'rejected'], 1]);
    await expect(hooks.bail('gate', at(), undefined)).rejects.toThrow('oops');
    expect(questions).toBe(2);
  });

  test.each(['open', 'off'] as const)('of a synchronous hook is asked about before it fires: %s', async (state) => {
    const { hooks, tap } = closed({ closedGuard: async () => state }, 'offer');
    expect(() => hooks.sync('offer', {}, at())).toThrow(/guards offer and was closed/);
    await hooks.settleGuards('offer', new AbortController().signal);
    hooks.sync('offer', {}, at());
    expect([tap.state, tap.calls]).toEqual([state, state === 'open' ? 1 : 0]);
  });

  test('stays closed in the next generation', () => {
    const hooks = setOf({ remembered: (key) => (key === 'gate mine/guard' ? { state: 'quarantined', faults: 3 } : undefined) }, ({ gate, prepare }) => [
      gate.tap('guard', () => undefined),
      prepare.tap('guard', () => undefined),
    ]);
    expect(hooks.taps.map(({ hook, state, faults }) => [hook, state, faults])).toEqual([
      ['gate', 'quarantined', 3],
      ['prepare', 'open', 0],
    ]);
  });
});

test('the taps of one plugin fire alone, in order', async () => {
  const seen: string[] = [];
  const hooks = setOf({}, ({ open }) => {
    open.tap('second', { stage: 'late' }, () => void seen.push('second'));
    open.tap('first', () => void seen.push('first'));
  });
  createPorts(hooks, { ...MANIFEST, name: 'other' }, 2).open.tap('other', () => void seen.push('other'));
  await hooks.seriesOf('mine', 'open', { resumed: false }, at());
  expect(seen).toEqual(['first', 'second']);
});

describe('outcomes are read as deep as the kernel reads them', () => {
  const message = { role: 'user', origin: 'x', blocks: [{ type: 'text', text: 'x' }], entry: 'e', tokens: 1 };
  const section = { name: 'a', slot: 'conduct', text: 'x', from: 'b' };
  test.each<[HookName, unknown, RegExp | undefined]>([
    ['prompt', [undefined], /no\. 1 must be an object/],
    ['prompt', [section, { ...section, slot: 'top' }], /no\. 2 `slot` must be identity, /],
    ['prompt', [section], undefined],
    ['context', [undefined], /no\. 1 must be an object/],
    ['context', [{ ...message, blocks: ['x'] }], /no\. 1 `blocks` no\. 1 must be an object/],
    ['context', [message], undefined],
    ['input', { before: 'abc' }, /`before` must be a list/],
    ['input', { before: ['a', 1] }, /`before` no\. 2 must be a text/],
    ['input', { text: undefined }, /`text` must be a text/],
    ['input', { handled: 7 }, /`handled` must be a text/],
    ['input', { before: ['a'], text: 'b' }, undefined],
    ['request', { messages: [null] }, /`messages` no\. 1 must be an object/],
    ['request', { maxOutputTokens: '10' }, /`maxOutputTokens` must be a number/],
    ['request', { model: 'm', maxOutputTokens: undefined }, undefined],
    ['gate', { deny: 'no', endsTurn: 'yes' }, /`endsTurn` must be true or false/],
    ['gate', { ask: 'why', rule: 7 }, /`rule` must be a text/],
    ['gate', { ask: 'why', rule: undefined }, undefined],
    ['result', { notes: [{ path: 'a', mood: 'sad', text: 'x' }] }, /`notes` no\. 1 `mood` must be info, warn or bad/],
    ['result', { error: 'bad' }, /`error` must be an object/],
    ['result', { changed: ['a'], details: { any: 1 } }, undefined],
    ['spawn', { env: { A: 1 } }, /`env` no\. 1 must be a text/],
    ['spawn', { argv: [] }, /`argv` must have at least one word/],
    ['failure', { retry: { reason: 'x', afterMs: 'soon' } }, /`retry`: `afterMs` must be a number/],
    ['ask', { choice: 'once' }, /`by` must be a text/],
  ])('%s: %j', (hook, outcome, wrong) => {
    const said = HOOKS[hook].check(outcome);
    if (wrong) expect(said).toMatch(wrong);
    else expect(said).toBeUndefined();
  });
});

describe('clocks', () => {
  test('a budget that was stopped stays stopped, whoever resumes it', async () => {
    let isSpent = false;
    const budget = new Budget(20, () => {
      isSpent = true;
    }).start();
    const waiting = runAs({ plugin: 'a', where: 'b', label: 'c', budget }, () => offTheClock(() => wait(10)));
    budget.stop();
    await waiting;
    await wait(40);
    expect(isSpent).toBe(false);
  });
});

test('whoever watches sees each run enter, leave and end', async () => {
  const seen: string[] = [];
  const unwatch = watchRuns(({ label }: Running) => ({ left: () => void seen.push(`${label} left`), ended: () => void seen.push(`${label} ended`) }));
  const run = <T>(label: string, work: () => T): T => runAs({ plugin: 'a', where: 'b', label }, work);
  try {
    const slow = run('slow', () => wait(10));
    run('quick', () => run('inner', () => undefined));
    expect(() => run('bad', boom)).toThrow('oops');
    await slow;
    await expect(run('rejects', async () => boom())).rejects.toThrow('oops');
  } finally {
    unwatch();
  }
  run('unseen', () => undefined);
  expect(seen).toEqual([
    'slow left',
    'inner left',
    'inner ended',
    'quick left',
    'quick ended',
    'bad left',
    'bad ended',
    'slow ended',
    'rejects left',
    'rejects ended',
  ]);
});

test('a renewal does not forgive: a closed tap stays closed, and its plugin is still said to be quarantined', async () => {
  let calls = 0;
  const bad = definePlugin({
    name: 'bad',
    apply: ({ hooks, registries }) => {
      hooks.context.tap('boom', () => {
        calls += 1;
        throw new Error('oops');
      });
      registries.commands.add({ name: 'renew', summary: 'x', run: (_, at) => at.renew() });
    },
  });
  await using session = await createTestSession({ plugins: [bad], script: Array.from({ length: 5 }, () => say('x')) });
  for (let turn = 1; turn <= 3; turn++) await session.run('go');
  await session.client.command('renew', '');
  await session.run('on');
  expect(calls).toBe(3);
  expect((await session.report()).plugins.find((plugin) => plugin.name === 'bad')?.state).toBe('quarantined');
});

test('a closed guard of a synchronous hook can be decided about', async () => {
  let calls = 0;
  const bad = definePlugin({
    name: 'bad',
    apply: ({ hooks }) =>
      hooks.offer.tap('boom', { stage: 'mode' }, () => {
        calls += 1;
        if (calls <= 3) throw new Error('oops');
      }),
  });
  await using session = await createTestSession({ plugins: [bad], script: [say('x')], interactive: true, answer: () => 'retry' });
  for (let turn = 1; turn <= 3; turn++) expect(await session.run('go')).toMatchObject({ reason: 'error' });
  expect(await session.run('on')).toMatchObject({ reason: 'stop' });
  expect(session.events('question.asked')).toHaveLength(1);
});
