import type { Lease, Store } from '../contracts/store.ts';
import type { Entry, NewEntry } from '../data.ts';
import { CastError } from '../errors.ts';
import type { ViewMessage } from '../hooks/subjects.ts';
import type { Clock, Ids } from '../plugin.ts';
import { inContext, viewOf } from './view.ts';

export interface HistoryOptions {
  readonly session: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The last thing that happens to an entry before it is written: redaction and caps. */
  seal(entry: NewEntry): NewEntry;
  /** Told of every batch, once it is durable. Must not throw: the batch is there. */
  onStored(entries: readonly Entry[]): Promise<void>;
  /** The branch is another one now: after a rewind, or because another process wrote. */
  onBranch(entries: readonly Entry[]): Promise<void>;
}

/** The current branch of a session. Entries are only ever added; moving the head chooses another branch. */
export class History {
  #entries: Entry[] = [];
  #lease: Lease | undefined;
  #seq = 0;
  #view: readonly ViewMessage[] | undefined;
  #last: Promise<unknown> = Promise.resolve();
  readonly #at: HistoryOptions;

  constructor(options: HistoryOptions) {
    this.#at = options;
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }
  get head(): string | null {
    return this.#entries.at(-1)?.id ?? null;
  }
  view(): readonly ViewMessage[] {
    this.#view ??= viewOf(this.#entries);
    return this.#view;
  }

  /** Entries of which the model gets what they say. */
  inContext(): ReadonlySet<string> {
    return inContext(this.#entries, this.view());
  }

  async load(): Promise<void> {
    this.#entries = [...(await this.#at.store.branch(this.#at.session))];
    this.#seq = this.#entries.reduce((seq, entry) => Math.max(seq, entry.seq), 0);
    this.#view = undefined;
  }

  /** Takes the right to write, once whoever writes now has done so; reads again what another process wrote meanwhile. */
  claim(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#claim();
    });
  }
  release(): Promise<void> {
    return this.#inTurn(() => this.#release());
  }
  async #claim(): Promise<Lease> {
    if (this.#lease) throw new CastError('SESSION_BUSY', 'this session is already being written here');
    const lease = await this.#at.store.claim(this.#at.session);
    try {
      if (lease.head !== this.head) {
        await this.load();
        await this.#at.onBranch(this.#entries);
      }
    } catch (error) {
      await lease.release();
      throw error;
    }
    this.#seq = Math.max(this.#seq, lease.lastSeq);
    this.#lease = lease;
    return lease;
  }
  async #release(): Promise<void> {
    const lease = this.#lease;
    this.#lease = undefined;
    await lease?.release();
  }

  /** Appends in one piece. Without a running turn the lease is taken for this batch alone. */
  append(batch: readonly NewEntry[]): Promise<readonly Entry[]> {
    return this.#inTurn(() => this.#write(batch));
  }

  /** Another entry of this branch becomes the newest; what follows it stays stored and is found, and leaves the view. */
  moveHead(to: string | null): Promise<void> {
    return this.#inTurn(async () => {
      const at = to === null ? -1 : this.#entries.findIndex((entry) => entry.id === to);
      if (to !== null && at < 0) throw new CastError('HISTORY_BAD_MOVE', `entry ${to} is not on this branch`);
      await this.#withLease(async (lease) => {
        const entries = this.#entries.slice(0, at + 1);
        await this.#at.store.append(this.#at.session, [], { epoch: lease.epoch, head: to, ...difference(this.inContext(), inContext(entries)) });
        this.#entries = entries;
        this.#view = undefined;
      });
      await this.#at.onBranch(this.#entries);
    });
  }

  async #write(batch: readonly NewEntry[]): Promise<readonly Entry[]> {
    if (batch.length === 0) return [];
    return this.#withLease(async (lease) => {
      let parent = this.head;
      const entries = batch.map((each) => {
        this.#seq += 1;
        const entry = { ...this.#at.seal(each), id: this.#at.ids.next('entry'), parent, seq: this.#seq, at: this.#at.clock.now() } as Entry;
        parent = entry.id;
        return entry;
      });
      await this.#at.store.append(this.#at.session, entries, { epoch: lease.epoch, ...this.#movesOut(entries) });
      this.#entries.push(...entries);
      this.#view = undefined;
      await this.#at.onStored(entries);
      return entries;
    });
  }

  /** Plain messages only join the view, so only the other kinds make it worth comparing. */
  #movesOut(added: readonly Entry[]): { leave?: readonly string[]; enter?: readonly string[] } {
    const waiting =
      this.#entries.findLast((entry) => entry.kind === 'rejected' || (entry.kind === 'message' && entry.data.role === 'assistant'))?.kind === 'rejected';
    if (!waiting && added.every((entry) => entry.kind !== 'compaction' && entry.kind !== 'mask')) return {};
    return difference(this.inContext(), inContext([...this.#entries, ...added]));
  }

  async #withLease<T>(work: (lease: Lease) => Promise<T>): Promise<T> {
    if (this.#lease) return work(this.#lease);
    const lease = await this.#claim();
    try {
      return await work(lease);
    } finally {
      await this.#release();
    }
  }

  /** Writers of one session wait for each other, so that parents and numbers are those of the order of arrival. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#last.then(work, work);
    this.#last = next.catch(() => undefined);
    return next;
  }
}

const difference = (was: ReadonlySet<string>, is: ReadonlySet<string>): { leave: readonly string[]; enter: readonly string[] } => ({
  leave: [...was].filter((id) => !is.has(id)),
  enter: [...is].filter((id) => !was.has(id)),
});
