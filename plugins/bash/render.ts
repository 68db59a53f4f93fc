/** What a reader is shown of an output. */
import type { Collected } from './collect.ts';
import type { ShellLimits } from './limits.ts';
import { SPILL_BYTES, type Spill } from './spill.ts';
import { countLines, decodeTail, isBinary, lastPart, plainText } from './text.ts';

/** Characters in which a line end is looked for where the beginning was lost: it may be half an escape sequence. */
const BROKEN_START = 1024;

export const renderOutput = ({ tail, spill }: Collected, limits: ShellLimits): string => {
  const decoded = decodeTail(tail.newest(), { start: tail.overflowed, open: false });
  if (isBinary(decoded)) return `[Binary output of ${tail.bytes} bytes, not shown. ${placeOf(spill)}]`;
  const text = plainText(tail.overflowed ? withoutBrokenStart(decoded) : decoded).trimEnd();
  const shown = lastPart(text, limits.maxLines, limits.maxBytes);
  if (shown === text && !tail.overflowed) return shown === '' ? '(no output)' : shown;
  const lines = Math.max(0, tail.lines - countLines(shown));
  const bytes = Math.max(0, tail.bytes - Buffer.byteLength(shown));
  return `[${lines} lines (${bytes} bytes) before this were left out. ${placeOf(spill)}]\n${shown}`;
};

const withoutBrokenStart = (text: string): string => {
  const end = text.slice(0, BROKEN_START).indexOf('\n');
  return end === -1 ? text : text.slice(end + 1);
};

const placeOf = (spill: Spill | undefined): string => {
  if (!spill) return 'They were not kept.';
  if (spill.failure !== undefined) return `The whole output could not be kept: ${spill.failure}.`;
  return spill.isFull ? `The first ${SPILL_BYTES / 1_048_576} MiB are in ${spill.path}` : `The whole output is in ${spill.path}`;
};
