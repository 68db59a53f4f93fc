/** The text of a body: what its charset is, and what it says in it. */
import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';

/**
 * `header` is what the content type says. A byte order mark beats it, as in browsers: servers say what they are configured to, files what
 * they are. Without any of it UTF-8 is tried, and then what the oldest pages are in. A body that is cut may end within a character.
 */
export const decodeBody = async (bytes: Buffer, header: string | undefined, isCut: boolean): Promise<string> => {
  const label = markOf(bytes) ?? header ?? metaOf(bytes);
  const text = label === undefined ? undefined : await decodedAs(bytes, label.trim().toLowerCase());
  if (text !== undefined) return text;
  if (isUtf8(isCut ? wholeUtf8(bytes) : bytes)) return new TextDecoder().decode(bytes);
  return (await byLibrary(bytes, 'windows-1252')) ?? bytes.toString('latin1');
};

/** Undefined when nobody knows the label. */
const decodedAs = async (bytes: Buffer, label: string): Promise<string | undefined> => {
  const decoder = decoderOf(label);
  // That of Node 20 takes it for Latin-1.
  if (decoder?.encoding === 'windows-1252') return byLibrary(bytes, 'windows-1252');
  return decoder ? decoder.decode(bytes) : byLibrary(bytes, label);
};
const decoderOf = (label: string): TextDecoder | undefined => {
  try {
    return new TextDecoder(label);
  } catch {
    return undefined;
  }
};
/** Known to the library, but to write bytes as text and not to read text. */
const NO_CHARSET = /^(?:base64|hex)$/;
const byLibrary = async (bytes: Buffer, label: string): Promise<string | undefined> => {
  const { default: iconv } = await import('iconv-lite');
  return !NO_CHARSET.test(label.replace(/[^a-z\d]/g, '')) && iconv.encodingExists(label) ? iconv.decode(bytes, label) : undefined;
};

export const markOf = (bytes: Buffer): 'utf-8' | 'utf-16le' | 'utf-16be' | undefined => {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : undefined;
};

/** Browsers look no further for it. */
const META_BYTES = 1024;
const metaOf = (bytes: Buffer): string | undefined => {
  const head = bytes.subarray(0, META_BYTES).toString('latin1');
  const [, label] =
    /<meta[^>]{0,300}?charset\s{0,9}=\s{0,9}["']?([\w.:-]{2,40})/i.exec(head) ??
    /^<\?xml[^>]{0,200}?encoding\s{0,9}=\s{0,9}["']([\w.:-]{2,40})/i.exec(head) ??
    [];
  // Its own characters could be read, so it is none of these.
  return label !== undefined && /^utf-?16/i.test(label) ? 'utf-8' : label;
};

/** Without a character at the end of which only a part came. */
const wholeUtf8 = (bytes: Buffer): Buffer => {
  let end = bytes.length;
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte >= 0xc0) {
      const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      if (size > back) end = bytes.length - back;
      break;
    }
  }
  return bytes.subarray(0, end);
};
