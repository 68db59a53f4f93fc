/** From the bytes of a terminal program to text for a reader. */

const ESC = '\\u001b';
/** CSI with its private forms, OSC (an unfinished one ends with its line), the other strings, escapes of two and three characters. */
const ESCAPES = new RegExp(
  `${ESC}(?:\\[[0-?]*[ -/]*[@-~]|\\][^\\u0007${ESC}\\n]*(?:\\u0007|${ESC}\\\\)?|[PX^_][^${ESC}]*${ESC}\\\\|[ -/]+[0-~]|[0-OQ-WYZ\`-~\\\\])`,
  'g',
);
/** One that has begun and may still end. */
const OPEN_ESCAPE = new RegExp(`${ESC}(?:\\[[0-?]*[ -/]*|\\][^\\u0007${ESC}\\n]*${ESC}?|[PX^_][^${ESC}]*${ESC}?|[ -/]*)$`);
/** Bytes in which the end of an escape sequence is looked for: one that never ends must not hide what follows. */
const LONGEST_ESCAPE = 256;
const BACKSPACE = '\\u0008';
const OVERSTRIKE = new RegExp(`[^\\n]${BACKSPACE}`, 'gu');
const CONTROLS = /[^\P{Cc}\t\n]/gu;

/** No escape sequences, no other control characters than tabs and LF line ends. */
export const plainText = (text: string): string => text.replace(ESCAPES, '').replace(/\r\n?/g, '\n').replace(OVERSTRIKE, '').replace(CONTROLS, '');

/** Decodes UTF-8 of which the beginning, and with `open` the end as well, may be missing: neither leaves a replacement character. */
export const decodeTail = (bytes: Uint8Array, cut: { readonly start: boolean; readonly open: boolean }): string => {
  const whole = cut.start ? bytes.subarray(characterStart(bytes, 0)) : bytes;
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(whole, { stream: cut.open });
};

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** The first place from `index` on at which a character may begin. */
const characterStart = (bytes: Uint8Array, index: number): number => {
  let start = index;
  while (start < index + 3 && isContinuation(bytes[start])) start += 1;
  return start;
};

/** How many bytes of an output that goes on are text for sure: not half a character, line end or escape sequence at the end. */
export const settledLength = (bytes: Buffer): number => {
  const characters = bytes.subarray(0, bytes.length - unfinishedCharacter(bytes));
  const end = characters.length - (characters.at(-1) === 0x0d ? 1 : 0);
  const start = Math.max(0, end - LONGEST_ESCAPE);
  const open = characters.toString('latin1', start, end).search(OPEN_ESCAPE);
  return open === -1 ? end : start + open;
};

/** Bytes of a character at the end whose last bytes have not come. */
const unfinishedCharacter = (bytes: Uint8Array): number => {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    const length = byte >= 0xf8 ? 1 : byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
};

/** More than a tenth of it is neither text nor a usual control character. */
export const isBinary = (text: string): boolean => {
  let strange = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 0xfffd || code < 7 || (code > 13 && code < 32 && code !== 27)) strange += 1;
  }
  return strange * 10 > text.length;
};

/** The end of a text that fits both limits: `maxLines` lines, `maxBytes` UTF-8 bytes, whole characters. */
export const lastPart = (text: string, maxLines: number, maxBytes: number): string => {
  const lines = text.slice(lineStart(text, maxLines));
  const bytes = Buffer.from(lines);
  if (bytes.length <= maxBytes) return lines;
  return bytes.toString('utf8', characterStart(bytes, bytes.length - maxBytes));
};

/** The beginning of a text that fits both limits, in whole characters, without the end of its last line. */
export const firstPart = (text: string, maxLines: number, maxBytes: number): string => {
  const lines = text.slice(0, lineEnd(text, maxLines));
  const bytes = Buffer.from(lines);
  if (bytes.length <= maxBytes) return lines;
  let end = maxBytes;
  while (isContinuation(bytes[end])) end -= 1;
  return bytes.toString('utf8', 0, end);
};

const lineEnd = (text: string, lines: number): number => {
  let end = -1;
  for (let seen = 0; seen < lines; seen += 1) {
    end = text.indexOf('\n', end + 1);
    if (end === -1) return text.length;
  }
  return Math.max(0, end);
};

const lineStart = (text: string, lines: number): number => {
  let start = text.length;
  for (let seen = 0; seen < lines; seen += 1) {
    if (start === 0) return 0;
    start = text.lastIndexOf('\n', start - 1);
    if (start === -1) return 0;
  }
  return start + 1;
};

export const countLines = (text: string): number => {
  if (text === '') return 0;
  let lines = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
};

/** For a command in the middle of a sentence. */
export const oneLine = (text: string, maxChars = 80): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  // Half a character at the cut is left out.
  return line.length > maxChars ? `${line.slice(0, maxChars).replace(/\p{Surrogate}$/u, '')}…` : line;
};
