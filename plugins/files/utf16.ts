import { type Encoding, UTF16BE, UTF16LE } from './charsets.ts';

/** Fewer characters than this could be anything. */
const LEAST_CHARACTERS = 8;
/** Of these nearly all are ASCII in text of the languages that UTF-16 can be told of. */
const LEAST_ASCII = 0.75;
const SAMPLE_BYTES = 4096;
const NO_TEXT = /(?![\t\n\f\r])\p{Cc}|[\p{Cs}\p{Cn}\p{Co}\ufffd]/u;

/** UTF-16 that has no byte order mark, where it is certain: all of it is text, most of it ASCII. Bytes that hold numbers are not. */
export const bareUtf16 = (bytes: Buffer): Encoding | undefined => {
  if (bytes.length % 2 !== 0 || bytes.length < LEAST_CHARACTERS * 2) return undefined;
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  return [UTF16LE, UTF16BE].find(({ decode }) => isMostlyAscii(decode(sample)) && !NO_TEXT.test(decode(bytes)));
};

const isMostlyAscii = (text: string): boolean => text.replace(/[^\t-~]/g, '').length >= text.length * LEAST_ASCII;
