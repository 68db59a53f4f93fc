/** Reads a command's output to its end, in bounded memory. */
import type { Child } from '../../kernel/index.ts';
import type { Bench } from './bench.ts';
import type { ShellLimits } from './limits.ts';
import type { Spill } from './spill.ts';
import { OutputTail } from './tail.ts';
import { decodeTail, isBinary, lastPart, plainText } from './text.ts';

export interface Collected {
  readonly tail: OutputTail;
  /** Holds all of it, once that is more than the result can hold. */
  readonly spill: Spill | undefined;
}

/** At most this many bytes at a time, so that the tail still holds everything when the limits are passed. */
const SLICE_BYTES = 65_536;
const PROGRESS_MS = 250;
const PROGRESS_LINES = 5;
const PROGRESS_BYTES = 2048;

export const collectOutput = async (child: Child, bench: Bench, tell: (text: string) => void): Promise<Collected> => {
  // Several times what is shown: escape sequences take room and are removed only at the end.
  const tail = new OutputTail(bench.limits.maxBytes * 4 + SLICE_BYTES);
  const progress = createProgress(tail, tell);
  let spill: Spill | undefined;
  try {
    for await (const { bytes } of child.output) {
      for (let start = 0; start < bytes.length; start += SLICE_BYTES) {
        const slice = bytes.subarray(start, start + SLICE_BYTES);
        tail.push(slice);
        if (spill) await spill.write(slice);
        else if (isOver(tail, bench.limits)) spill = await spillFrom(tail, bench);
      }
      progress.changed();
    }
  } finally {
    progress.stop();
  }
  // Nobody wants binary output in a result, but it need not be lost.
  if (!spill && !tail.overflowed && isBinary(decodeTail(tail.newest(), { start: false, open: false }))) spill = await spillFrom(tail, bench);
  await spill?.close();
  return { tail, spill };
};

const isOver = (tail: OutputTail, { maxLines, maxBytes }: ShellLimits): boolean => tail.bytes > maxBytes || tail.lines > maxLines;

const spillFrom = async (tail: OutputTail, bench: Bench): Promise<Spill> => {
  const spill = await bench.spills.create();
  await spill.write(tail.newest());
  return spill;
};

/** Tells the newest lines, at most four times a second. */
const createProgress = (tail: OutputTail, tell: (text: string) => void): { changed(): void; stop(): void } => {
  let timer: NodeJS.Timeout | undefined;
  const report = (): void => {
    timer = undefined;
    const text = decodeTail(tail.newest(PROGRESS_BYTES * 2), { start: tail.bytes > PROGRESS_BYTES * 2, open: true });
    tell(isBinary(text) ? `${tail.bytes} bytes` : lastPart(plainText(text).trimEnd(), PROGRESS_LINES, PROGRESS_BYTES));
  };
  return {
    changed: () => {
      timer ??= setTimeout(report, PROGRESS_MS);
    },
    stop: () => clearTimeout(timer),
  };
};
