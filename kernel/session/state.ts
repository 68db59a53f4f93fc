/** State of plugins, folded from their own entries on the current branch. */
import type { Entry, NewEntry } from '../data.ts';
import { CastError } from '../errors.ts';
import { asPlugin } from '../hooks/as-plugin.ts';
import type { Scope } from '../plugin.ts';
import { describeIssue, validate, type Schema } from '../schema.ts';

interface Slice {
  readonly plugin: string;
  readonly name: string;
  readonly schema: Schema;
  readonly initial: unknown;
  value: unknown;
  fold(state: unknown, data: unknown): unknown;
}

export class StateSlices {
  readonly #slices = new Map<string, Slice>();
  readonly #append: (batch: readonly NewEntry[]) => Promise<unknown>;
  readonly #onBadEntry: (plugin: string, slice: string, why: string) => void;

  constructor(append: (batch: readonly NewEntry[]) => Promise<unknown>, onBadEntry: (plugin: string, slice: string, why: string) => void) {
    this.#append = append;
    this.#onBadEntry = onBadEntry;
  }

  /** The port of one plugin. */
  for(plugin: string): Scope<unknown, never>['state'] {
    return ((spec: { name: string; data: Schema; initial: unknown; fold(state: unknown, data: unknown): unknown }) => {
      const key = keyOf(plugin, spec.name);
      if (this.#slices.has(key)) throw new CastError('REGISTRY_CONFLICT', `plugin ${plugin} declares the state ${spec.name} twice`, { plugin });
      const slice: Slice = { plugin, name: spec.name, schema: spec.data, initial: spec.initial, value: spec.initial, fold: spec.fold };
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
    }) as Scope<unknown, never>['state'];
  }

  /** From nothing: after a resume, a rewind, or a new generation. */
  async refold(entries: readonly Entry[]): Promise<void> {
    for (const slice of this.#slices.values()) slice.value = slice.initial;
    await this.forward(entries);
  }

  /** Entries that were just appended. An entry that its schema refuses is passed over and reported. */
  async forward(entries: readonly Entry[]): Promise<void> {
    for (const entry of entries) {
      if (entry.kind !== 'plugin') continue;
      const slice = this.#slices.get(keyOf(entry.data.plugin, entry.data.slice));
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

  /** Of a plugin that could not be applied as a whole. */
  removeAllOf(plugin: string): void {
    for (const [key, slice] of this.#slices) if (slice.plugin === plugin) this.#slices.delete(key);
  }
}
const keyOf = (plugin: string, slice: string): string => `${plugin}/${slice}`;
