/** What a capability gives. Disclosure and accident prevention, not a sandbox. */
import type { Purpose, Usage } from '../data.ts';
import type { CastEvent, EndReason } from '../events.ts';
import type { BoundaryPower } from './boundary.ts';
import type { Origin } from './config.ts';
import type { Store } from './store.ts';

export interface ProcessOptions {
  readonly cwd: string;
  readonly purpose: string;
  readonly signal: AbortSignal;
  /** Milliseconds; the whole group is killed then. */
  readonly timeoutMs?: number;
  /** Added to the environment of the session, which has no credentials. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: at its end. */
  readonly stdin?: string;
}
export interface ProcessResult {
  /** Null when it was killed by a signal or could not be started. */
  readonly code: number | null;
  readonly signal: string | null;
  readonly out: string;
  readonly err: string;
  /** Output was left out: `maxBytes` a stream. */
  readonly cut: boolean;
  readonly timedOut: boolean;
}
export interface Child {
  readonly pid: number;
  /** Raw output as it comes; ends when the process is gone, even if a grandchild holds the pipe. Reading slowly slows the child. */
  readonly output: AsyncIterable<{ readonly from: 'out' | 'err'; readonly bytes: Uint8Array }>;
  readonly exit: Promise<{ readonly code: number | null; readonly signal: string | null; readonly timedOut: boolean }>;
  /** SIGTERM to the whole group, then SIGKILL. Resolves when the group is gone or has had its grace. */
  kill(): Promise<void>;
  /** Whether a process of the group is still there. */
  alive(): boolean;
}

/** Where a connection is about to go. */
export interface Address {
  /** As it stands in the URL, an IPv6 address without its brackets. */
  readonly host: string;
  readonly port: number;
  /** Absent where only a proxy knows it. */
  readonly ip: string | undefined;
}
/** The reason when there must be no connection. */
export type Permit = (address: Address) => string | undefined;
export interface FetchInit extends RequestInit {
  /**
   * Asked about each address that a host has, at the moment of connecting, and anew for each redirect; one that is refused fails the
   * request. Connections made with it are not kept. Where a proxy connects, what this machine knows of the name is asked about.
   */
  readonly permit?: Permit;
}

/** Work for a child session. */
export interface ChildOrder {
  /** All that it is told. */
  readonly prompt: string;
  /** A word for people: in questions it asks, in its title. */
  readonly label: string;
  /** For plugins in the child, as `session.origin.data`: by it they give it a role, tools, words of its own. */
  readonly data?: unknown;
  /** `model` or `provider/model`. Default: `models.subagent`, else the model of this session. */
  readonly model?: string;
  /** Model calls, at most; never more than this session may make in a turn. */
  readonly maxSteps?: number;
  /** Told each event of the child as it comes. */
  watch?(event: CastEvent): void;
}
export interface ChildEnd {
  /** Its id; all of it is stored. */
  readonly session: string;
  /** Only `stop` is an end of its own accord. */
  readonly reason: EndReason;
  /** The last that it said; of a reply that broke off, what had come. Empty when it said nothing. */
  readonly text: string;
  /** Absent where it was aborted, and where it ended of its own accord and said something. */
  readonly error?: { readonly code: string; readonly message: string; readonly suggestedFix?: string };
  /** Of all its requests, those of its own children included. */
  readonly usage: Usage;
}

export interface Powers {
  /** Reading and writing files through node:fs. Declares, and makes paths canonical. */
  fs: {
    /** Absolute, links resolved; of a path that does not exist, its deepest existing parent is resolved. */
    canonical(path: string, cwd: string): Promise<string>;
  };
  process: {
    /** Runs to the end and keeps the output, both streams apart. A missing program is a result with `code: null` and the reason in `err`. */
    run(argv: readonly string[], options: ProcessOptions & { readonly maxBytes?: number }): Promise<ProcessResult>;
    /** `merge`: both streams through one pipe, in order of arrival, all as `out`. Throws CastError when it cannot be started. */
    spawn(argv: readonly string[], options: ProcessOptions & { readonly merge?: boolean }): Promise<Child>;
  };
  /** `fetch` through the proxies of the session's environment. */
  net: { fetch(input: string | URL | Request, init?: FetchInit): Promise<Response> };
  model: {
    /** One request without tools, through the active provider. Throws when there is no whole reply; `calls`: it tried to call a tool all the same. */
    ask(
      request: { readonly purpose: Purpose; readonly system?: string; readonly prompt: string; readonly model?: string; readonly maxOutputTokens?: number },
      signal: AbortSignal,
    ): Promise<{ readonly text: string; readonly end: 'stop' | 'calls' | 'length'; readonly usage: Usage }>;
  };
  secrets: {
    /** From the session's environment (`CAST_API_KEY`), else from `$CAST_HOME/secrets.json` (0600). */
    get(name: string): Promise<string | undefined>;
    /** Saves it there, for all sessions; undefined removes it. Never shown from then on, wherever it turns up. */
    set(name: string, value: string | undefined): Promise<void>;
  };
  /** What is stored of other sessions, to be read. */
  sessions: Pick<Store, 'get' | 'list'>;
  /** Sessions that work for this one, each with a history, hooks and tools of its own. */
  children: {
    /**
     * Opens one, gives it its prompt, and closes it when it has nothing left to do. Whatever goes wrong in it is told by how it ended. It has
     * the configuration, trust and environment of this session; its questions are asked here, and its usage counts here. Ten run at a
     * time, further ones wait. Throws CHILD_TOO_DEEP, the signal's reason when it aborts before a start, and what keeps a session from opening.
     */
    run(order: ChildOrder, signal: AbortSignal): Promise<ChildEnd>;
  };
  /** Stands between the session and the world, in the place of providers, tools and people. */
  boundary: BoundaryPower;
  settings: {
    /**
     * Writes keys (`permissions.mode`) into `$CAST_HOME/settings.json`, or `project`, `<root>/.cast/settings.local.json`. An object is merged
     * key by key, with its keys as they are; undefined removes. In force from the next generation: `renew()`. Throws CONFIG_INVALID, with
     * nothing written, when the file is damaged, a value has the wrong type, or a nearer file sets one of the keys.
     */
    set(changes: Readonly<Record<string, unknown>>, where?: 'user' | 'project'): Promise<SavedSettings>;
  };
}
export interface SavedSettings {
  readonly file: string;
  /** What was written, as dotted keys. */
  readonly keys: readonly string[];
  /** Keys that environment, flags or session set as well: written, and not in force while those do. */
  readonly shadowed: readonly { readonly key: string; readonly origin: Origin }[];
}
