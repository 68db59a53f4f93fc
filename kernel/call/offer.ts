import type { Attributed, Draft } from '../hooks/guard.ts';
import type { Offer, OfferedTool } from '../hooks/subjects.ts';
import { nearest } from '../nearest.ts';
import type { Tool } from '../plugin.ts';
import type { Owned } from '../session/registry.ts';

/** Characters of a name that are worth repeating. */
const MAX_NAME = 100;

interface Withheld {
  readonly tool: string;
  readonly plugin: string;
  readonly reason: string;
}

/** The tools of one step. Taking away commutes, so the order of taps cannot matter. */
export class ToolOffer implements Offer, Attributed {
  readonly #all: readonly Owned<Tool>[];
  readonly #withheld = new Map<string, Withheld>();

  constructor(all: readonly Owned<Tool>[]) {
    this.#all = all;
  }
  get tools(): readonly OfferedTool[] {
    return this.#offered().map(({ item, from }) => ({ name: item.name, effect: item.effect, from, card: item.card }));
  }
  keep(wanted: (tool: OfferedTool) => boolean, reason: string): void {
    for (const [name, withheld] of withheldOf('kernel', this.tools, wanted, reason)) this.#withheld.set(name, withheld);
  }
  /** The draft of one plugin: what it takes away is known to be its doing. */
  as(plugin: string): Draft {
    const { tools } = this;
    const taken = new Map<string, Withheld>();
    const keep: Offer['keep'] = (wanted, reason) => {
      for (const [name, withheld] of withheldOf(plugin, tools, wanted, reason)) taken.set(name, withheld);
    };
    const commit = (): readonly unknown[] => {
      for (const [name, withheld] of taken) this.#withheld.set(name, withheld);
      return [...taken.values()].map(({ tool, reason }) => ['withhold', tool, reason]);
    };
    return { view: { tools, keep } satisfies Offer, commit };
  }
  /** A name that differs only in case or in spaces around it is meant for the tool; no synonym takes the place of a name. */
  find(name: string): Owned<Tool> | undefined {
    const offered = this.#offered();
    const plain = plainName(name);
    const exact = offered.find(({ item }) => item.name === name) ?? offered.find(({ item }) => plainName(item.name) === plain);
    // A tool of that very name which is withheld is not replaced by another one.
    if (exact || this.isWithheld(name)) return exact;
    return offered.find(({ item }) => item.synonyms.includes(plain));
  }
  isWithheld(name: string): boolean {
    return this.#withheldAs(name) !== undefined;
  }
  /** What the model is told when it calls a tool that it cannot have. */
  explain(name: string): string {
    const withheld = this.#withheldAs(name);
    if (withheld) return `${withheld.tool} is not available: ${withheld.reason} (${withheld.plugin})`;
    const names = this.#offered().map(({ item }) => item.name);
    const alias = this.#offered().find(({ item }) => item.aliases.includes(name))?.item.name;
    const near = alias ?? nearest(name, names);
    return `There is no tool named "${name.slice(0, MAX_NAME)}".${near === undefined ? '' : ` Did you mean "${near}"?`} The tools are: ${names.join(', ') || 'none'}.`;
  }

  #withheldAs(name: string): Withheld | undefined {
    const plain = plainName(name);
    return this.#withheld.get(name) ?? [...this.#withheld.values()].find(({ tool }) => plainName(tool) === plain);
  }
  #offered(): readonly Owned<Tool>[] {
    return this.#all.filter(({ item }) => !this.#withheld.has(item.name));
  }
}

const plainName = (name: string): string => name.trim().toLowerCase();

const withheldOf = (
  plugin: string,
  tools: readonly OfferedTool[],
  wanted: (tool: OfferedTool) => boolean,
  reason: string,
): readonly (readonly [string, Withheld])[] => tools.flatMap((tool) => (wanted(tool) ? [] : [[tool.name, { tool: tool.name, plugin, reason }] as const]));
