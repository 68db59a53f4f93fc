/** From the bytes of a terminal program to text for a reader. */

const ESC = '\\u001b';
/** CSI with its private forms, OSC (an unfinished one ends with its line), the other strings, escapes of two and three characters. */
const ESCAPES = new RegExp(
  `${ESC}(?:\\[[0-?]*[ -/]*[@-~]|\\][^\\u0007${ESC}\\n]*(?:\\u0007|${ESC}\\\\)?|[PX^_][^${ESC}]*${ESC}\\\\|[ -/]+[0-~]|[0-OQ-WYZ\`-~\\\\])`,
  'g',
);
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

/** The first place from `index` on at which a character may begin. */
const characterStart = (bytes: Uint8Array, index: number): number => {
  const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;
  let start = index;
  while (start < index + 3 && isContinuation(bytes[start])) start += 1;
  return start;
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
