/** What goes into `fetch`, in the words of node:http. By shape, not by class: naming a built-in class would load it before the request leaves. */
import type { FetchInit } from '../contracts/powers.ts';

export interface Message {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
}

/** A Request becomes an address and its parts. */
export const partsOf = (input: string | URL | Request, given: FetchInit | undefined): { readonly url: URL; readonly init: FetchInit } => {
  if (!isRequest(input)) return { url: new URL(input), init: given ?? {} };
  const { url, method, headers, body, signal, redirect } = input;
  return { url: new URL(url), init: { method, headers, body, signal, redirect, ...given } };
};
const isRequest = (input: unknown): input is Request => typeof input === 'object' && input !== null && 'url' in input && 'method' in input;

export const toMessage = async (url: URL, init: RequestInit): Promise<Message> => {
  const method = (init.method ?? 'GET').toUpperCase();
  const headers: Record<string, string> = { 'accept-encoding': 'gzip, deflate, br', ...lowerCase(init.headers) };
  moveCredentials(url, headers);
  const { bytes, type } = await contentOf(init.body);
  if (type !== null) headers['content-type'] ??= type;
  if (bytes || ['POST', 'PUT', 'PATCH'].includes(method)) headers['content-length'] = String(bytes?.byteLength ?? 0);
  return { method, url, headers, body: bytes };
};

const moveCredentials = (url: URL, headers: Record<string, string>): void => {
  if (url.username === '' && url.password === '') return;
  headers['authorization'] ??= basicAuthorization(url);
  url.username = '';
  url.password = '';
};
/** Of the name and the password in an address. */
export const basicAuthorization = ({ username, password }: URL): string =>
  `Basic ${Buffer.from(`${percentDecoded(username)}:${percentDecoded(password)}`).toString('base64')}`;

/** As it is where a percent sign was meant as one. */
const percentDecoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

const lowerCase = (headers: RequestInit['headers']): Record<string, string> => {
  const pairs = headers === undefined ? [] : Symbol.iterator in headers ? [...(headers as Iterable<[string, string]>)] : Object.entries(headers);
  return Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), String(value)]));
};

interface Content {
  readonly bytes: Uint8Array | undefined;
  /** The content type that the body implies. */
  readonly type: string | null;
}

const contentOf = async (body: RequestInit['body'] | undefined): Promise<Content> => {
  if (body === undefined || body === null) return { bytes: undefined, type: null };
  if (typeof body === 'string') return { bytes: Buffer.from(body), type: 'text/plain;charset=UTF-8' };
  if (body instanceof URLSearchParams) return { bytes: Buffer.from(body.toString()), type: 'application/x-www-form-urlencoded;charset=UTF-8' };
  if (ArrayBuffer.isView(body)) return { bytes: new Uint8Array(body.buffer, body.byteOffset, body.byteLength), type: null };
  // Forms, blobs and streams are rare.
  const wrapped = new Response(body);
  return { bytes: new Uint8Array(await wrapped.arrayBuffer()), type: wrapped.headers.get('content-type') };
};
