import { FileScan } from './file-scan.ts';
import { inTime } from './in-time.ts';
import { LIMITS } from './limits.ts';
import type { Desk } from './place.ts';
import { longLines, type Remarks, type TextQuery, type Visitor } from './query.ts';
import { type Piece, piecesOf } from './read.ts';
import { decodeUtf8 } from './text.ts';
import { Tour } from './tour.ts';

/** Reads one file after another and looks for the pattern in what many of them have brought. */
export class TextSearch {
  readonly #query: TextQuery;
  readonly #visitor: Visitor;
  readonly #tour: Tour;
  readonly #regex: RegExp;
  readonly #needle: Buffer | undefined;
  /** Read, but not yet looked at. */
  #batch: { readonly scan: FileScan; readonly text: string }[] = [];
  #size = 0;
  /** Files that are read to their end. */
  #done: FileScan[] = [];
  #longLines = 0;

  constructor(desk: Desk, query: TextQuery, visitor: Visitor) {
    this.#query = query;
    this.#visitor = visitor;
    this.#tour = new Tour(desk, query);
    this.#regex = query.pattern.regex();
    this.#needle = query.pattern.needle === undefined ? undefined : Buffer.from(query.pattern.needle);
  }

  async run(): Promise<Remarks> {
    for await (const paths of this.#tour.files()) {
      for (const path of paths) {
        await this.#search(path);
        if (this.#size >= LIMITS.chunk && !this.#tell()) return this.#remarks();
      }
    }
    this.#tell();
    return this.#remarks();
  }

  #remarks(): Remarks {
    return this.#tour.remarks(longLines(this.#longLines));
  }

  async #search(path: string): Promise<void> {
    const scan = new FileScan(path, this.#regex, this.#query);
    let isTaken = false;
    try {
      for (const piece of piecesOf(path, () => void (this.#longLines += 1))) {
        if (!piece) return;
        if (!scan.isDone && this.#take(scan, piece)) isTaken = true;
        if (this.#tour.pace.isOver) await this.#tour.pace.turn();
      }
      if (isTaken) this.#done.push(scan);
    } catch (error) {
      this.#tour.note(path, error);
    }
  }

  /** Whether there may be something in it. */
  #take(scan: FileScan, { bytes, isLast }: Piece): boolean {
    // Most files do not have what every match contains, and need not become text.
    if (this.#needle && (this.#query.context === 0 || (isLast && !scan.owes)) && !bytes.includes(this.#needle)) {
      if (!isLast) scan.skip(bytes);
      return false;
    }
    const text = decodeUtf8(bytes);
    this.#batch.push({ scan, text });
    this.#size += text.length;
    if (!isLast) this.#look();
    return true;
  }

  #look(): void {
    const batch = this.#batch;
    if (batch.length === 0) return;
    this.#batch = [];
    this.#size = 0;
    inTime(() => {
      for (const { scan, text } of batch) scan.feed(text);
    });
  }

  /** False when it is enough. */
  #tell(): boolean {
    this.#look();
    const done = this.#done;
    this.#done = [];
    return done.every((scan) => scan.rows.length === 0 || this.#visitor.visit(scan));
  }
}
