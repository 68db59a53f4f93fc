/** Sessions that live as long as their process: for `ephemeral` ones, for tests, and when the real store fails. */
import type { Append, BranchQuery, Lease, SessionPatch, SessionQuery, SessionRecord, Store } from '../contracts/store.ts';
import type { Entry, EntryKind, Message } from '../data.ts';
import { CastError } from '../errors.ts';
import type { Clock } from '../plugin.ts';

interface Kept {
  record: SessionRecord;
  readonly entries: Entry[];
  readonly byId: Map<string, Entry>;
  epoch: number;
  held: boolean;
}

const TITLE_CHARS = 60;
/** Characters of a prompt that are looked at for its title. */
const TITLE_SOURCE_CHARS = 2_000;

export const createMemoryStore = (clock: Clock): Store => {
  const sessions = new Map<string, Kept>();
  let closed = false;

  const open = (): Map<string, Kept> => {
    if (closed) throw new CastError('STORE_UNAVAILABLE', 'The session store has been closed.');
    return sessions;
  };
  const find = (id: string): Kept => {
    const kept = open().get(id);
    if (!kept) throw new CastError('SESSION_UNKNOWN', `There is no session ${id}.`, { fix: 'Run `cast sessions list` to see those there are.' });
    return kept;
  };

  return {
    name: 'memory',
    create(record) {
      if (open().has(record.id)) throw new CastError('INTERNAL', `There is a session ${record.id} already.`);
      const whole: SessionRecord = { ...record, head: null, messages: 0, updatedAt: record.createdAt, pinned: false };
      sessions.set(record.id, { record: whole, entries: [], byId: new Map(), epoch: 0, held: false });
    },
    get: (id) => open().get(id)?.record,
    list: (query) => listed([...open().values()], query),
    update(id, patch) {
      const kept = find(id);
      kept.record = { ...kept.record, ...given(patch) };
    },
    claim(id) {
      const kept = find(id);
      if (kept.held) throw busy(id);
      kept.held = true;
      kept.epoch += 1;
      return leaseOf(kept);
    },
    append(id, batch, how) {
      const kept = find(id);
      checkAppend(kept, batch, how);
      // A copy, as a database makes one: what the caller does with its objects later changes nothing here.
      const copies = structuredClone(batch) as Entry[];
      for (const entry of copies) {
        kept.entries.push(entry);
        kept.byId.set(entry.id, entry);
      }
      kept.record = { ...afterAppend(kept.record, copies, how), updatedAt: how.at ?? clock.now() };
    },
    branch(id, query = {}) {
      const kept = find(id);
      const { head } = query;
      if (head !== undefined && !kept.byId.has(head)) throw notAnEntry(id, head);
      return chain(kept, head ?? kept.record.head, query);
    },
    read: (id, query) => page(find(id).entries, query),
    remove(id) {
      if (find(id).held) throw busy(id);
      for (const gone of withSubagents(sessions, id)) sessions.delete(gone);
    },
    close() {
      closed = true;
      sessions.clear();
    },
  };
};

const busy = (id: string): CastError =>
  new CastError('SESSION_BUSY', `Session ${id} is being written by this process (${process.pid}).`, { fix: 'Wait until its turn is done.' });
const notAnEntry = (id: string, entry: string): CastError => new CastError('HISTORY_BAD_MOVE', `Session ${id} has no entry ${entry}.`);

const leaseOf = (kept: Kept): Lease => {
  const { epoch } = kept;
  return {
    epoch,
    head: kept.record.head,
    lastSeq: lastSeq(kept.entries),
    release() {
      if (kept.epoch === epoch) kept.held = false;
    },
  };
};

const checkAppend = (kept: Kept, batch: readonly Entry[], how: Append): void => {
  const { id } = kept.record;
  if (!kept.held || kept.epoch !== how.epoch) {
    throw new CastError('STORE_LEASE_LOST', `Session ${id} is no longer held under epoch ${how.epoch}.`);
  }
  let last = lastSeq(kept.entries);
  for (const entry of batch) {
    if (entry.seq <= last) throw new CastError('INTERNAL', `Entry ${entry.id} of session ${id} has the number ${entry.seq}, which does not rise.`);
    last = entry.seq;
  }
  const { head } = how;
  if (typeof head === 'string' && !kept.byId.has(head) && !batch.some((entry) => entry.id === head)) throw notAnEntry(id, head);
};

const lastSeq = (entries: readonly Entry[]): number => entries.at(-1)?.seq ?? 0;

const afterAppend = (record: SessionRecord, batch: readonly Entry[], how: Append): SessionRecord => {
  let { title, messages } = record;
  for (const entry of batch) {
    if (entry.kind !== 'message' || !isCounted(entry.data)) continue;
    if (messages === 0 && title === '') title = titleOf(entry.data);
    messages += 1;
  }
  return { ...record, title, messages, head: how.head === undefined ? (batch.at(-1)?.id ?? record.head) : how.head };
};

/** What a reader counts: a person's messages, and replies that are no mere step towards one. */
const isCounted = (message: Message): boolean =>
  message.role === 'user' ? message.origin === 'user' : message.role === 'assistant' && !message.blocks.some((block) => block.type === 'call');

const titleOf = (message: Message): string => {
  const text = message.blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
  const line = [...text.trimStart().slice(0, TITLE_SOURCE_CHARS).replace(/\s+/g, ' ').trim()];
  return line.length > TITLE_CHARS ? `${line.slice(0, TITLE_CHARS).join('')}…` : line.join('');
};

/** A session and those that its subagents have, and theirs. */
const withSubagents = (sessions: ReadonlyMap<string, Kept>, id: string): Set<string> => {
  const found = new Set([id]);
  // A set may grow while it is walked: what is added is met as well.
  for (const parent of found) {
    for (const { record } of sessions.values()) {
      if (record.kind === 'child' && record.parent === parent) found.add(record.id);
    }
  }
  return found;
};

const given = (patch: SessionPatch): SessionPatch => Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));

const listed = (all: readonly Kept[], query: SessionQuery): SessionRecord[] =>
  all
    // A session without entries is one that nobody has begun: it is found by its id alone.
    .filter((kept) => kept.entries.length > 0 && matches(kept.record, query))
    .map((kept) => kept.record)
    .sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1))
    .slice(0, query.limit);

const matches = (record: SessionRecord, query: SessionQuery): boolean =>
  (query.root === undefined || record.root === query.root) &&
  (query.cwd === undefined || record.cwd === query.cwd) &&
  (query.kind === undefined || record.kind === query.kind) &&
  (query.before === undefined || record.updatedAt < query.before);

const chain = (kept: Kept, head: string | null, { kinds, until }: BranchQuery): Entry[] => {
  const entries: Entry[] = [];
  for (let id = head; id !== null; ) {
    const entry = kept.byId.get(id);
    if (!entry) break;
    id = entry.parent;
    if (kinds && !kinds.includes(entry.kind)) continue;
    entries.push(entry);
    if (until?.(entry)) break;
  }
  return entries.reverse();
};

const page = (entries: readonly Entry[], query: { before?: number; limit: number; kinds?: readonly EntryKind[] }): Entry[] => {
  const found: Entry[] = [];
  for (let index = entries.length - 1; index >= 0 && found.length < query.limit; index -= 1) {
    const entry = entries[index];
    if (!entry || (query.before !== undefined && entry.seq >= query.before)) continue;
    if (query.kinds === undefined || query.kinds.includes(entry.kind)) found.push(entry);
  }
  return found;
};
