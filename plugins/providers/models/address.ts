/** How far away a provider is: what may be asked about it, and of whom, depends on that. */

/** `private` are networks that nobody outside can reach, as far as an address tells. */
export type Reach = 'loopback' | 'private' | 'public';

const PRIVATE_NAME = /\.(?:local|lan|home|internal|intranet|localdomain|home\.arpa)$/;
const PRIVATE_IPV4 = /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)/;
const PRIVATE_IPV6 = /^f[cd]|^fe[89ab]/;

export const reachOf = (baseUrl: string): Reach => {
  if (!URL.canParse(baseUrl)) return 'public';
  const host = withoutMapping(new URL(baseUrl).hostname.replace(/^\[|\]$|\.$/g, '').toLowerCase());
  if (isLoopback(host)) return 'loopback';
  return isPrivate(host) ? 'private' : 'public';
};

/** `::ffff:7f00:1` is 127.0.0.1. */
const withoutMapping = (host: string): string => {
  const [, high, low] = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(host) ?? [];
  if (high === undefined || low === undefined) return host;
  const [one, other] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [one >> 8, one & 255, other >> 8, other & 255].join('.');
};

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host.endsWith('.localhost') || /^127\.\d+\.\d+\.\d+$/.test(host) || ['::1', '0.0.0.0', '::'].includes(host);

/** A name without a dot is one of the own network, as of a container. */
const isPrivate = (host: string): boolean =>
  host.includes(':') ? PRIVATE_IPV6.test(host) : !host.includes('.') || PRIVATE_NAME.test(host) || (/^[\d.]+$/.test(host) && PRIVATE_IPV4.test(host));

/** Where the server itself is: without the path of its OpenAI-compatible interface. */
export const rootOf = (baseUrl: string): string => baseUrl.replace(/\/+$/, '').replace(/\/(?:api\/)?v\d+$/, '');
