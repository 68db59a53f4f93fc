import { isUtf8 } from 'node:buffer';

/** Stands for bytes that are no text, in a form that no pattern matches. */
export const NO_TEXT = '\udc80';
const UNREADABLE = '\ufffd';
const SIGN = Buffer.from(UNREADABLE);

/** UTF-8, where bytes that are none match nothing. Shown, they become the usual sign. */
export const decodeUtf8 = (bytes: Buffer): string => {
  const text = bytes.toString('utf8');
  if (!text.includes(UNREADABLE) || isUtf8(bytes)) return text;
  const pieces: string[] = [];
  let from = 0;
  for (let at = bytes.indexOf(SIGN); at >= 0; at = bytes.indexOf(SIGN, from)) {
    pieces.push(bytes.toString('utf8', from, at));
    from = at + SIGN.length;
  }
  return [...pieces, bytes.toString('utf8', from)].map((piece) => piece.replaceAll(UNREADABLE, NO_TEXT)).join(UNREADABLE);
};

/** By the mark at its beginning. Of several bytes a character only these are told apart, as ripgrep does. */
export const wideEncoding = (bytes: Buffer): 'utf-16le' | 'utf-16be' | undefined => {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : undefined;
};
