/**
 * What all processes of a user have used on a day. Each request adds a line in one write: nothing is read before it is written, so no
 * count is lost, however many processes write at once. Synchronous, because a process may end right behind its last request.
 */
import { appendFileSync, closeSync, fstatSync, mkdirSync, openSync, readdirSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, type Clock, type Usage } from '../../kernel/index.ts';
import { KEPT_DAYS } from './limits.ts';
import { add, NOTHING, spentOn, type Spent } from './spending.ts';

export interface Day {
  add(usage: Usage, isChild: boolean): void;
  /** Throws when it cannot be read: what is not known is not within a budget. */
  spent(): Spent;
}

/** In local time, as people mean it. */
const dayOf = (at: number): string => {
  const date = new Date(at);
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => `${part}`.padStart(2, '0')).join('-');
};
const FILE = /^(\d{4}-\d{2}-\d{2})\.jsonl$/;
const DAY_MS = 86_400_000;

export const openDay = (home: string, clock: Clock, warn: (text: string, code: string) => void): Day => {
  const folder = join(home, 'storage', 'budget');
  const fileOf = (day: string): string => join(folder, `${day}.jsonl`);
  let known = { day: '', offset: 0, spent: NOTHING };
  /** Of this process, where the disk did not take it. */
  let unsaved = NOTHING;
  let isPrepared = false;

  const prepare = (): void => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const oldest = dayOf(clock.now() - KEPT_DAYS * DAY_MS);
    const old = readdirSync(folder).filter((name) => (FILE.exec(name)?.[1] ?? oldest) < oldest);
    for (const name of old) rmSync(join(folder, name), { force: true });
    isPrepared = true;
  };

  return {
    add: (usage, isChild) => {
      const spent = spentOn(usage, isChild);
      try {
        if (!isPrepared) prepare();
        appendFileSync(fileOf(dayOf(clock.now())), `${JSON.stringify(spent)}\n`, { mode: 0o600 });
      } catch (error) {
        unsaved = add(unsaved, spent);
        warn(`What this request used is counted in this process only: ${messageOf(error)}`, 'BUDGET_DAY');
      }
    },
    spent: () => {
      const day = dayOf(clock.now());
      if (known.day !== day) known = { day, offset: 0, spent: NOTHING };
      const { text, offset } = readFrom(fileOf(day), known.offset);
      known = { day, offset, spent: text.split('\n').reduce((sum, line) => add(sum, spentIn(line)), known.spent) };
      return add(known.spent, unsaved);
    },
  };
};

/** Whole lines behind `offset`; the file may not be there yet. */
const readFrom = (file: string, offset: number): { readonly text: string; readonly offset: number } => {
  const handle = openIfThere(file);
  if (handle === undefined) return { text: '', offset: 0 };
  try {
    const bytes = Buffer.alloc(Math.max(0, fstatSync(handle).size - offset));
    const read = readSync(handle, bytes, 0, bytes.length, offset);
    const end = bytes.subarray(0, read).lastIndexOf(0x0a) + 1;
    return { text: bytes.subarray(0, end).toString('utf8'), offset: offset + end };
  } finally {
    closeSync(handle);
  }
};
const openIfThere = (file: string): number | undefined => {
  try {
    return openSync(file, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

/** A line that a crash cut, or that somebody else wrote, counts as nothing. */
const spentIn = (line: string): Spent => {
  try {
    const { cost, tokens, childCost, childTokens } = JSON.parse(line) as Record<keyof Spent, unknown>;
    const count = (value: unknown): number => (typeof value === 'number' && value > 0 ? value : 0);
    return { cost: count(cost), tokens: count(tokens), childCost: count(childCost), childTokens: count(childTokens) };
  } catch {
    return NOTHING;
  }
};
