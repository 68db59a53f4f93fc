import { analyse } from 'chardet';
import iconv from 'iconv-lite';
import { type Encoding, plain } from './charsets.ts';

/** Of what is recognised, the encodings that are tried, as iconv knows them and as they are shown. The narrower one first: what it lacks other readers of the file may lack too. */
const TABLES: Readonly<Record<string, readonly (readonly [table: string, name: string])[]>> = {
  GB18030: [
    ['gbk', 'GBK'],
    ['gb18030', 'GB18030'],
  ],
  // Without the additions of Hong Kong, in which two characters can be one code: a change would reach into its neighbour.
  Big5: [['cp950', 'Big5']],
  Shift_JIS: [['shiftjis', 'Shift_JIS']],
  'EUC-KR': [['cp949', 'EUC-KR']],
};

/** Larger files, in bytes, are not looked at: they are decoded and encoded in one go. */
const MAX_BYTES = 8 * 1024 * 1024;
/** Bytes that are looked at to recognise an encoding, from the first line that is not ASCII on. */
const SAMPLE_BYTES = 16_384;
/** Of 100. Real text of more than ten characters reaches 100; shorter text, and text of other encodings, 10. */
const MIN_CONFIDENCE = 75;
/** Different characters beyond ASCII: a line that is drawn with one of them is no text. */
const MIN_DIFFERENT = 6;
const NO_TEXT = /(?![\t\n\f\r])\p{Cc}|[\p{Cn}\p{Co}\ufffd]/u;

/** The East Asian encoding of a file, if there is no doubt, and if untouched text keeps its bytes in it. */
export const eastAsian = (bytes: Buffer): Encoding | undefined => {
  if (bytes.length > MAX_BYTES) return undefined;
  const [best] = analyse(sampleOf(bytes));
  if (!best || best.confidence < MIN_CONFIDENCE) return undefined;
  const [table, name] = (TABLES[best.name] ?? []).find((candidate) => isText(bytes, candidate[0])) ?? [];
  return table === undefined || name === undefined ? undefined : encodingOf(table, name);
};

const sampleOf = (bytes: Buffer): Buffer => {
  const first = bytes.findIndex((byte) => byte > 0x7f);
  const start = bytes.lastIndexOf(10, first) + 1;
  return bytes.subarray(start, start + SAMPLE_BYTES);
};

const isText = (bytes: Buffer, table: string): boolean => {
  const text = iconv.decode(bytes, table);
  return hasVariety(text) && !NO_TEXT.test(text) && iconv.encode(text, table).equals(bytes);
};

const hasVariety = (text: string): boolean => {
  const different = new Set<number>();
  for (let at = 0; at < text.length && different.size < MIN_DIFFERENT; at++) if (text.charCodeAt(at) > 0x7f) different.add(text.charCodeAt(at));
  return different.size >= MIN_DIFFERENT;
};

const encodingOf = (table: string, name: string): Encoding => ({
  ...plain,
  name,
  decode: (bytes) => iconv.decode(bytes, table),
  encode: (text) => {
    const bytes = iconv.encode(text, table);
    // What the table lacks is written as a question mark.
    return iconv.decode(bytes, table) === text ? bytes : undefined;
  },
});
