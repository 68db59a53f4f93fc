/** Which proxy a request goes through, as the environment says, and tunnels through it. */
import * as http from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { CastError } from '../errors.ts';
import { basicAuthorization } from './http-request.ts';

type Environment = Readonly<Record<string, string | undefined>>;
export interface Proxy {
  readonly address: URL;
  readonly authorization: string | undefined;
}

/** Null when the request goes straight to its host. */
export const chooseProxy = (url: URL, environment: Environment): Proxy | null => {
  const named = proxyFor(url, (name) => environment[name.toLowerCase()] || environment[name] || undefined);
  if (named === undefined) return null;
  const given = named.includes('://') ? named : `http://${named}`;
  const address = URL.canParse(given) ? new URL(given) : undefined;
  if (address?.protocol !== 'http:') throw unusable(address);
  return { address, authorization: address.username === '' && address.password === '' ? undefined : basicAuthorization(address) };
};

/** Without name and password of it. */
const unusable = (address: URL | undefined): TypeError => {
  const problem = address
    ? `the proxy ${address.protocol}//${address.host} is not supported, only http:// ones are`
    : 'the address of the proxy cannot be read';
  const cause = new CastError('CONFIG_INVALID', problem, { fix: 'Correct HTTP_PROXY, HTTPS_PROXY or ALL_PROXY, or name the host in NO_PROXY.' });
  return new TypeError(`fetch failed: ${problem}`, { cause });
};

const proxyFor = (url: URL, named: (name: string) => string | undefined): string | undefined => {
  if (isLoopback(url.hostname) || isExempt(url, named('NO_PROXY') ?? '')) return undefined;
  return named(url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY') ?? named('ALL_PROXY');
};

const isLoopback = (hostname: string): boolean => hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);

/** Entries: `*`, `host`, `.domain`, `*.domain`, each with an optional port. A name also covers what is below it. */
const isExempt = (url: URL, list: string): boolean => {
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return list.split(/[\s,]+/).some((entry) => {
    if (entry === '*') return true;
    const [, name = '', onlyPort] = /^(?:\*?\.)?(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    return name !== '' && (onlyPort === undefined || onlyPort === port) && (url.hostname === name || url.hostname.endsWith(`.${name}`));
  });
};

/** Node wants IPv6 addresses without their brackets. */
export const bareHost = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');

/** Makes an https agent reach its hosts through CONNECT; `connectMs` is the longest that the proxy may take. */
export const throughTunnel = (agent: http.Agent, { address, authorization }: Proxy, connectMs: number): void => {
  agent.createConnection = (options, callback) => {
    const authority = `${options.host ?? ''}:${options.port ?? 443}`;
    const headers = { host: authority, ...(authorization === undefined ? {} : { 'proxy-authorization': authorization }) };
    const hop = { hostname: bareHost(address.hostname), port: address.port || 80, method: 'CONNECT', path: authority, headers, timeout: connectMs };
    const request = http.request({ ...hop, agent: false });
    const fail = (error: Error) => callback?.(error, undefined as never);
    request.once('error', fail);
    request.once('timeout', () => request.destroy(new Error(`the proxy ${address.host} does not answer`)));
    request.once('connect', (reply, socket: Socket) => {
      socket.setTimeout(0);
      if (reply.statusCode === 200) void overTls(socket, options).then((tls) => callback?.(null, tls), fail);
      else {
        socket.destroy();
        fail(new Error(`the proxy ${address.host} refused the connection to ${authority} (HTTP ${reply.statusCode})`));
      }
    });
    request.end();
    return undefined;
  };
};

const overTls = async (socket: Socket, options: http.ClientRequestArgs): Promise<Socket> => {
  const tls = await import('node:tls');
  const name = options.host ?? '';
  const isAddress = /^[\d.]+$|:/.test(name);
  return tls.connect({ ...(options as ConnectionOptions), socket, ...(isAddress ? {} : { servername: name }) });
};
