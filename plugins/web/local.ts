/** Fetches a page directly. Each place on the way is judged twice: by the gates, and by the address that is connected to. */
import { isUtf8 } from 'node:buffer';
import { type Permit, type RunningCall, ToolError, type ToolResult } from '../../kernel/index.ts';
import { notPublic, pageAddress, permitFor } from './addresses.ts';
import { readBody } from './body.ts';
import type { Desk } from './desk.ts';
import { detailOf, isTransient, unreached } from './failures.ts';
import type { Format, FetchInput, Page } from './fetch.ts';
import { LIMITS } from './limits.ts';
import { plainText } from './plain.ts';

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36';
/** Who says what it is, is let through by some who stop what looks like a browser and is none. */
const OWN = 'cast';
const ACCEPT: Readonly<Record<Format, string>> = {
  markdown: 'text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5',
  text: 'text/plain, text/html;q=0.9, application/xhtml+xml;q=0.9, */*;q=0.5',
  html: 'text/html, application/xhtml+xml, */*;q=0.5',
};
/** Among which a title is looked for. */
const HEAD_CHARS = 65_536;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** The page, or what the call answers when a gate refuses where it leads. */
export const fetchLocally = async (first: URL, input: FetchInput, call: RunningCall, desk: Desk, signal: AbortSignal): Promise<Page | ToolResult> => {
  const format = input.format ?? 'markdown';
  const permit = permitFor(desk.options.allow);
  let url = first;
  for (let hops = 0; ; hops++) {
    const response = await ask(url, ACCEPT[format], permit, desk, signal);
    const location = REDIRECTS.has(response.status) ? response.headers.get('location') : null;
    if (location === null) return readPage(response, url, format, signal);
    await response.body?.cancel();
    if (hops === LIMITS.hops) throw new ToolError('EXTERNAL_ERROR', `${first.href} leads through more than ${LIMITS.hops} redirects.`);
    url = pageAddress(asText(location), url.href);
    const refusal = await call.judge({ ...input, url: url.href });
    if (refusal) return refusal;
  }
};

/** Headers come as bytes: those of an address that is not encoded are UTF-8, as a browser reads them. */
const asText = (header: string): string => {
  const bytes = Buffer.from(header, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : header;
};

const ask = async (url: URL, accept: string, permit: Permit, desk: Desk, signal: AbortSignal): Promise<Response> => {
  const response = await askAs(BROWSER, url, accept, permit, desk, signal);
  if (response.status !== 403 || response.headers.get('cf-mitigated') !== 'challenge') return response;
  await response.body?.cancel();
  return askAs(OWN, url, accept, permit, desk, signal);
};

const askAs = async (agent: string, url: URL, accept: string, permit: Permit, { net }: Desk, signal: AbortSignal): Promise<Response> => {
  let refused: string | undefined;
  const judge: Permit = (address) => {
    refused = permit(address) ?? refused;
    return refused;
  };
  const headers = { 'user-agent': agent, accept, 'accept-language': 'en, *;q=0.5' };
  try {
    return await net.fetch(url, { headers, redirect: 'manual', signal, permit: judge });
  } catch (error) {
    if (refused === undefined) throw unreached(error, url.host, signal);
    throw notPublic(url, refused);
  }
};

const readPage = async (response: Response, url: URL, format: Format, signal: AbortSignal): Promise<Page> => {
  if (!response.ok) throw await refusedPage(response, url);
  const { kind, text, isCut } = await readBody(response, url).catch((error: unknown) => {
    throw unreached(error, url.host, signal);
  });
  if (kind === 'text') return { url: url.href, title: '', text, isCut, isMarkdown: false };
  if (format === 'html') return { url: url.href, title: plainText(text.slice(0, HEAD_CHARS)).title, text, isCut, isMarkdown: false };
  const { inThread } = await import('./thread.ts');
  const converted = await inThread('page', { html: text, url: url.href, format }, signal).catch(() => {
    signal.throwIfAborted();
    return inThread('plain', text, signal).catch(() => {
      signal.throwIfAborted();
      throw tooMuch(url);
    });
  });
  return { ...converted, url: url.href, isCut: isCut || converted.isCut, isMarkdown: format === 'markdown' };
};
const tooMuch = (url: URL): ToolError =>
  new ToolError('EXTERNAL_ERROR', `${url.href} is a page that cannot be converted in the time and the memory for it.`, {
    fix: 'Ask for it with format "html", or download it (`curl -L -o FILE URL`) and search it.',
  });

const refusedPage = async (response: Response, url: URL): Promise<ToolError> => {
  const { status } = response;
  const detail = await detailOf(response).catch(() => '');
  const isGone = status === 404 || status === 410;
  return new ToolError(isGone ? 'NOT_FOUND' : 'EXTERNAL_ERROR', `${url.href} answers with HTTP ${status}${detail === '' ? '.' : `: ${detail}`}`, {
    retryable: isTransient(status),
  });
};
