/** Where a provider is, and with which headers it is asked. */
import { type ProviderConfig, ProviderError } from '../../kernel/index.ts';
import { isAzure, isOpenRouter } from './dialects/hosts.ts';
import type { Place } from './failures/classify.ts';

const DEFAULT_KEY = 'CAST_API_KEY';
export const DEFAULT_BASE_URL = 'https://api.openai.com/v1';
const DEFAULT_TITLE = 'cast';
/** Paths of the formats, which people copy along with the address. */
const FORMAT_PATHS = /\/(chat\/completions|responses)\/?$/;

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
    address: (path) => `${baseUrl}${path}${url.search}`,
    headers: headersOf(parts, url, key),
    place: { host: url.host, keyName, key, now: parts.now },
  };
};

/** Without a slash at its end, and without a query. Throws ProviderError when the configured one is no address. */
export const baseUrlOf = (parts: Pick<TargetParts, 'name' | 'config'>): string => baseOf(urlOf(parts));

const urlOf = ({ name, config }: Pick<TargetParts, 'name' | 'config'>): URL => {
  const given = config.baseUrl ?? DEFAULT_BASE_URL;
  if (URL.canParse(given)) return new URL(given);
  throw new ProviderError('bad_request', `providers.${name}.baseUrl is no address: ${given}`, { fix: 'Give an address such as https://api.openai.com/v1.' });
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
    ...askerHeaders(config, url),
    ...Object.fromEntries(own.filter(([header]) => header !== 'content-length' && header !== 'host')),
  };
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
