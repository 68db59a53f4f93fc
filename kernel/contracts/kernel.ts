/** How a program starts a kernel and opens sessions on it. */
import type { Client } from './client.ts';
import type { ConfigLayer } from './config.ts';
import type { Report } from './report.ts';
import type { Store } from './store.ts';
import type { Clock, Ids, Log, Manifest } from '../plugin.ts';

/** A plugin that may be loaded: its manifest, and where its code is. */
export interface PluginRef {
  readonly manifest: Manifest;
  readonly builtin: boolean;
  /** For people: `built in`, `cast.config.ts`, `package lint-it 1.2.0`, `./plugins/mine.ts`. */
  readonly source: string;
  /** Hash of its content. Refs of one source, name and key share one loaded plugin; without a key only the same ref does. */
  readonly key?: string;
  /** A module whose default export is a plugin, or the plugin itself. */
  load(): Promise<unknown>;
}

export interface KernelOptions {
  /** `$CAST_HOME`. */
  readonly home: string;
  readonly version: string;
  /** Every built-in, on or off. */
  readonly builtins: readonly PluginRef[];
  readonly clock?: Clock;
  readonly ids?: Ids;
  readonly log?: Log;
  /** Watches for a blocked event loop and ends the process; for processes that load third-party plugins. */
  readonly watchdog?: boolean;
}

/** What `renew()` reads again. */
export interface Settings {
  /** From the farthest to the nearest. */
  readonly layers: readonly ConfigLayer[];
  /** Third-party plugins that the layers name. */
  readonly plugins: readonly PluginRef[];
}

export interface OpenOptions extends Settings {
  readonly cwd: string;
  /** Root of the project, by which it is trusted. */
  readonly root: string;
  /** Environment of the client, credentials included; children get it without them. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Flags of plugins, by name. */
  readonly flags?: Readonly<Record<string, boolean | string>>;
  /** Whether a person can be asked. */
  readonly interactive: boolean;
  /** Keeps the session in memory only. */
  readonly ephemeral?: boolean;
  /** Default: a new session. */
  readonly session?: SessionWish;
  /** Reads the configuration again, for `renew()`. Default: as given here. */
  readonly reload?: () => Promise<Settings>;
}

/** Which session is gone on with: by its id, or the newest conversation of the project. `fork`: a copy of it, which leaves it as it is. */
export type SessionWish = ({ readonly id: string } | { readonly newest: true }) & { readonly fork?: boolean };

export interface OpenSession {
  readonly id: string;
  readonly resumed: boolean;
  readonly client: Client;
  close(reason: string): Promise<void>;
}

export interface Kernel {
  readonly apiVersion: number;
  open(options: OpenOptions): Promise<OpenSession>;
  /** Builds a generation on a memory store and describes it: no session, no children, no network. */
  inspect(options: OpenOptions): Promise<Report>;
  /** The store of sessions, for commands that only read or remove. `settings` may have switched off the plugin that brings it. */
  store(settings?: Settings): Promise<Store>;
  /** Closes every session, then whatever `setup` made. */
  shutdown(reason: string): Promise<void>;
}
