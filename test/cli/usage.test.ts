/** `cast usage`: what real runs left in the store, added up. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Entry, SessionRecord, UsageRecord } from '../../kernel/index.ts';
import { createMemoryStore, manualClock } from '../../kernel/testkit/index.ts';
import { reportUsage, localDay } from '../../cli/usage-report.ts';
import { call, say } from '../provider.ts';
import { useCommand } from './command.ts';

const { provide, project, cast } = useCommand();

test('runs of the store are added up by day, model and project, and nothing is written', async () => {
  const place = project({ 'one.txt': 'x' });
  const provider = await provide(call('bash', { command: 'true' }), say('done'));
  await cast(['run', 'go'], { provider, place });
  await cast(['run', '-c', '-m', 'other-model', 'go on'], { provider, place });
  const text = await cast(['usage'], { place });
  expect(text.code).toBe(0);
  expect(text.stdout).toMatch(/^1 session since \d{4}-\d\d-\d\d\n/);
  expect(text.stdout).toMatch(/\nall +300 +0 +0 +300 +30 +0 +330 +unknown\n/);
  expect(text.stdout).toMatch(/test-model +200 .*\n.*other-model +100 /);
  const database = join(place.castHome, 'sessions', 'sessions.db');
  const before = readFileSync(database);
  const { stdout } = await cast(['usage', '--json', '--days', '1'], { place });
  const report = JSON.parse(stdout) as Record<string, readonly object[]>;
  expect(report).toMatchObject({ total: { promptTokens: 300, completionTokens: 30, totalTokens: 330 }, sessions: 1, isCut: false });
  expect(report['projects']).toMatchObject([{ root: place.cwd, totalTokens: 330 }]);
  expect(report['days']).toHaveLength(1);
  expect(readFileSync(database).equals(before)).toBe(true);
  expect(statSync(database).mode & 0o777).toBe(0o600);
});

test('without a store there is nothing, and wrong days are refused', async () => {
  expect(await cast(['usage'], {})).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Nothing has been used since/) });
  for (const days of ['0', '1.5', '4000']) expect((await cast(['usage', '--days', days], {})).code).toBe(3);
});

const DAY = 86_400_000;
const used = (more: Partial<UsageRecord> = {}): UsageRecord => ({
  provider: 'p',
  model: 'm',
  promptTokens: 100,
  completionTokens: 10,
  totalTokens: 110,
  cacheReadTokens: 60,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  uncachedTokens: 40,
  subagentTokens: 0,
  ...more,
});

test('days, partial costs, sub-agents, and what is no record', async () => {
  const clock = manualClock();
  const store = createMemoryStore(clock);
  const begin = clock.now();
  const session = async (id: string, kind: SessionRecord['kind'], records: readonly object[]): Promise<void> => {
    await store.create({ id, cwd: '/', root: `/${id}`, title: '', model: 'm', provider: 'p', parent: null, kind, createdAt: clock.now() });
    const { epoch, release } = await store.claim(id);
    for (const [index, data] of records.entries()) {
      const entry = {
        id: `${id}${index}`,
        parent: null,
        seq: index + 1,
        at: clock.now(),
        kind: 'plugin',
        data: { plugin: 'usage', slice: 'sums', data: { session: id, ...data } },
      };
      await store.append(id, [entry as Entry], { epoch });
      await clock.advance(DAY);
    }
    await release();
  };
  await session('a', 'conversation', [
    { added: [used({ cost: 0.5, subagentTokens: 30 })] },
    { added: [used()] },
    { models: {} },
    { added: [{ provider: 'p' }, 7] },
  ]);
  await session('b', 'child', [{ added: [used()] }]);
  // A fork has a copy of what its original used.
  await session('c', 'background', [{ session: 'a', added: [used()] }, { added: [used({ model: 'n', cost: 0.25 })] }]);
  const all = await reportUsage(store, clock.now(), 30);
  expect(all).toMatchObject({ sessions: 2, total: { totalTokens: 330, cacheReadTokens: 180, subagentTokens: 30, cost: 0.75, isCostPartial: true } });
  expect(all.days.map(({ day, totalTokens }) => [day, totalTokens])).toEqual([
    [localDay(begin + 6 * DAY), 110],
    [localDay(begin + DAY), 110],
    [localDay(begin), 110],
  ]);
  expect(all.models.map(({ model, totalTokens, isCostPartial }) => [model, totalTokens, isCostPartial])).toEqual([
    ['m', 220, true],
    ['n', 110, false],
  ]);
  expect((await reportUsage(store, clock.now(), 2)).total.totalTokens).toBe(110);
});
