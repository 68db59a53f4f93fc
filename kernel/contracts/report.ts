/** What `inspect()` and `cast plugins list` show: every plugin with its state and reason, every tap in the order in which it runs. */
import type { HookName, Stage, HookClass, FaultPolicy } from '../hooks/catalogue.ts';

/** `waiting`: on, and no trigger has come yet. */
export type PluginState = 'active' | 'waiting' | 'off' | 'refused' | 'quarantined';

export interface PluginReport {
  readonly name: string;
  readonly version: string;
  readonly summary: string;
  readonly state: PluginState;
  /** Why: the layer and file that turned it off, what is missing, which trigger it waits for. */
  readonly why: string;
  readonly source: string;
  readonly capabilities: readonly string[];
  readonly locked: boolean;
  /** Milliseconds that loading and applying took; 0 when it was not loaded. */
  readonly startMs: number;
  readonly brings: {
    readonly tools: readonly string[];
    readonly commands: readonly string[];
    readonly sections: readonly string[];
    readonly providers: readonly string[];
    readonly services: readonly string[];
  };
}
export interface TapReport {
  /** From 1, in the order in which the taps of a hook run. */
  readonly place: number;
  readonly plugin: string;
  readonly label: string;
  readonly stage: Stage;
  /** Tools that it is limited to; null for all. */
  readonly when: readonly string[] | null;
  /** File and line where it was registered. */
  readonly source: string;
  readonly calls: number;
  readonly ms: number;
  readonly slowestMs: number;
  readonly faults: number;
  /** How often it changed the subject or voted. */
  readonly changed: number;
  readonly state: 'open' | 'quarantined' | 'off';
}
export interface HookReport {
  readonly name: HookName;
  readonly class: HookClass;
  readonly policy: FaultPolicy;
  readonly taps: readonly TapReport[];
}
export interface Report {
  readonly apiVersion: number;
  /** The session it describes; null for one that was built only to be looked at. */
  readonly session: string | null;
  /** Where calls, times and faults come from when the session itself has none: the newest session of the project. */
  readonly counts?: { readonly session: string; readonly at: number };
  readonly plugins: readonly PluginReport[];
  /** What the configuration asked for and did not get. */
  readonly warnings: readonly string[];
  readonly hooks: readonly HookReport[];
}
