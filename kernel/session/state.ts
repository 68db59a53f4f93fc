/** State of plugins, folded from their own entries on the current branch. */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Entry, Folded, NewEntry } from '../data.ts';
import { CastError } from '../errors.ts';
import { asPlugin } from '../hooks/as-plugin.ts';
import { LIMITS } from '../limits.ts';
import type { Scope } from '../plugin.ts';
import { describeIssue, validate, type Schema } from '../schema.ts';
import { foldedIn, slicesIn } from './branch.ts';
import type { History } from './history.ts';

type StatePort = ReturnType<Scope<unknown, never>['state']>;
interface StateSpec {
  readonly name: string;
  readonly data: Schema;
  readonly initial: unknown;
  readonly ofRoot?: boolean;
  fold(state: unknown, data: unknown): unknown;
}
interface Slice {
  readonly plugin: string;
  readonly name: string;
  /** Of the plugin and its fold: what another one made is no state of this one. */
  readonly version: string;
  readonly schema: Schema;
  readonly initial: unknown;
  value: unknown;
  fold(state: unknown, data: unknown): unknown;
}

type States = Pick<Folded, 'states' | 'unfolded'>;

export class StateSlices {
  readonly #slices = new Map<string, Slice>();
  /** All slices of which the branch has entries, also of plugins that are not here. */
  #recorded = new Set<string>();
  readonly #append: (batch: readonly NewEntry[]) => Promise<unknown>;
  readonly #onBadEntry: (plugin: string, slice: string, why: string) => void;
  /** Of states that are the root's. */
  readonly #ports = new Map<string, StatePort>();
  /** Those of the session that opened this one. */
  readonly #above: (() => StateSlices) | undefined;

  constructor(
    append: (batch: readonly NewEntry[]) => Promise<unknown>,
    onBadEntry: (plugin: string, slice: string, why: string) => void,
    above?: () => StateSlices,
  ) {
    this.#append = append;
    this.#onBadEntry = onBadEntry;
    this.#above = above;
  }

  /** The port of one plugin. */
  for({ name: plugin, version }: { readonly name: string; readonly version: string }): Scope<unknown, never>['state'] {
    return ((spec: StateSpec) => {
      const key = keyOf(plugin, spec.name);
      if (this.#slices.has(key)) throw new CastError('REGISTRY_CONFLICT', `plugin ${plugin} declares the state ${spec.name} twice`, { plugin });
      const own = this.#own(plugin, version, spec);
      if (!spec.ofRoot) return own;
      // Where the parent does not have the plugin, nobody else keeps it.
      const now = (): StatePort => (this.#above ? this.#above().#ports.get(key) : undefined) ?? own;
      const port: StatePort = {
        get value() {
          return now().value;
        },
        record: (data) => now().record(data),
      };
      this.#ports.set(key, port);
      return port;
    }) as Scope<unknown, never>['state'];
  }
  #own(plugin: string, version: string, spec: StateSpec): StatePort {
    const key = keyOf(plugin, spec.name);
    const slice: Slice = {
      plugin,
      name: spec.name,
      version: versionOf(version, spec.fold),
      schema: spec.data,
      initial: spec.initial,
      value: spec.initial,
      fold: spec.fold,
    };
    this.#slices.set(key, slice);
    return {
      get value() {
        return slice.value;
      },
      record: async (data: unknown) => {
        const outcome = await validate(slice.schema, data);
        if (outcome.issues)
          throw new CastError(
            'PLUGIN_INVALID',
            `plugin ${plugin} records something that its state ${spec.name} does not know: ${outcome.issues.map(describeIssue).join('; ')}`,
            { plugin },
          );
        await this.#append([{ kind: 'plugin', data: { plugin, slice: spec.name, data } }]);
      },
    };
  }

  /** After a resume, a rewind, or a new generation: from the newest snapshot on, and what that one does not hold from the first entry. */
  async refold(history: History): Promise<void> {
    const { folded, since } = foldedIn(history.entries);
    this.#recorded = new Set(folded ? slicesIn(folded) : []);
    const behind = this.#restore(folded?.states ?? {});
    if (behind.size > 0) await this.#forward(await history.records(), (key) => behind.has(key));
    await this.#forward(since, (key) => !behind.has(key));
  }

  /** Answers the slices that are recorded and not among these states, or were made by another fold. */
  #restore(states: Folded['states']): ReadonlySet<string> {
    const behind = new Set<string>();
    for (const [key, slice] of this.#slices) {
      const kept = states[key]?.version === slice.version ? states[key] : undefined;
      slice.value = kept ? kept.value : slice.initial;
      if (!kept && this.#recorded.has(key)) behind.add(key);
    }
    return behind;
  }

  /** Entries that were just appended. An entry that its schema refuses is passed over and reported. */
  forward(entries: readonly Entry[]): Promise<void> {
    return this.#forward(entries, () => true);
  }
  async #forward(entries: readonly Entry[], isWanted: (key: string) => boolean): Promise<void> {
    for (const entry of entries) {
      if (entry.kind !== 'plugin') continue;
      const key = keyOf(entry.data.plugin, entry.data.slice);
      this.#recorded.add(key);
      const slice = isWanted(key) ? this.#slices.get(key) : undefined;
      if (!slice) continue;
      const outcome = await validate(slice.schema, entry.data.data);
      if (outcome.issues) this.#onBadEntry(slice.plugin, slice.name, outcome.issues.map(describeIssue).join('; '));
      else this.#fold(slice, outcome.value);
    }
  }

  /** A fold that throws leaves the state as it was: the entry is there, and the session must open. */
  #fold(slice: Slice, data: unknown): void {
    const keep = (message: string): unknown => {
      this.#onBadEntry(slice.plugin, slice.name, `its fold failed: ${message}`);
      return slice.value;
    };
    slice.value = asPlugin({ plugin: slice.plugin, where: 'state', label: slice.name }, () => slice.fold(slice.value, data), keep);
  }

  /** What a later process needs to go on from here. */
  snapshot(): States {
    const states: Record<string, Folded['states'][string]> = {};
    for (const key of this.#recorded) {
      const slice = this.#slices.get(key);
      if (slice && isKeepable(slice.value)) states[key] = { version: slice.version, value: slice.value };
    }
    return { states, unfolded: [...this.#recorded].filter((key) => states[key] === undefined) };
  }

  /** Of a plugin that could not be applied as a whole. */
  removeAllOf(plugin: string): void {
    for (const [key, slice] of this.#slices)
      if (slice.plugin === plugin) {
        this.#slices.delete(key);
        this.#ports.delete(key);
      }
  }
}
const keyOf = (plugin: string, slice: string): string => `${plugin}/${slice}`;

const versionOf = (plugin: string, fold: Slice['fold']): string => `${plugin}-${createHash('sha256').update(String(fold)).digest('hex').slice(0, 12)}`;

/** Small, and the same once it was written as JSON and read again: a fold may keep sets, dates or functions. */
const isKeepable = (value: unknown): boolean => {
  try {
    const json = JSON.stringify(value);
    return json !== undefined && json.length <= LIMITS.snapshotStateChars && isDeepStrictEqual(JSON.parse(json), value);
  } catch {
    return false;
  }
};
