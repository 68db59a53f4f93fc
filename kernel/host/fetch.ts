/** `fetch` on node:http(s). The built-in one knows no proxy, compiles its parser at first use and holds up the exit of a short run. */
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import * as http from 'node:http';
import type { FetchInit } from '../contracts/powers.ts';
import { BodyReader, decoded } from './http-body.ts';
import { fetchFailure } from './http-failure.ts';
import { HttpHeaders } from './http-headers.ts';
import { type Message, partsOf, toMessage } from './http-request.ts';
import { HttpResponse } from './http-response.ts';
import type { Lookup, Route } from './permit.ts';
import { bareHost, chooseProxy, type Proxy, throughTunnel } from './proxy.ts';

const MAX_REDIRECTS = 5;
const CONNECT_MS = 10_000;
const MAX_SOCKETS = 64;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Statuses of answers that have no body. */
const NO_BODY = new Set([204, 205, 304]);
/** Headers by whatever name a service has for them; not passed on to another origin. */
const CREDENTIAL = /authorization|cookie|token|secret|password|(?:^|-)(?:api-?)?key$/i;

const SHARED: Route = { isShared: true };

interface Agents {
  readonly plain: http.Agent;
  secure(proxy: Proxy | null): Promise<http.Agent>;
}

/** Proxies come from `environment` (`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`, either case). */
export const createFetch = (environment: Readonly<Record<string, string | undefined>>, lookup?: Lookup) => {
  const agents = createAgents();
  return async (input: string | URL | Request, given?: FetchInit): Promise<HttpResponse> => {
    const { url, init } = partsOf(input, given);
    const { permit } = init;
    const signal = init.signal ?? undefined;
    const send = async (message: Message): Promise<IncomingMessage> => {
      const proxy = chooseProxy(message.url, environment);
      if (!permit) return exchange(message, proxy, agents, signal, SHARED);
      const { judgedRoute } = await import('./permit.ts');
      return exchange(message, proxy, agents, signal, await judgedRoute({ url: message.url, isProxied: proxy !== null, permit, signal, lookup }));
    };
    try {
      signal?.throwIfAborted();
      const { reply, message, hops } = await follow(await toMessage(url, init), init.redirect ?? 'follow', send);
      return await toResponse(reply, message, hops > 0, signal);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw error instanceof TypeError ? error : fetchFailure(error);
    }
  };
};

// ---- redirects ----

const follow = async (first: Message, mode: RequestInit['redirect'], send: (message: Message) => Promise<IncomingMessage>) => {
  let message = first;
  for (let hops = 0; ; hops++) {
    const reply = await send(message);
    const location = REDIRECTS.has(reply.statusCode ?? 0) ? reply.headers.location : undefined;
    if (location === undefined || mode === 'manual') return { reply, message, hops };
    reply.destroy();
    if (mode === 'error') throw new TypeError(`fetch failed: ${message.url.host} answered with a redirect`);
    if (hops === MAX_REDIRECTS) throw new TypeError(`fetch failed: more than ${MAX_REDIRECTS} redirects from ${first.url.host}`);
    message = redirected(message, reply.statusCode ?? 0, location);
  }
};

const redirected = (message: Message, status: number, location: string): Message => {
  const url = new URL(location, message.url);
  const toGet = status === 303 ? message.method !== 'HEAD' : (status === 301 || status === 302) && message.method === 'POST';
  const isOther = url.origin !== message.url.origin;
  const drop = new Set<string>();
  if (toGet) for (const name of ['content-type', 'content-length', 'content-encoding']) drop.add(name);
  const headers = Object.fromEntries(Object.entries(message.headers).filter(([name]) => !drop.has(name) && !(isOther && CREDENTIAL.test(name))));
  return toGet ? { method: 'GET', url, headers } : { ...message, url, headers };
};

// ---- one request ----

