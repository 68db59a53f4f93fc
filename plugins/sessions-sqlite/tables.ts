/** Rows as they stand in the database, and what they are for the kernel. */
import type { Entry, SessionRecord } from '../../kernel/index.ts';

export interface SessionRow {
  id: string;
  cwd: string;
  root: string;
  title: string;
  model: string;
  provider: string;
  parent_id: string | null;
  kind: string;
  pinned: number;
  head: string | null;
  last_seq: number;
  messages: number;
  created_at: number;
  updated_at: number;
  folder: string | null;
}
export interface EntryRow {
  id: string;
  session_id: string;
  parent_id: string | null;
  seq: number;
  kind: string;
  created_at: number;
  data_json: string;
}
export interface MessageRow {
  session_id: string;
  seq: number;
  entry_id: string;
  role: string;
  in_context: number;
  created_at: number;
  content_json: string;
}
export interface LeaseRow {
  session_id: string;
  epoch: number;
  pid: number | null;
  started: string | null;
  place: string | null;
  beat_at: number;
}
export interface Tables {
  sessions: SessionRow;
  entries: EntryRow;
  messages: MessageRow;
  leases: LeaseRow;
}

const KINDS: readonly SessionRecord['kind'][] = ['conversation', 'child', 'background'];

export const recordOf = (row: SessionRow): SessionRecord => recordOfValues(SESSION_COLUMNS.map((column) => row[column]) as unknown as SessionValues);

/** Of a row that is read as a list, in the order of `SESSION_COLUMNS`. */
export type SessionValues = readonly [
  ...texts: [id: string, cwd: string, root: string, title: string, model: string, provider: string],
  parent: string | null,
  kind: string,
  pinned: number,
  head: string | null,
  lastSeq: number,
  messages: number,
  createdAt: number,
  updatedAt: number,
  folder: string | null,
];
export const recordOfValues = ([
  id,
  cwd,
  root,
  title,
  model,
  provider,
  parent,
  kind,
  pinned,
  head,
  ,
  messages,
  createdAt,
  updatedAt,
]: SessionValues): SessionRecord => ({
  id,
  cwd,
  root,
  title,
  model,
  provider,
  parent,
  kind: kindOf(kind),
  createdAt,
  updatedAt,
  head,
  messages,
  pinned: pinned !== 0,
});
const kindOf = (kind: string): SessionRecord['kind'] => KINDS.find((known) => known === kind) ?? 'conversation';

export type StoredEntry = Omit<EntryRow, 'session_id'>;

export interface ReadEntries {
  readonly entries: Entry[];
  /** Rows whose data is no JSON. */
  readonly unreadable: number;
}

/** Up to the first entry for which `until` answers true. */
export const entriesOf = (rows: Iterable<StoredEntry>, until?: (entry: Entry) => boolean): ReadEntries => {
  const entries: Entry[] = [];
  let unreadable = 0;
  for (const row of rows) {
    const entry = entryOf(row);
    if (!entry) {
      unreadable += 1;
      continue;
    }
    entries.push(entry);
    if (until?.(entry)) break;
  }
  return { entries, unreadable };
};

export function* ofKinds(rows: Iterable<StoredEntry>, kinds: readonly string[] | undefined): Generator<StoredEntry> {
  for (const row of rows) if (kinds === undefined || kinds.includes(row.kind)) yield row;
}

const entryOf = (row: StoredEntry): Entry | undefined => {
  const data = dataOf(row.data_json);
  // The kernel wrote kind and data together, and the database lets nobody change them.
  return data && ({ kind: row.kind, data, id: row.id, parent: row.parent_id, seq: row.seq, at: row.created_at } as Entry);
};

/** Undefined when the text is not the JSON of an object. */
const dataOf = (json: string): object | undefined => {
  try {
    const data: unknown = JSON.parse(json);
    return typeof data === 'object' && data !== null ? data : undefined;
  } catch {
    return undefined;
  }
};

export const SESSION_COLUMNS = [
  'id',
  'cwd',
  'root',
  'title',
  'model',
  'provider',
  'parent_id',
  'kind',
  'pinned',
  'head',
  'last_seq',
  'messages',
  'created_at',
  'updated_at',
  'folder',
] as const satisfies readonly (keyof SessionRow)[];
export const LEASE_COLUMNS = ['session_id', 'epoch', 'pid', 'started', 'place', 'beat_at'] as const satisfies readonly (keyof LeaseRow)[];
