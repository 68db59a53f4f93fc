/** `fetch` on node:http(s). The built-in one compiles its parser at first use and holds up the exit of a short run. */
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import * as http from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { ConnectionOptions } from 'node:tls';

const MAX_REDIRECTS = 5;
const CONNECT_MS = 10_000;
const MAX_SOCKETS = 64;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Statuses for which a Response may have no body. */
const NO_BODY = new Set([204, 205, 304]);
/** Not passed on to another origin. */
const CREDENTIALS = ['authorization', 'cookie', 'proxy-authorization', 'api-key', 'x-api-key'];

type Environment = Readonly<Record<string, string | undefined>>;
type Route = { readonly kind: 'direct' } | { readonly kind: 'proxy'; readonly proxy: URL; readonly authorization: string | undefined };
interface Message {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
}
interface Agents {
  readonly plain: http.Agent;
  secure(route: Route): Promise<http.Agent>;
}

/** Proxies come from `environment` (`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`, either case). */
export const createFetch = (environment: Environment): typeof fetch => {
  const agents = createAgents();
  const start = async (input: string | URL | Request, init: RequestInit, signal: AbortSignal | undefined): Promise<Response> => {
    const send = (message: Message) => exchange(message, chooseRoute(message.url, environment), agents, signal);
    const { reply, message, hops } = await follow(await toMessage(input, init), init.redirect ?? 'follow', send);
    return toResponse(reply, message, hops > 0, signal);
  };
  return async (input, given) => {
    const init: RequestInit = isRequest(input) ? { ...partsOf(input), ...given } : (given ?? {});
    const signal = init.signal ?? undefined;
    try {
      signal?.throwIfAborted();
      return await start(input, init, signal);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw error instanceof TypeError ? error : failed(error);
    }
  };
};

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
  const drop = new Set(url.origin === message.url.origin ? [] : CREDENTIALS);
  if (toGet) for (const name of ['content-type', 'content-length', 'content-encoding']) drop.add(name);
  const headers = Object.fromEntries(Object.entries(message.headers).filter(([name]) => !drop.has(name)));
  return toGet ? { method: 'GET', url, headers } : { ...message, url, headers };
};

// ---- one request ----

const exchange = async (message: Message, route: Route, agents: Agents, signal: AbortSignal | undefined): Promise<IncomingMessage> => {
  const { url } = message;
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new TypeError(`fetch failed: ${url.protocol} addresses cannot be fetched`);
  const agent = url.protocol === 'https:' ? await agents.secure(route) : agents.plain;
  const start = url.protocol === 'https:' ? (await import('node:https')).request : http.request;
  const options = { ...target(message, route), agent, method: message.method };
  try {
    return await sendOnce(() => start(options), message.body, signal);
  } catch (error) {
    // A kept connection may be closed by the server just as it is used again; nothing of an answer has come then.
    if (!(error instanceof StaleSocket) || signal?.aborted) throw error;
    return sendOnce(() => start(options), message.body, signal);
  }
};

const target = ({ url, headers }: Message, route: Route): RequestOptions => {
  const host = { host: url.host, ...headers };
  if (route.kind === 'direct' || url.protocol === 'https:') {
    return { hostname: bare(url.hostname), port: url.port || undefined, path: `${url.pathname}${url.search}`, headers: host };
  }
  const proxyHeaders = route.authorization === undefined ? host : { ...host, 'proxy-authorization': route.authorization };
  return { hostname: bare(route.proxy.hostname), port: route.proxy.port || 80, path: `${url.origin}${url.pathname}${url.search}`, headers: proxyHeaders };
};
/** Node wants IPv6 addresses without their brackets. */
const bare = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');

class StaleSocket extends Error {}