const exchange = async (message: Message, proxy: Proxy | null, agents: Agents, signal: AbortSignal | undefined, route: Route): Promise<IncomingMessage> => {
  const { url } = message;
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new TypeError(`fetch failed: ${url.protocol} addresses cannot be fetched`);
  const agent = !route.isShared ? false : url.protocol === 'https:' ? await agents.secure(proxy) : agents.plain;
  const start = url.protocol === 'https:' ? (await import('node:https')).request : http.request;
  const options = { ...target(message, proxy), agent, method: message.method, lookup: route.lookup };
  const send = async (): Promise<IncomingMessage> => {
    const reply = await sendOnce(() => start(options), message.body, signal);
    return reply.once('error', () => distrust(agent));
  };
  try {
    return await send();
  } catch (error) {
    if (signal?.aborted) throw error;
    distrust(agent);
    // A kept connection may be closed by the server just as it is used again; nothing of an answer has come then.
    if (!(error instanceof StaleSocket)) throw error;
    return send();
  }
};

/** What broke one connection may have broken the idle ones as well: whoever tries again gets a new one. */
const distrust = (agent: http.Agent | false): void => {
  if (agent) for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
};

const target = ({ url, headers }: Message, proxy: Proxy | null): RequestOptions => {
  const host = { host: url.host, ...headers };
  if (!proxy || url.protocol === 'https:') {
    return { hostname: bareHost(url.hostname), port: url.port || undefined, path: `${url.pathname}${url.search}`, headers: host };
  }
  const { address, authorization } = proxy;
  const proxyHeaders = authorization === undefined ? host : { ...host, 'proxy-authorization': authorization };
  return { hostname: bareHost(address.hostname), port: address.port || 80, path: `${url.origin}${url.pathname}${url.search}`, headers: proxyHeaders };
};

class StaleSocket extends Error {}

const sendOnce = (start: () => ClientRequest, body: Uint8Array | undefined, signal: AbortSignal | undefined): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const request = start();
    const late = setTimeout(() => request.destroy(Object.assign(new Error('connecting took too long'), { code: 'ETIMEDOUT' })), CONNECT_MS);
    const abort = () => request.destroy(signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
    signal?.addEventListener('abort', abort, { once: true });
    // While the message was made ready: no event comes for it any more.
    if (signal?.aborted) abort();
    request.once('socket', (socket) => {
      // A server that took the connection may still never greet.
      const opened = request.reusedSocket ? undefined : 'encrypted' in socket ? 'secureConnect' : socket.connecting ? 'connect' : undefined;
      if (opened === undefined) clearTimeout(late);
      else socket.once(opened, () => clearTimeout(late));
    });
    request.once('close', () => {
      clearTimeout(late);
      signal?.removeEventListener('abort', abort);
      // A server that switches to another protocol gives neither an answer nor an error.
      reject(new Error('the connection was closed without an answer'));
    });
    request.once('response', resolve);
    // Stays for the whole life of the request: an error after the answer began also reaches the body, and must not be unhandled here.
    request.on('error', (error: NodeJS.ErrnoException) =>
      reject(request.reusedSocket && error.code === 'ECONNRESET' ? new StaleSocket('stale connection', { cause: error }) : error),
    );
    request.end(body);
  });

const createAgents = (): Agents => {
  const options = { keepAlive: true, maxSockets: MAX_SOCKETS, maxFreeSockets: 8 };
  const plain = new http.Agent(options);
  const secure = new Map<string, http.Agent>();
  return {
    plain,
    async secure(proxy) {
      const key = proxy ? `${proxy.address.href} ${proxy.authorization}` : '';
      let agent = secure.get(key);
      if (!agent) {
        const { Agent } = await import('node:https');
        agent = secure.get(key) ?? new Agent(options);
        if (proxy) throughTunnel(agent, proxy, CONNECT_MS);
        secure.set(key, agent);
      }
      return agent;
    },
  };
};

const toResponse = async (reply: IncomingMessage, { url, method }: Message, wasRedirected: boolean, signal: AbortSignal | undefined): Promise<HttpResponse> => {
  const status = reply.statusCode ?? 0;
  const head = { status, statusText: reply.statusMessage ?? '', headers: new HttpHeaders(reply.rawHeaders), url: url.href, redirected: wasRedirected };
  if (!NO_BODY.has(status) && method !== 'HEAD') return new HttpResponse(head, new BodyReader(await decoded(reply), signal));
  reply.resume();
  return new HttpResponse(head, null);
};
