/** What a reader is shown of an output. */
import type { Sketch } from '../../kernel/index.ts';
import type { Collected } from './collect.ts';
import { headOf, NOTICE_BYTES, NOTICE_LINES, VIEW_BYTES, VIEW_LINES, type ShellLimits } from './limits.ts';
import { SPILL_BYTES, type Spill } from './spill.ts';
import { countLines, decodeTail, firstPart, isBinary, lastPart, plainText, settledLength } from './text.ts';

/** Characters in which a line end is looked for where the beginning was lost: it may be half an escape sequence. */
const BROKEN_START = 1024;

/** A place in an output: how much of it was there. */
export interface Mark {
  readonly bytes: number;
  readonly lines: number;
}
export const START: Mark = { bytes: 0, lines: 0 };

/** All of it, as far as the limits allow: of longer output the beginning and the end. */
export const renderOutput = (collected: Collected, limits: ShellLimits): string => renderSince(collected, START, limits, true).text || '(no output)';

/** What came since a mark, and the next mark. Of output that goes on no half character or escape sequence is shown. */
export const renderSince = (collected: Collected, mark: Mark, limits: ShellLimits, isOver: boolean): { readonly text: string; readonly mark: Mark } => {
  const { tail, spill } = collected;
  const fresh = tail.newest(tail.bytes - mark.bytes);
  const shown = isOver ? fresh : fresh.subarray(0, settledLength(fresh));
  const next = { bytes: tail.bytes - (fresh.length - shown.length), lines: tail.lines };
  const bytes = next.bytes - mark.bytes;
  const isCut = bytes > shown.length;
  const decoded = decodeTail(shown, { start: isCut, open: false });
  if (isBinary(decoded)) return { text: `[Binary output of ${bytes} bytes, not shown. ${placeOf(spill)}]`, mark: next };
  const plain = plainText(isCut ? withoutBrokenStart(decoded) : decoded);
  const text = plain.trimEnd();
  const whole = isCut ? undefined : text;
  const head = whole ?? (mark.bytes === 0 ? headText(collected) : '');
  const counts = { bytes: bytes - Buffer.byteLength(plain.slice(text.length)), lines: next.lines - mark.lines };
  return { text: joinParts({ head, tail: text, whole, ...counts }, spill, limits), mark: next };
};

/** Without its head, for a notice. */
export const renderEnd = (collected: Collected): string => lastPart(newestText(collected, NOTICE_BYTES).trimEnd(), NOTICE_LINES, NOTICE_BYTES);

/** The newest lines of an output that goes on. */
export const newestText = ({ tail }: Collected, bytes: number): string => {
  const newest = tail.newest(bytes * 2);
  const text = decodeTail(newest, { start: tail.bytes > newest.length, open: true });
  return isBinary(text) ? `${tail.bytes} bytes` : plainText(text);
};

export const viewOf = (text: string): Sketch => ({ kind: 'code', text: lastPart(text, VIEW_LINES, VIEW_BYTES) });

interface Parts {
  /** Where the beginning is looked for. */
  readonly head: string;
  readonly tail: string;
  /** All of it, where nothing was lost. */
  readonly whole: string | undefined;
  readonly bytes: number;
  readonly lines: number;
}

const joinParts = ({ head, tail, whole, bytes, lines }: Parts, spill: Spill | undefined, limits: ShellLimits): string => {
  if (whole !== undefined && lastPart(whole, limits.maxLines, limits.maxBytes) === whole) return whole;
  const { maxLines, maxBytes } = headOf(limits);
  const first = firstPart(head, maxLines, maxBytes);
  const rest = whole === undefined ? tail : whole.slice(first.length);
  const last = lastPart(rest, limits.maxLines - countLines(first), limits.maxBytes - Buffer.byteLength(first));
  const lineEnd = first !== '' && head[first.length] === '\n' ? 1 : 0;
  const leftBytes = Math.max(0, bytes - Buffer.byteLength(first) - lineEnd - Buffer.byteLength(last));
  const leftLines = Math.max(0, lines - countLines(first) - countLines(last));
  const note = `[${leftLines} lines (${leftBytes} bytes) were left out here. ${placeOf(spill)}]`;
  return [...(first === '' ? [] : [first]), note, last].join('\n');
};

const headText = ({ head }: Collected): string => {
  const text = decodeTail(head.bytes.subarray(0, settledLength(head.bytes)), { start: false, open: false });
  return isBinary(text) ? '' : plainText(text);
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
