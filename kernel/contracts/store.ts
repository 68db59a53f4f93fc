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
}

export interface SessionQuery {
  readonly root?: string;
  readonly cwd?: string;
  readonly kind?: SessionRecord['kind'];
  readonly limit: number;
  /** Only sessions last changed before this time; for paging. */
  readonly before?: number;
}

export interface BranchQuery {
  /** Default: the session's own. */
  readonly head?: string;
  /** Others are passed over: neither given nor told to `until`. */
  readonly kinds?: readonly EntryKind[];
  /** Told each entry, the newest first; what is older than the first one for which it answers true is not read. */
  readonly until?: (entry: Entry) => boolean;
}

export interface SearchQuery {
  /** Words, each of which has to be there, at the beginning of a word or within one. No sign has a meaning of its own. */
  readonly text: string;
  /** Default: all projects. */
  readonly root?: string;
  /** Sessions at most. */
  readonly limit: number;
  /** How many times further back it looks than at first: among the newest 2,000 hits of each word, and 2,000 more for each. */
  readonly more?: number;
}
export type SearchMatch = 'title' | 'path' | 'id' | 'model' | 'message';
export interface Snippet {
  /** Of the message's entry. */
  readonly seq: number;
  readonly text: string;
  /** Parts of `text` that were looked for, as start and end. */
  readonly marks: readonly (readonly [start: number, end: number])[];
}
export interface SearchHit {
  readonly session: SessionRecord;
  readonly match: SearchMatch;
  /** Of the message that fits best; absent when only what describes the session was found. */
  readonly snippet?: Snippet;
}
export interface SearchAnswer {
  /** The best first: by what describes a session, then by what was said in it. */
  readonly hits: readonly SearchHit[];
  /** Whether there are hits further back than was looked. */
  readonly hasMore: boolean;
  /** Messages that cannot be found yet: they were stored before there was a search, or saved from a damaged file. */
  readonly waiting: number;
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
  /** Conversations in which something was said, or which are described so. */
  search?(query: SearchQuery): Later<SearchAnswer>;
  /** Removes a session and all that belongs to it. */
  remove(id: string): Later<void>;
  close(): Later<void>;
}
