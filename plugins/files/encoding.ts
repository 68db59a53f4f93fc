import { isUtf8 } from 'node:buffer';

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
export interface TextFile {
  readonly encoding: Encoding;
  readonly mark: Buffer;
  /** Without the byte order mark, line endings as they are. */
  readonly text: string;
}

const same = (text: string): string => text;
const isWhole = (text: string): boolean => !/\p{Surrogate}/u.test(text);
const plain = { inward: same, outward: same, exactOnly: false };

export const UTF8: Encoding = {
  ...plain,
  name: 'UTF-8',
  decode: (bytes) => bytes.toString('utf8'),
  encode: (text) => (isWhole(text) ? Buffer.from(text, 'utf8') : undefined),
};
const UTF16LE: Encoding = { ...plain, name: 'UTF-16LE', decode: (bytes) => bytes.toString('utf16le'), encode: (text) => Buffer.from(text, 'utf16le') };
const UTF16BE: Encoding = {
  ...plain,
  name: 'UTF-16BE',
  decode: (bytes) => Buffer.from(bytes).swap16().toString('utf16le'),
  encode: (text) => Buffer.from(text, 'utf16le').swap16(),
};
const WINDOWS_1252: Encoding = {
  ...plain,
  name: 'Windows-1252',
  decode: (bytes) => bytes.toString('latin1').replace(/[\x80-\x9f]/g, (char) => UPPER_1252.charAt(char.charCodeAt(0) - 0x80)),
  encode: (text) => {
    const codes = Array.from(text, codeOf1252);
    return codes.every((code) => code < 256) ? Buffer.from(codes) : undefined;
  },
};
// Bytes 0x80 to 0x9f. Not by TextDecoder: that of Node 20 takes them for Latin-1. Five of them are not assigned and stand for themselves.
const UPPER_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';
const codeOf1252 = (char: string): number => {
  const upper = UPPER_1252.indexOf(char);
  if (upper >= 0) return 0x80 + upper;
  const code = char.codePointAt(0) ?? 256;
  return code >= 0x80 && code < 0xa0 ? 256 : code;
};
// Some of it is UTF-8 and some is not: one character a byte, so that the broken part survives.
const BROKEN_UTF8: Encoding = {
  name: 'UTF-8 with invalid bytes',
  decode: (bytes) => bytes.toString('latin1'),
  encode: (text) => Buffer.from(text, 'latin1'),
  inward: (text) => Buffer.from(text, 'utf8').toString('latin1'),
  outward: (text) => Buffer.from(text, 'latin1').toString('utf8'),
  exactOnly: true,
};

const MARKS: readonly (readonly [Encoding, Buffer])[] = [
  [UTF8, Buffer.from([0xef, 0xbb, 0xbf])],
  [UTF16LE, Buffer.from([0xff, 0xfe])],
  [UTF16BE, Buffer.from([0xfe, 0xff])],
];
const NO_MARK = Buffer.alloc(0);

/** Undefined when the content is binary. */
export const decodeFile = (bytes: Buffer): TextFile | undefined => {
  const [wide, mark] = MARKS.find(([, start]) => bytes.subarray(0, start.length).equals(start)) ?? [undefined, NO_MARK];
  const body = bytes.subarray(mark.length);
  if (wide === UTF16LE || wide === UTF16BE) return body.length % 2 === 0 ? { encoding: wide, mark, text: wide.decode(body) } : undefined;
  if (isBinary(body)) return undefined;
  const encoding = encodingOf(body);
  return { encoding, mark, text: encoding.decode(body) };
};

const encodingOf = (body: Buffer): Encoding => {
  if (isUtf8(body)) return UTF8;
  const hasUtf8 = /[^\0-\x7f\ufffd]/.test(body.toString('utf8'));
  return hasUtf8 ? BROKEN_UTF8 : WINDOWS_1252;
};

/** Undefined when a character of the text does not exist in the file's encoding. */
export const encodeFile = (file: Pick<TextFile, 'encoding' | 'mark'>, text: string): Buffer | undefined => {
  const body = file.encoding.encode(text);
  return body && Buffer.concat([file.mark, body]);
};

const SAMPLE = 4096;

/** A NUL, or more than 30 % control characters, near the beginning. */
export const isBinary = (bytes: Buffer): boolean => {
  const sample = bytes.subarray(0, SAMPLE);
  if (sample.includes(0)) return true;
  const controls = sample.reduce((count, byte) => count + (byte < 32 && !(byte >= 8 && byte <= 13) && byte !== 27 ? 1 : 0), 0);
  return controls > sample.length * 0.3;
};