const sendOnce = (start: () => ClientRequest, body: Uint8Array | undefined, signal: AbortSignal | undefined): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const request = start();
    const late = setTimeout(() => request.destroy(Object.assign(new Error('connecting took too long'), { code: 'ETIMEDOUT' })), CONNECT_MS);
    const abort = () => request.destroy(signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
    signal?.addEventListener('abort', abort, { once: true });
    request.once('socket', (socket) => {
      if (socket.connecting) socket.once('connect', () => clearTimeout(late));
      else clearTimeout(late);
    });
    request.once('close', () => {
      clearTimeout(late);
      signal?.removeEventListener('abort', abort);
    });
    request.once('response', resolve);
    // Stays for the whole life of the request: an error after the answer began also reaches the body, and must not be unhandled here.
    request.on('error', (error: NodeJS.ErrnoException) =>
      reject(request.reusedSocket && error.code === 'ECONNRESET' ? new StaleSocket('stale connection', { cause: error }) : error),
    );
    request.end(body);
    // The classes that the answer needs take some 25 ms to load; they load while the server works.
    setImmediate(() => void globalThis.Response);
  });

const createAgents = (): Agents => {
  const options = { keepAlive: true, maxSockets: MAX_SOCKETS, maxFreeSockets: 8 };
  const plain = new http.Agent(options);
  const secure = new Map<string, http.Agent>();
  return {
    plain,
    async secure(route) {
      const key = route.kind === 'direct' ? '' : `${route.proxy.href} ${route.authorization}`;
      let agent = secure.get(key);
      if (!agent) {
        const { Agent } = await import('node:https');
        agent = secure.get(key) ?? new Agent(options);
        if (route.kind === 'proxy') throughTunnel(agent, route);
        secure.set(key, agent);
      }
      return agent;
    },
  };
};

// ---- proxies ----

