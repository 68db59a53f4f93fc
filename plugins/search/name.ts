import { isUtf8 } from 'node:buffer';

/**
 * Names of files are bytes. Those that are no UTF-8 are kept as halves of characters, one for each byte, so that the file can be found again:
 * `\udc80` to `\udcff`.
 */
export const nameFrom = (bytes: Buffer): string => {
  const text = bytes.toString();
  if (!text.includes(UNREADABLE) || isUtf8(bytes)) return text;
  let name = '';
  for (let at = 0; at < bytes.length; ) {
    const size = LENGTHS.find((length) => at + length <= bytes.length && isUtf8(bytes.subarray(at, at + length)));
    name += size === undefined ? String.fromCharCode(ESCAPE + (bytes[at] ?? 0)) : bytes.toString('utf8', at, at + size);
    at += size ?? 1;
  }
  return name;
};
export const UNREADABLE = '\ufffd';
const ESCAPE = 0xdc00;
/** Bytes of one character. */
const LENGTHS = [1, 2, 3, 4];

/** The bytes that a name stands for. */
export const bytesOf = (name: string): Buffer =>
  Buffer.concat(name.split(ESCAPED).map((part) => (LONE.test(part) ? Buffer.from([part.charCodeAt(0) - ESCAPE]) : Buffer.from(part))));
const ESCAPED = /([\udc80-\udcff])/u;
const LONE = /^[\udc80-\udcff]$/u;

/** For the file system, which takes text as UTF-8. */
export const onDisk = (path: string): string | Buffer => (ESCAPED.test(path) ? bytesOf(path) : path);

/**
 * As it stands in an answer. One that could be taken for something else (for the end of a line, a line of a result, a remark) or cannot be seen is
 * written as in JSON, and bytes that are no UTF-8 as `\xff`.
 */
export const shownName = (name: string): string => (MISLEADING.test(name) ? `"${name.replace(SPECIAL, escape)}"` : name);
const HIDDEN = '\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069\\ufeff';
const MISLEADING = new RegExp(`[${HIDDEN}]|^"|:\\d+:|^\\(.*\\)$`, 'u');
const SPECIAL = new RegExp(`[${HIDDEN}"\\\\]`, 'gu');
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '"': '\\"', '\\': '\\\\' };
const escape = (char: string): string => {
  const code = char.charCodeAt(0);
  return SHORT[char] ?? (LONE.test(char) ? `\\x${(code - ESCAPE).toString(16)}` : `\\u${code.toString(16).padStart(4, '0')}`);
};
