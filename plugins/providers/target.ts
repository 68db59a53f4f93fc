/** Where a provider is, and with which headers it is asked. */
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { type ProviderConfig, ProviderError } from '../../kernel/index.ts';
import { isAzure, isOpenRouter } from './dialects/hosts.ts';
import type { Place } from './failures/classify.ts';

const DEFAULT_KEY = 'CAST_API_KEY';
export const DEFAULT_BASE_URL = 'https://api.openai.com/v1';
const DEFAULT_TITLE = 'cast';
/** Paths of the formats, which people copy along with the address. */
const FORMAT_PATHS = /\/(chat\/completions|responses)\/?$/;

/** Headers that say how a message is sent, which is not for a configuration to say. */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  'content-length',
  'host',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'te',
  'trailer',
  'expect',
]);

export interface TargetParts {
  readonly name: string;
  readonly config: ProviderConfig;
  /** The key of a name; undefined where none is set, as for a server of one's own. */
  readonly secret: (name: string) => Promise<string | undefined>;
  /** Sent as the user agent. */
  readonly version: string;
  readonly now: () => number;
}
export interface Target {
  /** Without a slash at its end, and without a query: by it a host is remembered. */
  readonly baseUrl: string;
  /** Without a port: a server on this machine is the same when it begins anew on another. */
  readonly hostname: string;
  /** Of a path such as `/chat/completions`; the query of the configured address stays behind it. */
  address(path: string): string;
  readonly headers: Readonly<Record<string, string>>;
  readonly place: Omit<Place, 'model'>;
}

export const aim = async (parts: TargetParts): Promise<Target> => {
  const url = urlOf(parts);
  const baseUrl = baseOf(url);
  const keyName = parts.config.key ?? DEFAULT_KEY;
  const key = (await parts.secret(keyName))?.trim() || undefined;
  return {
    baseUrl,
    hostname: url.hostname,
    address: (path) => `${baseUrl}${path}${url.search}`,
    headers: checked(headersOf(parts, url, key), parts, keyName),
    place: { host: url.host, keyName, key, now: parts.now },
  };
};

/** Without a slash at its end, and without a query. Throws ProviderError when the configured one is no address. */
export const baseUrlOf = (parts: Pick<TargetParts, 'name' | 'config'>): string => baseOf(urlOf(parts));

const urlOf = ({ name, config }: Pick<TargetParts, 'name' | 'config'>): URL => {
  const given = config.baseUrl ?? DEFAULT_BASE_URL;
  const url = URL.canParse(given) ? new URL(given) : undefined;
  // `localhost:8080/v1` can be read as an address as well, of the protocol `localhost`.
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return url;
  // Without what may be a password or a key.
  const shown = given.replace(/[?#].*$/s, '').replace(/[^/]*@/, '');
  throw new ProviderError('bad_request', `providers.${name}.baseUrl is no address of http:// or https://: ${shown}`, {
    fix: 'Give an address such as https://api.openai.com/v1 or http://localhost:8080/v1.',
  });
};

/** An address without what the formats put behind it. */
export const baseOf = ({ origin, pathname }: URL): string => `${origin}${pathname.replace(FORMAT_PATHS, '').replace(/\/+$/, '')}`;

const headersOf = ({ config, version }: TargetParts, url: URL, key: string | undefined): Readonly<Record<string, string>> => {
  const own = Object.entries(config.headers ?? {}).map(([header, value]) => [header.toLowerCase(), value] as const);
  return {
    accept: 'text/event-stream, application/json',
    'content-type': 'application/json',
    'user-agent': `cast/${version}`,
    ...keyHeader(url, key),
    ...userHeader(url),
    ...askerHeaders(config, url),
    ...Object.fromEntries(own.filter(([header]) => !OF_CONNECTION.has(header))),
  };
};

/** Throws ProviderError where a header cannot be sent, which no further attempt would change. */
const checked = (headers: Readonly<Record<string, string>>, { name, config }: TargetParts, keyName: string): Readonly<Record<string, string>> => {
  for (const [header, value] of Object.entries(headers)) {
    try {
      validateHeaderName(header);
      validateHeaderValue(header, value);
    } catch {
      const isOwn = Object.keys(config.headers ?? {}).some((own) => own.toLowerCase() === header);
      const place = isOwn ? `the header ${JSON.stringify(header)} of providers.${name}.headers` : `the key in ${keyName}`;
      throw new ProviderError('bad_request', `${place} cannot be sent: it holds a line break, or another character that no header may have`, {
        fix: 'Set it again, without quotes, dots or breaks that came along when it was copied.',
      });
    }
  }
  return headers;
};

/** Of an address with a name and a password, as one behind a login of its own server has: given for this host alone. */
const userHeader = ({ username, password }: URL): Readonly<Record<string, string>> => {
  if (username === '' && password === '') return {};
  const [user, word] = [username, password].map(percentDecoded);
  return { authorization: `Basic ${Buffer.from(`${user}:${word}`).toString('base64')}` };
};
const percentDecoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

const keyHeader = (url: URL, key: string | undefined): Readonly<Record<string, string>> => {
  if (key === undefined) return {};
  return isAzure(url) ? { 'api-key': key } : { authorization: `Bearer ${key}` };
};

/** Who asks, for the statistics of OpenRouter. */
const askerHeaders = ({ dialect, providerHeaders = { xTitle: DEFAULT_TITLE } }: ProviderConfig, url: URL): Readonly<Record<string, string>> => {
  if (dialect !== 'openrouter' && !isOpenRouter(url)) return {};
  const { httpReferer, xTitle } = providerHeaders;
  return { ...(httpReferer === undefined ? {} : { 'http-referer': httpReferer }), ...(xTitle === undefined ? {} : { 'x-title': xTitle }) };
};
