/** Puts sessions from elsewhere into the store. */
import type { Entry, Store } from '../../kernel/index.ts';
import type { Transcript } from './jsonl.ts';
import { titleOf } from './transcript.ts';

/** Answers what became of it, for people. It keeps its id and its dates. */
export const takeIn = async (store: Store, { record, entries }: Transcript): Promise<string> => {
  const { head, messages: _, updatedAt, pinned, ...rest } = record;
  if (await store.get(record.id)) return `${record.id} is here already and was left as it is.`;
  if (entries.length === 0) return `${record.id} has nothing in it and was left out.`;
  await store.create(rest);
  const lease = await store.claim(record.id);
  try {
    // In one piece: half a session would pass for the whole one at the next import.
    const end = head === null || entries.some(({ id }) => id === head) ? head : (entries.at(-1)?.id ?? null);
    await store.append(record.id, entries, { epoch: lease.epoch, head: end, leave: leftOut(entries, end), ...(updatedAt > 0 ? { at: updatedAt } : {}) });
    await store.update(record.id, { pinned, title: record.title });
  } finally {
    await lease.release();
  }
  return `${record.id} is taken in: entries ${entries.length}, ${titleOf(record)}`;
};

/** Messages of other branches, and those that a summary took the place of. */
const leftOut = (entries: readonly Entry[], head: string | null): string[] => {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const kept = new Set<string>();
  let keepFrom: string | undefined;
  let isCut = false;
  for (let at = head === null ? undefined : byId.get(head); at; at = at.parent === null ? undefined : byId.get(at.parent)) {
    if (!isCut && at.kind === 'message') kept.add(at.id);
    if (at.kind === 'compaction' && keepFrom === undefined) {
      keepFrom = at.data.keepFrom;
      if (at.data.prompt !== undefined) kept.add(at.data.prompt);
    }
    if (at.id === keepFrom) isCut = true;
  }
  return entries.filter(({ id, kind }) => (kind === 'message' || kind === 'rejected') && !kept.has(id)).map(({ id }) => id);
};
