import type { BigIntStats } from 'node:fs';
import type { Clock } from '../../../kernel/index.ts';
import type { LineTable } from './line-table.ts';

const MAX_ENTRIES = 20;
/** Of all texts together. */
const MAX_BYTES = 4 * 1024 * 1024;
/** What a line costs beside its characters: its place and its hashes. */
const BYTES_A_LINE = 8;
/** File systems tell times no finer than this: a file that changed later than this may change again unnoticed. */
const COARSEST_MS = 2000;

interface Entry {
  readonly table: LineTable;
  readonly stamp: string;
  readonly bytes: number;
}

/** Lines and hashes of files that were used last, for all sessions of the process. Keyed by canonical path; whoever asks has located it just before. */
export class LineCache {
  readonly #entries = new Map<string, Entry>();
  readonly #clock: Pick<Clock, 'now'>;
  #bytes = 0;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Undefined when it is not known, or not as the file is now. */
  get(path: string, stat: BigIntStats): LineTable | undefined {
    const entry = this.#entries.get(path);
    if (!entry) return undefined;
    this.drop(path);
    if (entry.stamp !== stampOf(stat)) return undefined;
    this.#add(path, entry);
    return entry.table;
  }

  put(path: string, stat: BigIntStats, table: LineTable): void {
    this.drop(path);
    const bytes = table.file.text.length * 2 + table.count * BYTES_A_LINE;
    if (bytes > MAX_BYTES || this.#clock.now() - Number(stat.ctimeMs) < COARSEST_MS) return;
    this.#add(path, { table, stamp: stampOf(stat), bytes });
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= MAX_ENTRIES && this.#bytes <= MAX_BYTES) return;
      this.drop(oldest);
    }
  }

  drop(path: string): void {
    this.#bytes -= this.#entries.get(path)?.bytes ?? 0;
    this.#entries.delete(path);
  }

  #add(path: string, entry: Entry): void {
    this.#entries.set(path, entry);
    this.#bytes += entry.bytes;
  }
}

// The time of the last change of any kind, too: that of the content can be set back.
const stampOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string => `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
