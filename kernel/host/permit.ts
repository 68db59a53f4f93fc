/** Judges the addresses of a connection at the moment in which it is made: a name may lead elsewhere than when somebody last looked. */
import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { untilAborted } from '../abort.ts';
import type { Permit } from '../contracts/powers.ts';
import { bareHost } from './proxy.ts';

/** All addresses of a name; as `lookup` of node:dns. */
export type Lookup = (
  host: string,
  options: LookupOptions & { readonly all: true },
  callback: (error: Error | null, found: readonly LookupAddress[]) => void,
) => void;

export interface Route {
  /** Over a connection that others may have made, and that others may use. */
  readonly isShared: boolean;
  /** In place of the system's. */
  readonly lookup?: LookupFunction;
}
export interface Judging {
  readonly url: URL;
  readonly isProxied: boolean;
  readonly permit: Permit;
  readonly signal: AbortSignal | undefined;
  readonly lookup?: Lookup | undefined;
}

/**
 * How a permitted connection is made. Throws when it is refused already: an address is not looked up, and behind a proxy somebody else
 * connects, so that only what this machine knows of the name can be judged.
 */
export const judgedRoute = async ({ url, isProxied, permit, signal, lookup = systemLookup }: Judging): Promise<Route> => {
  const host = bareHost(url.hostname);
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  const judge = (ips: readonly (string | undefined)[]): void => {
    const reason = ips.map((ip) => permit({ host, port, ip })).find((each) => each !== undefined);
    if (reason !== undefined) throw new TypeError(`fetch failed: ${reason}`, { cause: Object.assign(new Error(reason), { code: 'ADDRESS_REFUSED' }) });
  };
  const find = (options: LookupOptions): Promise<readonly LookupAddress[]> =>
    new Promise((resolve, reject) => lookup(host, { ...options, all: true }, (error, found) => (error ? reject(error) : resolve(found))));

  if (isIP(host) !== 0) {
    judge([host]);
    return { isShared: isProxied };
  }
  if (isProxied) {
    const known = find({}).catch(() => []);
    const found = signal ? await untilAborted(signal, known) : await known;
    judge(found.length > 0 ? found.map(({ address }) => address) : [undefined]);
    return { isShared: true };
  }
  const judged = async (options: LookupOptions): Promise<readonly LookupAddress[]> => {
    const found = await find(options);
    // One that is refused refuses the name: which of them is taken is not known yet.
    judge(found.map(({ address }) => address));
    return found;
  };
  return { isShared: false, lookup: answering(judged) };
};

/** In the form that node:net calls. */
const answering =
  (find: (options: LookupOptions) => Promise<readonly LookupAddress[]>): LookupFunction =>
  (host, options, callback) => {
    find(options).then(
      (found) => {
        const [first] = found;
        if (!first) callback(new Error(`${host} has no address`), '');
        else if (options.all) callback(null, [...found]);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    );
  };
