import type { Lease, Store } from '../contracts/store.ts';
import type { Entry, Folded, NewEntry } from '../data.ts';
import { CastError } from '../errors.ts';
import type { ViewMessage } from '../hooks/subjects.ts';
import type { Clock, Ids } from '../plugin.ts';
import { LIMITS } from '../limits.ts';
import { type Branch, EMPTY, foldedIn, loadBranch, shortened } from './branch.ts';
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
  onBranch(): Promise<void>;
}

/** The current branch of a session, as far as it has to be held. Entries are only ever added; moving the head chooses another branch. */
export class History {
  #branch: Branch = EMPTY;
  #lease: Lease | undefined;
  #seq = 0;
  #view: readonly ViewMessage[] | undefined;
  #last: Promise<unknown> = Promise.resolve();
  readonly #at: HistoryOptions;

  constructor(options: HistoryOptions) {
    this.#at = options;
  }

  get branch(): Branch {
    return this.#branch;
  }
  /** Those that are held. */
  get entries(): readonly Entry[] {
    return this.#branch.entries;
  }
  get head(): string | null {
    return this.entries.at(-1)?.id ?? null;
  }
  view(): readonly ViewMessage[] {
    this.#view ??= viewOf(this.#branch);
    return this.#view;
  }

  /** Entries of which the model gets what they say. */
  inContext(): ReadonlySet<string> {
    return inContext(this.#branch, this.view());
  }

  async load(): Promise<void> {
    this.#take(await loadBranch(this.#at.store, this.#at.session, undefined));
    this.#seq = Math.max(this.#seq, this.entries.at(-1)?.seq ?? 0);
  }
  #take(branch: Branch): void {
    this.#branch = branch;
    this.#view = undefined;
  }

  /** The newest entry of the branch that is wanted, however old it is. */
  async find(isWanted: (entry: Entry) => boolean): Promise<Entry | undefined> {
    const held = this.entries.findLast(isWanted);
    if (held || this.#branch.isWhole) return held;
    let found: Entry | undefined;
    const until = (entry: Entry): boolean => {
      if (isWanted(entry)) found = entry;
      return found !== undefined;
    };
    await this.#at.store.branch(this.#at.session, { ...this.#toHead(), until });
    return found;
  }
  /** What plugins recorded on this branch, from its first entry on. */
  async records(): Promise<readonly Entry[]> {
    return this.#branch.isWhole ? this.entries : this.#at.store.branch(this.#at.session, { ...this.#toHead(), kinds: ['plugin'] });
  }
  #toHead(): { readonly head?: string } {
    return this.head === null ? {} : { head: this.head };
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
        await this.#at.onBranch();
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
      await this.#withLease(async (lease) => {
        if (to !== null && !(await this.find((entry) => entry.id === to))) throw new CastError('HISTORY_BAD_MOVE', `entry ${to} is not on this branch`);
        const branch = await loadBranch(this.#at.store, this.#at.session, to);
        await this.#at.store.append(this.#at.session, [], { epoch: lease.epoch, head: to, ...difference(this.inContext(), inContext(branch)) });
        this.#take(branch);
      });
      await this.#at.onBranch();
    });
  }

  /** Writes down what everything so far comes to, once enough has gathered, and lets go of what need not be held any more. */
  snapshot(fold: () => Folded): Promise<void> {
    return this.#inTurn(async () => {
      if (foldedIn(this.entries).since.length < LIMITS.snapshotEntries) return;
      await this.#write([{ kind: 'snapshot', data: fold() }]);
      this.#take(shortened(this.#branch));
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
      this.#take({ ...this.#branch, entries: [...this.entries, ...entries] });
      await this.#at.onStored(entries);
      return entries;
    });
  }

  /** Plain messages only join the view, so only the other kinds make it worth comparing. */
  #movesOut(added: readonly Entry[]): { leave?: readonly string[]; enter?: readonly string[] } {
    const waiting =
      this.entries.findLast((entry) => entry.kind === 'rejected' || (entry.kind === 'message' && entry.data.role === 'assistant'))?.kind === 'rejected';
    if (!waiting && added.every((entry) => entry.kind !== 'compaction' && entry.kind !== 'mask')) return {};
    return difference(this.inContext(), inContext({ ...this.#branch, entries: [...this.entries, ...added] }));
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