const chooseRoute = (url: URL, environment: Environment): Route => {
  const address = proxyFor(url, (name) => environment[name.toLowerCase()] || environment[name] || undefined);
  if (address === undefined) return { kind: 'direct' };
  const proxy = new URL(address.includes('://') ? address : `http://${address}`);
  if (proxy.protocol !== 'http:') throw new TypeError(`fetch failed: the proxy ${proxy.protocol}//${proxy.host} is not supported, only http:// ones are`);
  return { kind: 'proxy', proxy, authorization: proxy.username === '' && proxy.password === '' ? undefined : basic(proxy) };
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

/** Makes an https agent reach its hosts through CONNECT. */
const throughTunnel = (agent: http.Agent, { proxy, authorization }: Extract<Route, { kind: 'proxy' }>): void => {
  agent.createConnection = (options, callback) => {
    const authority = `${options.host ?? ''}:${options.port ?? 443}`;
    const headers = { host: authority, ...(authorization === undefined ? {} : { 'proxy-authorization': authorization }) };
    const hop = { hostname: bare(proxy.hostname), port: proxy.port || 80, method: 'CONNECT', path: authority, headers, timeout: CONNECT_MS };
    const request = http.request({ ...hop, agent: false });
    const fail = (error: Error) => callback?.(error, undefined as never);
    request.once('error', fail);
    request.once('timeout', () => request.destroy(new Error(`the proxy ${proxy.host} does not answer`)));
    request.once('connect', (reply, socket: Socket) => {
      socket.setTimeout(0);
      if (reply.statusCode === 200) void overTls(socket, options).then((tls) => callback?.(null, tls), fail);
      else {
        socket.destroy();
        fail(new Error(`the proxy ${proxy.host} refused the connection to ${authority} (HTTP ${reply.statusCode})`));
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

// ---- what goes in ----

const isRequest = (input: unknown): input is Request => typeof input === 'object' && input !== null && 'url' in input && 'method' in input;
const partsOf = ({ method, headers, body, signal, redirect }: Request): RequestInit => ({ method, headers, body, signal, redirect });

const toMessage = async (input: string | URL | Request, init: RequestInit): Promise<Message> => {
  const url = new URL(typeof input === 'string' || input instanceof URL ? input : input.url);
  const method = (init.method ?? 'GET').toUpperCase();
  const headers: Record<string, string> = { 'accept-encoding': 'gzip, deflate, br', ...lowerCase(init.headers) };
  moveCredentials(url, headers);
  const body = await toBytes(init.body, headers);
  if (body || ['POST', 'PUT', 'PATCH'].includes(method)) headers['content-length'] = String(body?.byteLength ?? 0);
  return { method, url, headers, body };
};

const moveCredentials = (url: URL, headers: Record<string, string>): void => {
  if (url.username === '' && url.password === '') return;
  headers['authorization'] ??= basic(url);
  url.username = '';
  url.password = '';
};
const basic = ({ username, password }: URL): string =>
  `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`;

// By shape, not by class: naming `Headers` would load it before the request leaves.
const lowerCase = (headers: RequestInit['headers']): Record<string, string> => {
  const pairs = headers === undefined ? [] : Symbol.iterator in headers ? [...(headers as Iterable<[string, string]>)] : Object.entries(headers);
  return Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), String(value)]));
};

const toBytes = async (body: RequestInit['body'] | undefined, headers: Record<string, string>): Promise<Uint8Array | undefined> => {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string') {
    headers['content-type'] ??= 'text/plain;charset=UTF-8';
    return Buffer.from(body);
  }
  if (body instanceof Uint8Array) return body;
  const wrapped = new Response(body);
  const type = wrapped.headers.get('content-type');
  if (type !== null) headers['content-type'] ??= type;
  return new Uint8Array(await wrapped.arrayBuffer());
};

// ---- what comes out ----

const toResponse = async (reply: IncomingMessage, { url, method }: Message, wasRedirected: boolean, signal: AbortSignal | undefined): Promise<Response> => {
  const status = reply.statusCode ?? 0;
  const headers = new Headers();
  for (let i = 0; i + 1 < reply.rawHeaders.length; i += 2) headers.append(reply.rawHeaders[i] ?? '', reply.rawHeaders[i + 1] ?? '');
  const hasBody = !NO_BODY.has(status) && method !== 'HEAD';
  if (!hasBody) reply.resume();
  const body = hasBody ? toWebStream(await decoded(reply), signal) : null;
  const response = new Response(body, { status, statusText: reply.statusMessage ?? '', headers });
  Object.defineProperty(response, 'url', { value: url.href });
  Object.defineProperty(response, 'redirected', { value: wasRedirected });
  return response;
};

const decoded = async (reply: IncomingMessage): Promise<Readable> => {
  const encoding = reply.headers['content-encoding']?.trim().toLowerCase();
  if (encoding === undefined || encoding === '' || encoding === 'identity') return reply;
  const zlib = await import('node:zlib');
  // Sync flush: events of a compressed stream come out as they come in.
  const flush = { flush: zlib.constants.Z_SYNC_FLUSH, finishFlush: zlib.constants.Z_SYNC_FLUSH };
  const brotli = { flush: zlib.constants.BROTLI_OPERATION_FLUSH, finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH };
  const decoder =
    encoding === 'gzip' || encoding === 'x-gzip' || encoding === 'deflate'
      ? zlib.createUnzip(flush)
      : encoding === 'br'
        ? zlib.createBrotliDecompress(brotli)
        : undefined;
  if (!decoder) throw new TypeError(`fetch failed: the answer is in the unknown encoding ${encoding}`);
  const { pipeline } = await import('node:stream');
  return pipeline(reply, decoder, () => {});
};

/** Pulls from the node stream, so that a slow reader slows the sender. */
const toWebStream = (source: Readable, signal: AbortSignal | undefined): ReadableStream<Uint8Array> => {
  const chunks: AsyncIterator<Uint8Array> = source[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await chunks.next().catch((error: unknown) => {
          throw signal?.aborted ? signal.reason : failed(error);
        });
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      cancel() {
        source.destroy();
      },
    },
    { highWaterMark: 0 },
  );
};

const failed = (error: unknown): TypeError => {
  const cause = deepest(error);
  const detail = cause instanceof Error ? cause.message || String((cause as NodeJS.ErrnoException).code ?? cause.name) : String(cause);
  return new TypeError(`fetch failed: ${detail}`, { cause });
};

/** Of several addresses tried, the first that failed says most. */
const deepest = (error: unknown): unknown => {
  let at = error;
  for (let depth = 0; depth < 8; depth++) {
    const inner = at instanceof AggregateError ? at.errors[0] : at instanceof Error ? at.cause : undefined;
    if (inner === undefined) return at;
    at = inner;
  }
  return at;
};
