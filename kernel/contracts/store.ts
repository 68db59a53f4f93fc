/** Where sessions live. A store keeps rows; what they mean for the model is the kernel's. */
import type { Entry, EntryKind } from '../data.ts';
import type { Later } from '../hooks/catalogue.ts';

export interface SessionRecord {
  readonly id: string;
  readonly cwd: string;
  /** The project's root: sessions are found by it. */
  readonly root: string;
  readonly title: string;
  readonly model: string;
  /** Base URL or name of the provider that `model` belongs to. */
  readonly provider: string;
  readonly parent: string | null;
  readonly kind: 'conversation' | 'child' | 'background';
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The newest entry of the current branch; null for an empty session. */
  readonly head: string | null;
  /** User and assistant messages, as a reader counts them. */
  readonly messages: number;
  readonly pinned: boolean;
}
export type SessionPatch = Partial<Pick<SessionRecord, 'cwd' | 'root' | 'title' | 'model' | 'provider' | 'pinned'>>;

/** The right to append to one session, held for a turn. */
export interface Lease {
  /** Rises with each claim; an append with an older one is refused with STORE_LEASE_LOST. */
  readonly epoch: number;
  readonly head: string | null;
  readonly lastSeq: number;
  release(): Later<void>;
}

export interface Append {
  readonly epoch: number;
  /** Entries whose messages are no longer sent to the model. */
  readonly leave?: readonly string[];
  /** Entries whose messages are sent again. */
  readonly enter?: readonly string[];
  /** The new head; default: the last entry of the batch. */
  readonly head?: string | null;
  /** Epoch milliseconds of the change, for what comes from elsewhere; default: now. */
  readonly at?: number;
}

export interface SessionQuery {
  readonly root?: string;
  readonly cwd?: string;
  readonly kind?: SessionRecord['kind'];
  readonly limit: number;
  /** Only sessions last changed before this time; for paging. */
  readonly before?: number;
}

export interface SearchQuery {
  /** Words, each of which has to be found somewhere in a session; between double quotes several that stand together. */
  readonly text: string;
  readonly root?: string;
  /** Default: what people and models said. */
  readonly roles?: readonly ('user' | 'assistant' | 'tool')[];
  /** Sessions, at most. */
  readonly limit: number;
  /** How far back is looked, as a multiple of the newest 2,000 places of each word. Default 1. */
  readonly depth?: number;
}
export interface SearchPlace {
  readonly entry: string;
  readonly seq: number;
  readonly role: 'user' | 'assistant' | 'tool';
  /** Epoch milliseconds. */
  readonly at: number;
  readonly snippet: readonly { readonly text: string; readonly isHit: boolean }[];
}
export interface SearchHit {
  readonly session: SessionRecord;
  /** The best first; empty where title, folder, model or id fit. */
  readonly places: readonly SearchPlace[];
}
export interface SearchResult {
  /** What fits by title, folder, model or id; then what was said, the best first; then what fits those loosely. */
  readonly hits: readonly SearchHit[];
  /** Whether there is more behind what was looked at: older places, or messages that are not in the index yet. */
  readonly hasMore: boolean;
}

export interface BranchQuery {
  /** Default: the session's own. */
  readonly head?: string;
  /** Others are passed over: neither given nor told to `until`. */
  readonly kinds?: readonly EntryKind[];
  /** Told each entry, the newest first; what is older than the first one for which it answers true is not read. */
  readonly until?: (entry: Entry) => boolean;
}

/** All of it may be asynchronous. Errors are CastErrors with codes in STORE_ and SESSION_. */
export interface Store {
  readonly name: string;
  /** Where it is kept, for people; undefined for memory. */
  readonly place?: string;
  create(record: Omit<SessionRecord, 'head' | 'messages' | 'updatedAt' | 'pinned'>): Later<void>;
  get(id: string): Later<SessionRecord | undefined>;
  /** Newest first. */
  list(query: SessionQuery): Later<readonly SessionRecord[]>;
  update(id: string, patch: SessionPatch): Later<void>;
  /** Throws SESSION_BUSY while a living process holds it, SESSION_UNKNOWN when there is none. */
  claim(id: string): Later<Lease>;
  /** All or nothing. Throws STORE_LEASE_LOST when `epoch` is not the current one. */
  append(id: string, batch: readonly Entry[], how: Append): Later<void>;
  /** The chain from the first entry to a head, oldest first, or the newest part of it. */
  branch(id: string, query?: BranchQuery): Later<readonly Entry[]>;
  /** Entries of every branch, newest first. */
  read(id: string, query: { readonly before?: number; readonly limit: number; readonly kinds?: readonly EntryKind[] }): Later<readonly Entry[]>;
  /** Conversations in which words occur. Absent: this store cannot be searched. */
  search?(query: SearchQuery): Later<SearchResult>;
  /** Removes a session and all that belongs to it. */
  remove(id: string): Later<void>;
  close(): Later<void>;
}
