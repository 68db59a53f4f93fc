import type { Offer, OfferedTool } from '../hooks/subjects.ts';
import { nearest } from '../nearest.ts';
import type { Tool } from '../plugin.ts';
import type { Owned } from '../session/registry.ts';

interface Withheld {
  readonly plugin: string;
  readonly reason: string;
}

/** The tools of one step. Taking away commutes, so the order of taps cannot matter. */
export class ToolOffer implements Offer {
  readonly #all: readonly Owned<Tool>[];
  readonly #withheld = new Map<string, Withheld>();

  constructor(all: readonly Owned<Tool>[]) {
    this.#all = all;
  }
  get tools(): readonly OfferedTool[] {
    return this.#offered().map(({ item, from }) => ({ name: item.name, effect: item.effect, from, card: item.card }));
  }
  keep(wanted: (tool: OfferedTool) => boolean, reason: string): void {
    this.#withhold('kernel', wanted, reason);
  }
  /** The view of one plugin: what it takes away is known to be its doing. */
  as(plugin: string): Offer {
    const tools = this.tools;
    return { tools, keep: (wanted, reason) => this.#withhold(plugin, wanted, reason) };
  }
  find(name: string): Owned<Tool> | undefined {
    return this.#offered().find(({ item }) => item.name === name);
  }
  isWithheld(name: string): boolean {
    return this.#withheld.has(name);
  }
  /** What the model is told when it calls a tool that it cannot have. */
  explain(name: string): string {
    const withheld = this.#withheld.get(name);
    if (withheld) return `${name} is not available: ${withheld.reason} (${withheld.plugin})`;
    const names = this.#offered().map(({ item }) => item.name);
    const alias = this.#offered().find(({ item }) => item.aliases.includes(name))?.item.name;
    const near = alias ?? nearest(name, names);
    return `There is no tool named "${name}".${near === undefined ? '' : ` Did you mean "${near}"?`} The tools are: ${names.join(', ') || 'none'}.`;
  }

  #offered(): readonly Owned<Tool>[] {
    return this.#all.filter(({ item }) => !this.#withheld.has(item.name));
  }
  #withhold(plugin: string, wanted: (tool: OfferedTool) => boolean, reason: string): void {
    for (const tool of this.tools) if (!wanted(tool)) this.#withheld.set(tool.name, { plugin, reason });
  }
}
