/** Which places may be fetched: those of the public internet, and those that the configuration allows. */
import ipaddr from 'ipaddr.js';
import { type Permit, ToolError } from '../../kernel/index.ts';

/** The address of a page. Throws where it is none that could be fetched, before anything is sent. */
export const pageAddress = (given: string, base?: string): URL => {
  const fix = 'Give an address that begins with http:// or https://.';
  if (!URL.canParse(given, base)) throw new ToolError('INVALID_ARGUMENT', `${shown(given)} is not a web address.`, { fix });
  const url = new URL(given, base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new ToolError('INVALID_ARGUMENT', `${url.protocol} addresses cannot be fetched.`, { fix });
  }
  if (url.username !== '' || url.password !== '') {
    throw new ToolError('INVALID_ARGUMENT', `The address of ${url.host} holds a user name or a password, which are not sent.`, { fix: 'Leave them out.' });
  }
  return url;
};
const shown = (text: string): string => JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);

/** Names that lead into a network of one's own, wherever they are asked. */
const PRIVATE_NAME = /(?:^|\.)(?:localhost|local|internal|home\.arpa)$/;

/** Whether an entry names the host, with this port or for all of them. */
export const isAllowed = (allow: readonly string[], host: string, port: number): boolean =>
  allow.some((entry) => {
    const [, name = '', only] = /^(.*?)(?::(\d+))?$/.exec(entry.startsWith('[') ? entry : entry.toLowerCase()) ?? [];
    const address = URL.canParse(`http://${name}`) ? bare(new URL(`http://${name}`).hostname) : name;
    return address === bare(host) && (only === undefined || Number(only) === port);
  });
export const isAllowedPage = (allow: readonly string[], url: URL): boolean => isAllowed(allow, url.hostname, portOf(url));
/** One host is spelled in several ways: with brackets, with a dot at its end. */
const bare = (host: string): string => host.replace(/^\[|\]$|\.+$/g, '').toLowerCase();

/** Asked about each address when the connection to it is made. */
export const permitFor =
  (allow: readonly string[]): Permit =>
  ({ host, port, ip }) =>
    isAllowed(allow, host, port) ? undefined : (refusedName(host, ip !== undefined) ?? (ip === undefined ? undefined : refusedAddress(host, ip)));

/** What can be said without connecting, for whoever does not. */
export const refusedHost = (url: URL): string | undefined => {
  const host = bare(url.hostname);
  return permitFor([])({ host, port: portOf(url), ip: ipaddr.isValid(host) ? host : undefined });
};
const portOf = (url: URL): number => Number(url.port) || (url.protocol === 'https:' ? 443 : 80);

const refusedName = (host: string, isKnown: boolean): string | undefined => {
  const name = bare(host);
  const isPrivate = PRIVATE_NAME.test(name) || (!isKnown && !name.includes('.') && !name.includes(':'));
  return isPrivate ? `${host} is a name of a private network` : undefined;
};

const refusedAddress = (host: string, ip: string): string | undefined => {
  const kind = kindOf(ip);
  if (kind === undefined) return undefined;
  return host === ip ? `${ip} is ${kind}` : `${host} leads to ${ip}, which is ${kind}`;
};

const WORDS: Readonly<Record<string, string>> = {
  loopback: 'an address of this machine',
  unspecified: 'an address of this machine',
  private: 'an address of a private network',
  uniqueLocal: 'an address of a private network',
  carrierGradeNat: 'an address of a private network',
  linkLocal: 'a link-local address',
  multicast: 'a multicast address',
};
const NAT64 = ipaddr.parseCIDR('64:ff9b::/96');
/** All of IPv6 that is given out for the public internet. What lies outside of it has meant an IPv4 address before. */
const GLOBAL = ipaddr.parseCIDR('2000::/3');

/** In words, what an address is that is not of the public internet. What cannot be read is not. */
const kindOf = (ip: string): string | undefined => {
  if (!ipaddr.isValid(ip)) return 'no address that can be judged';
  const address = ipaddr.process(ip);
  // A gateway turns it into the IPv4 address at its end, which is what is reached.
  if (address instanceof ipaddr.IPv6 && address.match(NAT64)) return kindOf(ipaddr.fromByteArray(address.toByteArray().slice(12)).toString());
  const range = address.range();
  const isPublic = range === 'unicast' && (address instanceof ipaddr.IPv4 || address.match(GLOBAL));
  return isPublic ? undefined : (WORDS[range] ?? 'a reserved address');
};

export const notPublic = (url: URL, reason: string): ToolError =>
  new ToolError('PERMISSION_DENIED', `${url.href} is not fetched: ${reason}.`, {
    fix: `Only public addresses are. If the user wants this one, \`plugins.web.allow\` takes ${JSON.stringify(url.host)}.`,
  });
