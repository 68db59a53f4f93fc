/**
 * The session store. Nothing is opened or loaded before its first use; what runs before the first request of a session is plain SQL,
 * compiled once, and only questions with conditions that vary go through a query builder.
 */
import {
  CastError,
  type Append,
  type BranchQuery,
  type Clock,
  type Entry,
  type Lease,
  type SessionPatch,
  type SessionRecord,
  type Store,
} from '../../kernel/index.ts';
import { createAccess } from './access.ts';
import type { Connection } from './database.ts';
import { appendEntries, chainOf } from './entries.ts';
import { storeError } from './failure.ts';
import { placeOf } from './files.ts';
import { createHoldings, type Holdings } from './holdings.ts';
import { checkLease, dropLease } from './leases.ts';
import type { IndexFile } from './search/index-file.ts';
import { deleteSession, findSession, followFolder, insertSession, patchSession, standingOf, unknownSession } from './records.ts';
import { entriesOf, ofKinds, type StoredEntry } from './tables.ts';

export interface SqliteStoreOptions {
  /** `$CAST_HOME`; made when it is not there. */
  readonly home: string;
  readonly clock: Clock;
  /** Told what was mended or left out, and where a damaged file is kept. */
  onWarning(text: string, code: string): void;
}

/** A session without entries: it has no row yet, and never gets one when nothing is said in it. */
interface Unborn {
  record: SessionRecord;
  /** Of its newest claim. */
  epoch: number;
}

export const createSqliteStore = ({ home, clock, onWarning }: SqliteStoreOptions): Store => {
  const place = placeOf(home);
  const unborn = new Map<string, Unborn>();
  const holdings = createHoldings(clock, () => access.opened);
  const access = createAccess({ place, clock, warn: onWarning }, holdings.restore);

  const find = (connection: Connection, id: string): SessionRecord | undefined => unborn.get(id)?.record ?? findSession(connection, id);
  const known = (connection: Connection, id: string): SessionRecord => {
    const record = find(connection, id);
    if (!record) throw unknownSession(id);
    return record;
  };
  const decoded = (id: string, rows: Iterable<StoredEntry>, until?: BranchQuery['until']): Entry[] => {
    const { entries, unreadable } = entriesOf(rows, until);
    if (unreadable > 0) onWarning(`${unreadable} entries of session ${id} cannot be read and were left out.`, 'STORE_CORRUPT');
    return entries;
  };
  let opening: Promise<IndexFile> | undefined;
  const index = (): Promise<IndexFile> => (opening ??= import('./search/index-file.ts').then(({ createIndexFile }) => createIndexFile(place.file)));
  const release = async (id: string, epoch: number): Promise<void> => {
    if (!holdings.remove(id, epoch) || unborn.has(id)) return;
    try {
      await access.use((connection) => dropLease(connection, id, epoch));
    } catch {
      holdings.abandon(id, epoch);
    }
  };

  return {
    name: 'sqlite',
    place: place.file,

    create: (record) =>
      access.use((connection) => {
        if (find(connection, record.id)) throw new CastError('INTERNAL', `There is a session ${record.id} already.`);
        unborn.set(record.id, { epoch: 0, record: { ...record, head: null, messages: 0, updatedAt: record.createdAt, pinned: false } });
      }),

    get: (id) => access.use((connection) => find(connection, id)),

    list: (query) =>
      access.use(async (connection) => {
        const { queriesOn } = await import('./queries.ts');
        if (query.root !== undefined) followFolder(connection, query.root);
        return queriesOn(connection.db).sessions(query);
      }),

    update: (id, patch) =>
      access.use((connection) => {
        const young = unborn.get(id);
        if (young) young.record = patched(young.record, patch);
        else patchSession(connection, id, patch);
      }),

    async claim(id): Promise<Lease> {
      const lease = await access.use((connection) => {
        const young = unborn.get(id);
        const taken = young ? { epoch: young.epoch + 1, head: null, lastSeq: 0 } : claimStored(connection, holdings, id);
        holdings.add(id, taken.epoch);
        if (young) young.epoch = taken.epoch;
        return taken;
      });
      return { ...lease, release: () => release(id, lease.epoch) };
    },

    async append(id, batch, how) {
      await access.use((connection) => {
        const young = unborn.get(id);
        if (young) checkEpoch(holdings, id, how);
        if (young && batch.length === 0) return;
        connection.atomic(() => {
          if (young) bear(connection, holdings, young);
          else checkStored(connection, holdings, id, how, place.file);
          appendEntries(connection, id, batch, how, how.at ?? clock.now());
        });
        unborn.delete(id);
      });
      // What was indexed up to a time is not asked for again.
      if (how.at !== undefined) (await index()).lookBack();
    },

    branch: (id, { head, kinds, until } = {}) =>
      access.use((connection) => {
        const session = known(connection, id);
        const end = head ?? session.head;
        return end === null ? [] : decoded(id, ofKinds(chainOf(connection, id, end), kinds), until).reverse();
      }),

    read: (id, query) =>
      access.use(async (connection) => {
        known(connection, id);
        const { queriesOn } = await import('./queries.ts');
        return decoded(id, await queriesOn(connection.db).entries(id, query));
      }),

    async search(query) {
      // First of all, so that the database is there.
      await access.use((connection) => {
        if (query.root !== undefined) followFolder(connection, query.root);
      });
      const [file, { search }] = await Promise.all([index(), import('./search/search.ts')]);
      try {
        return await file.use((connection) => search(connection, query));
      } catch (error) {
        throw storeError(error, place);
      }
    },

    async remove(id) {
      await access.use((connection) => {
        connection.atomic(() => {
          holdings.checkFree(connection, id);
          if (!unborn.has(id)) deleteSession(connection, id);
        });
        unborn.delete(id);
      });
      (await index()).forget(id);
    },

    async close() {
      await access.close(holdings.dropAll);
      holdings.clear();
      (await opening?.catch(() => undefined))?.close();
    },
  };
};

const patched = (record: SessionRecord, patch: SessionPatch): SessionRecord => ({
  ...record,
  ...Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)),
});

const claimStored = (connection: Connection, holdings: Holdings, id: string): Omit<Lease, 'release'> =>
  connection.atomic(() => {
    const standing = standingOf(connection, id);
    if (!standing) throw unknownSession(id);
    return { epoch: holdings.take(connection, id), head: standing.head, lastSeq: standing.last_seq };
  });

/** Gives a session its row, together with its first entries. */
const bear = (connection: Connection, holdings: Holdings, { record, epoch }: Unborn): void => {
  insertSession(connection, record);
  holdings.put(connection, record.id, epoch);
};

const checkEpoch = (holdings: Holdings, id: string, { epoch }: Append): void => {
  if (holdings.epochOf(id) !== epoch) throw new CastError('STORE_LEASE_LOST', `Session ${id} is not held under epoch ${epoch}.`);
};

const checkStored = (connection: Connection, holdings: Holdings, id: string, { epoch }: Append, file: string): void => {
  if (standingOf(connection, id)) return checkLease(connection, id, epoch);
  if (holdings.epochOf(id) === undefined) throw unknownSession(id);
  throw new CastError('STORE_UNAVAILABLE', `Session ${id} is no longer in ${file}: the file was removed or replaced.`);
};
