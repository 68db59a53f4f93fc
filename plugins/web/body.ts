/** The body of an answer: judged by its type before it is read, capped while it is, and looked at before it is believed. */
import { ToolError } from '../../kernel/index.ts';
import { decodeBody, markOf } from './charset.ts';
import { LIMITS } from './limits.ts';

export interface Body {
  readonly kind: 'html' | 'text';
  readonly text: string;
  /** There was more than is ever read. */
  readonly isCut: boolean;
}

/** Throws where it is nothing that could be read as text. */
export const readBody = async (response: Response, url: URL): Promise<Body> => {
  const { media, charset } = typeOf(response);
  try {
    if (!isText(media)) throw notText(url, media);
    refuseLarge(response, url);
    const { bytes, isCut } = await readCapped(response, LIMITS.bodyBytes);
    const binary = binaryTypeOf(bytes, charset);
    if (binary !== undefined) throw notText(url, binary);
    const text = await decodeBody(bytes, charset, isCut);
    return { kind: isHtml(media, text) ? 'html' : 'text', text, isCut };
  } catch (error) {
    await response.body?.cancel().catch(() => undefined);
    throw error;
  }
};

interface MediaType {
  /** Empty where it says nothing about what it is. */
  readonly media: string;
  readonly charset: string | undefined;
}
const typeOf = (response: Response): MediaType => {
  const [type = '', ...parameters] = (response.headers.get('content-type') ?? '').split(';').map((part) => part.trim());
  const media = type.toLowerCase();
  const charset = parameters.map((part) => /^charset\s*=\s*"?([^"]+)"?$/i.exec(part)?.[1]).find((each) => each !== undefined);
  return { media: media === 'application/octet-stream' ? '' : media, charset };
};

/** The first bytes, decompressed. The rest is not read. */
export const readCapped = async (response: Response, max: number): Promise<{ readonly bytes: Buffer; readonly isCut: boolean }> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    size += chunk.byteLength;
    // Leaving the loop closes the connection.
    if (size > max) break;
  }
  return { bytes: Buffer.concat(chunks).subarray(0, max), isCut: size > max };
};

// ---- types ----

const TEXTS = new Set(
  ['json', 'xml', 'javascript', 'ecmascript', 'x-javascript', 'typescript', 'yaml', 'x-yaml', 'toml', 'x-ndjson', 'jsonl', 'sql', 'graphql']
    .concat(['x-sh', 'x-httpd-php', 'x-www-form-urlencoded', 'x-tex', 'x-latex', 'rtf', 'xhtml+xml', 'x-subrip', 'pgp-signature', 'mbox'])
    .map((name) => `application/${name}`),
);
const isText = (media: string): boolean => media === '' || media.startsWith('text/') || TEXTS.has(media) || /\+(?:json|xml|yaml)$/.test(media);

/** Without a type, by how it begins. */
const isHtml = (media: string, text: string): boolean => (media === '' ? BEGINS_AS_HTML.test(text.slice(0, 1_000)) : HTML.has(media));
const HTML = new Set(['text/html', 'application/xhtml+xml']);
const BEGINS_AS_HTML = /^\s{0,200}(?:<!--[^]{0,500}?-->\s{0,20})?<(?:!doctype html|html|head|body)\b/i;

const SAMPLE = 4096;
/** What a body is that no text is in, whatever its type said. */
const binaryTypeOf = (bytes: Buffer, charset: string | undefined): string | undefined => {
  const signature = signatureOf(bytes);
  if (signature !== undefined) return signature;
  const isWide = markOf(bytes)?.startsWith('utf-16') ?? /utf-?(?:16|32)/i.test(charset ?? '');
  return !isWide && bytes.subarray(0, SAMPLE).includes(0) ? 'binary data' : undefined;
};
const SIGNATURES: readonly (readonly [start: string, name: string])[] = [
  ['%PDF-', 'application/pdf'],
  ['\x89PNG', 'image/png'],
  ['GIF8', 'image/gif'],
  ['\xff\xd8\xff', 'image/jpeg'],
  ['PK\x03\x04', 'application/zip'],
  ['\x1f\x8b', 'application/gzip'],
];
const signatureOf = (bytes: Buffer): string | undefined => {
  const start = bytes.subarray(0, 8).toString('latin1');
  return SIGNATURES.find(([mark]) => start.startsWith(mark))?.[1];
};

// ---- refusals ----

const notText = (url: URL, media: string): ToolError =>
  new ToolError('INVALID_ARGUMENT', `${url.href} is ${media}, which is no text.`, { fix: `Download it (\`curl -L -o FILE URL\`)${nextStep(media)}` });
const nextStep = (media: string): string => {
  if (media === 'application/pdf') return ' and convert it, for example with `pdftotext FILE -`.';
  if (/^image\/(?:png|jpeg|gif|webp)$/.test(media)) return ' and look at it with read.';
  return ' and use a program for it.';
};
const refuseLarge = (response: Response, url: URL): void => {
  const bytes = Number(response.headers.get('content-length') ?? 0);
  if (!(bytes > LIMITS.bodyBytes)) return;
  throw new ToolError('INVALID_ARGUMENT', `${url.href} has ${bytes} bytes; at most ${LIMITS.bodyBytes} are fetched.`, {
    fix: 'Download it (`curl -L -o FILE URL`) and read it in parts.',
  });
};
