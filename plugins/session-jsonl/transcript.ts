/** The transcript of one session: opened with the first entry of a turn, locked until its last. */
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, type Entry, RecordStream, type RecordedSessionHead, sessionMeta, type SessionRecordLine } from '../../kernel/index.ts';
import { loadTranscript } from './load.ts';
import { takeLock } from './lock.ts';

export interface TranscriptParts {
  readonly folder: string;
  readonly head: RecordedSessionHead;
  readonly clock: Clock;
  /** The branch from its newest entry back to the one that is enough, oldest first. */
  readonly branch: (isEnough: (entry: Entry) => boolean) => Promise<readonly Entry[]>;
  readonly warn: (text: string) => void;
}

export class Transcript {
  readonly #file: string;
  #open: { readonly handle: number; readonly unlock: () => void } | undefined;
  #stream: RecordStream | undefined;
  /** Of the newest entry that was pushed. */
  #seq = 0;
  /** Of the file when it was released. */
  #size = -1;
  readonly #at: TranscriptParts;

  constructor(parts: TranscriptParts) {
    this.#at = parts;
    this.#file = join(parts.folder, `${parts.head.id}.jsonl`);
  }

  async add(entries: readonly Entry[]): Promise<void> {
    // What no record is made of needs no file.
    if (!this.#open && entries.every(({ kind }) => SILENT.has(kind))) return;
    const { handle, stream } = await this.#writing();
    const fresh = entries.filter(({ seq }) => seq > this.#seq);
    this.#write(handle, stream.push(fresh));
    this.#seq = Math.max(this.#seq, ...fresh.map(({ seq }) => seq));
    if (entries.some((entry) => entry.kind === 'turn' && entry.data.phase === 'end')) this.release();
  }
  /** What follows belongs to another branch. */
  async branchChanged(head: string | null): Promise<void> {
    if (!existsSync(this.#file)) return;
    const wasOpen = this.#open !== undefined;
    const { handle } = await this.#writing();
    this.#write(handle, [{ type: 'branch_changed', head, timestamp: new Date(this.#at.clock.now()).toISOString() }]);
    if (!wasOpen) this.release();
  }
  /** Another process may go on with the session. */
  release(): void {
    const open = this.#open;
    this.#open = undefined;
    if (!open) return;
    this.#size = fstatSync(open.handle).size;
    closeSync(open.handle);
    open.unlock();
  }

  async #writing(): Promise<{ readonly handle: number; readonly stream: RecordStream }> {
    const { handle } = this.#open ?? (await this.#begin());
    try {
      return { handle, stream: this.#stream ?? (await this.#resume(handle)) };
    } catch (error) {
      this.release();
      throw error;
    }
  }
  async #begin(): Promise<{ readonly handle: number }> {
    const { folder, head, clock } = this.#at;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const unlock = await takeLock(`${this.#file}.lock`, head.id, clock);
    try {
      const isNew = !existsSync(this.#file);
      // Read as well, for its last byte.
      const handle = openSync(this.#file, isNew ? 'ax+' : 'a+', 0o600);
      // Another process has written since.
      if (fstatSync(handle).size !== this.#size) this.#stream = undefined;
      this.#open = { handle, unlock };
      return this.#open;
    } catch (error) {
      unlock();
      throw error;
    }
  }

  /** Goes on where the file ends, which may be in the middle of a turn that a crash cut off. */
  async #resume(handle: number): Promise<RecordStream> {
    const { head, branch, warn } = this.#at;
    if (fstatSync(handle).size === 0) {
      const entries = await branch(() => false);
      this.#write(handle, [sessionMeta({ ...head, createdAt: entries[0]?.at ?? head.createdAt })]);
      return this.#catchUp(handle, new RecordStream(head.id), entries, 0);
    }
    const { task, open, seq, tornLine } = await loadTranscript(this.#file);
    // A line of its own, so that what follows is not lost with it.
    if (!endsWithNewline(handle)) writeSync(handle, '\n');
    if (tornLine !== undefined) {
      warn(`Line ${tornLine} of ${this.#file} is unfinished: a crash cut it off. What it was about is written again.`);
      this.#write(handle, [{ type: 'torn_line', line: tornLine }]);
    }
    const entries = await branch((entry) => entry.id === task?.id || (!task && entry.seq <= seq));
    if (!task || entries[0]?.id !== task.id) {
      const later = entries.filter((entry) => entry.seq > seq);
      return this.#catchUp(handle, new RecordStream(head.id, open), later, 0);
    }
    return this.#catchUp(handle, new RecordStream(head.id, task.open), entries, task.records);
  }

  /** Writes what entries say, but for the records that are there already. */
  #catchUp(handle: number, stream: RecordStream, entries: readonly Entry[], known: number): RecordStream {
    this.#write(handle, stream.push(entries).slice(known));
    this.#seq = entries.at(-1)?.seq ?? this.#seq;
    this.#stream = stream;
    return stream;
  }

  /** One write a record: a crash cuts the last one at most. */
  #write(handle: number, records: readonly SessionRecordLine[]): void {
    for (const record of records) writeSync(handle, `${JSON.stringify(record)}\n`);
  }
}

const SILENT: ReadonlySet<Entry['kind']> = new Set(['plugin', 'mask', 'workspace', 'started', 'snapshot']);

const endsWithNewline = (handle: number): boolean => {
  const last = Buffer.alloc(1);
  return readSync(handle, last, 0, 1, fstatSync(handle).size - 1) === 0 || last[0] === 0x0a;
};
