/** The part of a session's current branch that is held in memory: from where the model's view and the newest snapshot begin, up to the head. */
import type { Store } from '../contracts/store.ts';
import type { Entry, Folded } from '../data.ts';
import { LIMITS } from '../limits.ts';

export type MessageEntry = Extract<Entry, { kind: 'message' }>;
export interface Branch {
  /** Oldest first. */
  readonly entries: readonly Entry[];
  /** The prompt that the newest cut fell behind, where it is older than the entries. */
  readonly carried?: MessageEntry;
  /** Nothing of the branch is older than the entries. */
  readonly isWhole: boolean;
}
export const EMPTY: Branch = { entries: [], isWhole: true };

/** Reads no further back than has to be held, however long the session is. */
export const loadBranch = async (store: Store, session: string, head: string | null | undefined): Promise<Branch> => {
  if (head === null) return EMPTY;
  const query = head === undefined ? {} : { head };
  const entries = await store.branch(session, { ...query, until: enough() });
  const isWhole = (entries[0]?.parent ?? null) === null;
  const prompt = promptBefore(entries);
  const [carried] = prompt === undefined ? [] : await store.branch(session, { head: prompt, until: () => true });
  return { entries, isWhole, ...(carried?.kind === 'message' ? { carried } : {}) };
};

/** Without what need no longer be held. */
export const shortened = (branch: Branch): Branch => {
  const { entries } = branch;
  const isEnough = enough();
  const from = entries.findLastIndex(isEnough);
  // A little more is not worth a copy of all the others.
  if (from < LIMITS.heldEntries) return branch;
  const kept = entries.slice(from);
  const prompt = promptBefore(kept);
  const carried = branch.carried?.id === prompt ? branch.carried : entries.find((entry) => entry.id === prompt);
  return { entries: kept, isWhole: false, ...(carried?.kind === 'message' ? { carried } : {}) };
};

/** Told each entry, newest first: true for the one at which what has to be held begins. */
const enough = (): ((entry: Entry) => boolean) => {
  let count = 0;
  let hasSnapshot = false;
  let cut: { readonly keepFrom: string } | undefined;
  let hasCut = false;
  return (entry) => {
    count += 1;
    if (entry.kind === 'snapshot') hasSnapshot = true;
    if (entry.kind === 'compaction') cut ??= entry.data;
    if (entry.id === cut?.keepFrom) hasCut = true;
    return hasSnapshot && hasCut && count >= LIMITS.heldEntries;
  };
};

/** The newest compaction. */
export const cutIn = (entries: readonly Entry[]): Extract<Entry, { kind: 'compaction' }> | undefined => {
  const cut = entries.findLast((entry) => entry.kind === 'compaction');
  return cut?.kind === 'compaction' ? cut : undefined;
};
/** Index of the first entry that stays in view. Where a damaged file has lost that one, only what follows the compaction is known to stay. */
export const keptFrom = (entries: readonly Entry[]): number => {
  const cut = cutIn(entries);
  if (!cut) return 0;
  const at = entries.findIndex((entry) => entry.id === cut.data.keepFrom);
  return at < 0 ? entries.indexOf(cut) : at;
};
const promptBefore = (entries: readonly Entry[]): string | undefined => {
  const prompt = cutIn(entries)?.data.prompt;
  return prompt === undefined || entries.some((entry) => entry.id === prompt) ? undefined : prompt;
};

/** What everything before the newest snapshot comes to, and what follows it. */
export const foldedIn = (entries: readonly Entry[]): { readonly folded: Folded | undefined; readonly since: readonly Entry[] } => {
  const at = entries.findLastIndex((entry) => entry.kind === 'snapshot');
  const entry = entries[at];
  return { folded: entry?.kind === 'snapshot' ? entry.data : undefined, since: entries.slice(at + 1) };
};

/** As `plugin/slice`. */
export const slicesIn = ({ states, unfolded }: Folded): readonly string[] => [...Object.keys(states), ...unfolded];

/** Plugins of which the branch has entries. */
export const recordersIn = (entries: readonly Entry[]): ReadonlySet<string> => {
  const { folded, since } = foldedIn(entries);
  const slices = folded ? slicesIn(folded) : [];
  return new Set([...slices.map((key) => key.slice(0, key.indexOf('/'))), ...since.flatMap((entry) => (entry.kind === 'plugin' ? [entry.data.plugin] : []))]);
};
