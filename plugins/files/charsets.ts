/** How the bytes of a file are text. Decoding and encoding untouched text gives the same bytes again, whatever the file holds. */
export interface Encoding {
  readonly name: string;
  readonly decode: (bytes: Buffer) => string;
  /** Undefined when a character of the text does not exist in this encoding. */
  readonly encode: (text: string) => Buffer | undefined;
  /** From the model's text to the decoded form, and back for showing. */
  readonly inward: (text: string) => string;
  readonly outward: (text: string) => string;
  /** The decoded form is no text that could be compared loosely. */
  readonly exactOnly: boolean;
}

const same = (text: string): string => text;
const isWhole = (text: string): boolean => !/\p{Surrogate}/u.test(text);
/** Of an encoding whose decoded form is the text itself. */
export const plain = { inward: same, outward: same, exactOnly: false };

export const UTF8: Encoding = {
  ...plain,
  name: 'UTF-8',
  decode: (bytes) => bytes.toString('utf8'),
  encode: (text) => (isWhole(text) ? Buffer.from(text, 'utf8') : undefined),
};
// Half a character, which these can hold, is no text: a provider may refuse a request that has one.
const wide = { ...plain, outward: (text: string): string => text.replace(/\p{Surrogate}/gu, '\ufffd') };
export const UTF16LE: Encoding = { ...wide, name: 'UTF-16LE', decode: (bytes) => bytes.toString('utf16le'), encode: (text) => Buffer.from(text, 'utf16le') };
export const UTF16BE: Encoding = {
  ...wide,
  name: 'UTF-16BE',
  decode: (bytes) => Buffer.from(bytes).swap16().toString('utf16le'),
  encode: (text) => Buffer.from(text, 'utf16le').swap16(),
};
export const WINDOWS_1252: Encoding = {
  ...plain,
  name: 'Windows-1252',
  decode: (bytes) => bytes.toString('latin1').replace(/[\x80-\x9f]/g, (char) => UPPER_1252.charAt(char.charCodeAt(0) - 0x80)),
  encode: (text) => {
    const bytes = Buffer.allocUnsafe(text.length);
    for (let at = 0; at < text.length; at++) {
      const code = codeOf1252(text.charCodeAt(at));
      if (code === undefined) return undefined;
      bytes[at] = code;
    }
    return bytes;
  },
};
// Bytes 0x80 to 0x9f. Not by TextDecoder: that of Node 20 takes them for Latin-1. Five of them are not assigned and stand for themselves.
const UPPER_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';
const codeOf1252 = (unit: number): number | undefined => {
  if (unit < 0x80 || (unit >= 0xa0 && unit < 0x100)) return unit;
  const upper = UPPER_1252.indexOf(String.fromCharCode(unit));
  return upper < 0 ? undefined : 0x80 + upper;
};
// Some of it is UTF-8 and some is not: one character a byte, so that the broken part survives.
export const BROKEN_UTF8: Encoding = {
  name: 'UTF-8 with invalid bytes',
  decode: (bytes) => bytes.toString('latin1'),
  encode: (text) => Buffer.from(text, 'latin1'),
  inward: (text) => Buffer.from(text, 'utf8').toString('latin1'),
  outward: (text) => Buffer.from(text, 'latin1').toString('utf8'),
  exactOnly: true,
};
