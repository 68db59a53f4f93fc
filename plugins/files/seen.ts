import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';

interface Sight {
  readonly size: bigint;
  readonly mtimeNs: bigint;
  /** Absent when the file was too large to be read as a whole. */
  readonly hash?: string;
}
type Stamp = Pick<BigIntStats, 'size' | 'mtimeNs'>;

/** Files whose state is remembered; the least recently noted goes first. */
const MAX_FILES = 1000;

/** What this session last read or wrote, to notice what others changed since. */
export class Seen {
  readonly #files = new Map<string, Sight>();

  note(path: string, stat: Stamp, bytes?: Uint8Array): void {
    this.#files.delete(path);
    this.#files.set(path, { size: stat.size, mtimeNs: stat.mtimeNs, ...(bytes === undefined ? {} : { hash: hashOf(bytes) }) });
    const oldest = this.#files.keys().next();
    if (this.#files.size > MAX_FILES && !oldest.done) this.#files.delete(oldest.value);
  }

  /** False also for a file that was never read. A new time with the same content is no change. */
  hasChanged(path: string, stat: Stamp, bytes?: Uint8Array): boolean {
    const sight = this.#files.get(path);
    if (!sight) return false;
    if (sight.hash !== undefined && bytes !== undefined) return hashOf(bytes) !== sight.hash;
    return stat.size !== sight.size || stat.mtimeNs !== sight.mtimeNs;
  }
}

const hashOf = (bytes: Uint8Array): string => createHash('sha1').update(bytes).digest('base64');
