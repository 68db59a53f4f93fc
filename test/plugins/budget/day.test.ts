/** The sum of a day: of all processes, whatever happens to the file. */
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { manualClock } from '../../../kernel/testkit/index.ts';
import { openDay } from '../../../plugins/budget/day.ts';

const USAGE = { promptTokens: 90, completionTokens: 10, totalTokens: 100, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0, cost: 0.01 };
const warnings: string[] = [];
const warn = (text: string): void => void warnings.push(text);
let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'cast-day-'));
  warnings.splice(0);
});
afterEach(() => rmSync(home, { recursive: true, force: true }));
const folder = (): string => join(home, 'storage', 'budget');

test('what others write is counted, and a line that a crash cut is not', () => {
  const clock = manualClock();
  const [one, other] = [openDay(home, clock, warn), openDay(home, clock, warn)];
  expect(one.spent()).toMatchObject({ tokens: 0 });
  one.add(USAGE, false);
  other.add(USAGE, true);
  expect(one.spent()).toEqual({ tokens: 200, cost: 0.02, childTokens: 100, childCost: 0.01 });
  const [file = ''] = readdirSync(folder());
  appendFileSync(join(folder(), file), '{"cost":9,"tok');
  expect(one.spent()).toMatchObject({ tokens: 200 });
  appendFileSync(join(folder(), file), '\n');
  other.add(USAGE, false);
  expect(one.spent()).toMatchObject({ tokens: 300 });
  expect(statSync(join(folder(), file)).mode & 0o777).toBe(0o600);
});

test('the next day begins at nothing, and old days go', async () => {
  const clock = manualClock();
  openDay(home, clock, warn).add(USAGE, false);
  for (let day = 0; day < 9; day++) {
    await clock.advance(86_400_000);
    const today = openDay(home, clock, warn);
    expect(today.spent()).toMatchObject({ tokens: 0 });
    today.add(USAGE, false);
  }
  expect(readdirSync(folder()).length).toBeLessThanOrEqual(8);
});

test('where nothing can be written this process still counts what it used itself', () => {
  mkdirSync(join(home, 'storage'));
  writeFileSync(join(home, 'storage', 'budget'), 'in the way');
  const day = openDay(home, manualClock(), warn);
  day.add(USAGE, false);
  expect(warnings).toHaveLength(1);
  expect(() => day.spent()).toThrow(/ENOTDIR/);
});
