import { isUtf8 } from 'node:buffer';
import { BROKEN_UTF8, type Encoding, UTF16BE, UTF16LE, UTF8, WINDOWS_1252 } from './charsets.ts';
import { bareUtf16 } from './utf16.ts';

export interface TextFile {
  readonly encoding: Encoding;
  readonly mark: Buffer;
  /** Without the byte order mark, line endings as they are. */
  readonly text: string;
}

const MARKS: readonly (readonly [Encoding, Buffer])[] = [
  [UTF8, Buffer.from([0xef, 0xbb, 0xbf])],
  [UTF16LE, Buffer.from([0xff, 0xfe])],
  [UTF16BE, Buffer.from([0xfe, 0xff])],
];
const NO_MARK = Buffer.alloc(0);
/** Bytes, or wide characters, that tell text from what is none. */
const SAMPLE = 4096;

/** Undefined when the content is binary. */
export const decodeFile = async (bytes: Buffer): Promise<TextFile | undefined> => {
  const [marked, mark] = markOf(bytes) ?? [undefined, NO_MARK];
  const body = bytes.subarray(mark.length);
  const isWide = marked === UTF16LE || marked === UTF16BE;
  if (isWide) return wideText(marked, mark, body);
  const encoding = isBinary(body) ? bareUtf16(body) : await encodingOf(body);
  return encoding && { encoding, mark, text: encoding.decode(body) };
};

const wideText = (encoding: Encoding, mark: Buffer, body: Buffer): TextFile | undefined => {
  if (body.length % 2 !== 0) return undefined;
  const text = encoding.decode(body);
  // UTF-32 begins like UTF-16, and numbers may.
  return text.slice(0, SAMPLE).includes('\0') ? undefined : { encoding, mark, text };
};

/** What the byte order mark at the beginning says, if there is one. */
export const markOf = (bytes: Buffer): (typeof MARKS)[number] | undefined => MARKS.find(([, mark]) => bytes.subarray(0, mark.length).equals(mark));

/** Of so many characters of another encoding one is whole UTF-8 by chance. */
const MOST_BY_CHANCE = 4;

/** The encoding of bytes that are text of no wide encoding. */
export const encodingOf = async (body: Buffer): Promise<Encoding> => {
  if (isUtf8(body)) return UTF8;
  const { whole, broken } = countWide(body.toString('utf8'));
  if (whole > broken) return BROKEN_UTF8;
  const { eastAsian } = await import('./legacy.ts');
  return eastAsian(body) ?? (whole * MOST_BY_CHANCE > broken ? BROKEN_UTF8 : WINDOWS_1252);
};

/** Characters beyond ASCII, and how often there is none. A regular expression would take seconds for a large file. */
const countWide = (text: string): { readonly whole: number; readonly broken: number } => {
  let [whole, broken] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === REPLACEMENT) broken += 1;
    else if (code > 0x7f) whole += 1;
  }
  return { whole, broken };
};
const REPLACEMENT = 0xfffd;

/** Undefined when a character of the text does not exist in the file's encoding. */
export const encodeFile = (file: Pick<TextFile, 'encoding' | 'mark'>, text: string): Buffer | undefined => {
  const body = file.encoding.encode(text);
  return body && Buffer.concat([file.mark, body]);
};

/** A NUL, or more than 30 % control characters, near the beginning. */
export const isBinary = (bytes: Buffer): boolean => {
  const sample = bytes.subarray(0, SAMPLE);
  if (sample.includes(0)) return true;
  const controls = sample.reduce((count, byte) => count + (byte < 32 && !(byte >= 8 && byte <= 13) && byte !== 27 ? 1 : 0), 0);
  return controls > sample.length * 0.3;
};
