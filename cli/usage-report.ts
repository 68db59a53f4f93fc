/** Adds up what sessions have used, from the records that the plugin `usage` keeps with them. */
import type { Entry, SessionRecord, Store, UsageRecord, UsageTotals } from '../kernel/index.ts';

export interface Sum extends UsageTotals {
  /** Some of it has no known price, so it cost at least that. */
  readonly isCostPartial: boolean;
}
export interface UsageReport {
  /** Local date of the first day that counts. */
  readonly since: string;
  readonly sessions: number;
  readonly total: Sum;
  readonly days: readonly (Sum & { readonly day: string })[];
  readonly models: readonly (Sum & { readonly provider: string; readonly model: string })[];
  readonly projects: readonly (Sum & { readonly root: string })[];
  /** There were more sessions or records than are read. */
  readonly isCut: boolean;
}

/** So that a store of any size is read in bounded time and memory. */
const MAX_SESSIONS = 10_000;
const MAX_RECORDS = 500_000;
const PAGE = 500;

const NUMBERS = [
  'promptTokens',
  'completionTokens',
  'totalTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'reasoningTokens',
  'uncachedTokens',
  'subagentTokens',
] as const;
const NOTHING: Sum = { ...(Object.fromEntries(NUMBERS.map((key) => [key, 0])) as unknown as UsageTotals), isCostPartial: false };

const plus = (a: Sum, b: Sum): Sum => ({
  ...(Object.fromEntries(NUMBERS.map((key) => [key, a[key] + b[key]])) as unknown as UsageTotals),
  ...(a.cost === undefined && b.cost === undefined ? {} : { cost: (a.cost ?? 0) + (b.cost ?? 0) }),
  isCostPartial: a.isCostPartial || b.isCostPartial,
});

/** Local time, as people mean a day. */
export const localDay = (at: number): string => {
  const date = new Date(at);
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => `${part}`.padStart(2, '0')).join('-');
};
const midnight = (now: number, daysBack: number): number => {
  const date = new Date(now);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() - daysBack).getTime();
};

/** Of the newest `days` days, today included. Reads only. */
export const reportUsage = async (store: Store, now: number, days: number): Promise<UsageReport> => {
  const since = midnight(now, days - 1);
  const [byDay, byModel, byProject] = [new Map<string, Sum>(), new Map<string, Sum>(), new Map<string, Sum>()];
  let total = NOTHING;
  let sessions = 0;
  let left = MAX_RECORDS;
  const book = (map: Map<string, Sum>, key: string, sum: Sum): void => void map.set(key, plus(map.get(key) ?? NOTHING, sum));
  const { records, isCut } = await sessionsSince(store, since);
  for (const session of records) {
    let isUsed = false;
    for await (const { at, record } of usedIn(store, session.id, since)) {
      if (left-- <= 0) break;
      const sum: Sum = { ...record, isCostPartial: record.cost === undefined };
      isUsed = true;
      total = plus(total, sum);
      book(byDay, localDay(at), sum);
      book(byModel, JSON.stringify([record.provider, record.model]), sum);
      book(byProject, session.root, sum);
    }
    if (isUsed) sessions += 1;
    if (left <= 0) break;
  }
  return {
    since: localDay(since),
    sessions,
    total,
    days: [...byDay].map(([day, sum]) => ({ day, ...sum })).sort((a, b) => (a.day < b.day ? 1 : -1)),
    models: most([...byModel].map(([key, sum]) => ({ ...namesIn(key), ...sum }))),
    projects: most([...byProject].map(([root, sum]) => ({ root, ...sum }))),
    isCut: isCut || left <= 0,
  };
};

const most = <T extends Sum>(sums: readonly T[]): readonly T[] => [...sums].sort((a, b) => b.totalTokens - a.totalTokens);
const namesIn = (key: string): { readonly provider: string; readonly model: string } => {
  const [provider, model] = JSON.parse(key) as [string, string];
  return { provider, model };
};

/** What sub-agents used stands with the session that started them. */
const sessionsSince = async (store: Store, since: number): Promise<{ readonly records: readonly SessionRecord[]; readonly isCut: boolean }> => {
  const found = new Map<string, SessionRecord>();
  for (let before: number | undefined; found.size < MAX_SESSIONS; ) {
    const page = await store.list({ limit: PAGE, ...(before === undefined ? {} : { before }) });
    const known = found.size;
    for (const record of page) if (record.updatedAt >= since) found.set(record.id, record);
    const last = page.at(-1);
    if (!last || page.length < PAGE || last.updatedAt < since || found.size === known) return { records: withoutChildren(found), isCut: false };
    // Others may have changed in the same millisecond.
    before = last.updatedAt + 1;
  }
  return { records: withoutChildren(found), isCut: true };
};
const withoutChildren = (found: ReadonlyMap<string, SessionRecord>): readonly SessionRecord[] => [...found.values()].filter(({ kind }) => kind !== 'child');

async function* usedIn(store: Store, session: string, since: number): AsyncGenerator<{ readonly at: number; readonly record: UsageRecord }> {
  for (let before: number | undefined; ; ) {
    const page = await store.read(session, { limit: PAGE, kinds: ['plugin'], ...(before === undefined ? {} : { before }) });
    for (const entry of page) {
      if (entry.at < since) return;
      for (const record of recordsIn(entry, session)) yield { at: entry.at, record };
    }
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    before = last.seq;
  }
}

/** A fork brings the records of its original along, which are counted there. */
const recordsIn = (entry: Entry, id: string): readonly UsageRecord[] => {
  if (entry.kind !== 'plugin' || entry.data.plugin !== 'usage') return [];
  const { session, added } = entry.data.data as { readonly session?: unknown; readonly added?: unknown };
  return session === id && Array.isArray(added) ? added.filter(isRecord) : [];
};
const isRecord = (value: unknown): value is UsageRecord => {
  if (typeof value !== 'object' || value === null) return false;
  const { provider, model, ...rest } = value as Readonly<Record<string, unknown>>;
  return typeof provider === 'string' && typeof model === 'string' && NUMBERS.every((key) => typeof rest[key] === 'number');
};
