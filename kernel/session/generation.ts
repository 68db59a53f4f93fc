/** One session's hooks and registries, built from the configuration as it is now. Swapped as a whole, between turns. */
import type { Boundary } from '../contracts/boundary.ts';
import type { ConfigView } from '../contracts/config.ts';
import type { PluginReport } from '../contracts/report.ts';
import type { Services } from '../contracts/services.ts';
import type { Provider, ToolCard } from '../data.ts';
import { CastError } from '../errors.ts';
import { HookSet } from '../hooks/hook-set.ts';
import type { FaultObserver } from '../hooks/guard.ts';
import type { Command, Dispose, Panel, Section, ServicePort, Tool } from '../plugin.ts';
import { dispose } from './dispose.ts';
import { NamedItems } from './registry.ts';
import type { StateSlices } from './state.ts';

export interface Prefix {
  readonly system: string;
  readonly tools: readonly ToolCard[];
}

export class Generation {
  readonly hooks: HookSet;
  readonly config: ConfigView;
  readonly slices: StateSlices;
  readonly tools = new NamedItems<Tool>('tool');
  readonly commands = new NamedItems<Command>('command');
  readonly sections = new NamedItems<Section>('section');
  readonly panels = new NamedItems<Panel>('panel');
  readonly providers = new NamedItems<Provider>('provider');
  readonly plugins = new Map<string, PluginReport>();
  /** What the configuration asked for and did not get. */
  readonly warnings: string[] = [];
  /** Fixed at the first request, so that the provider's cache holds. Null until then. */
  prefix: Prefix | null = null;
  #boundary: { readonly from: string; readonly boundary: Boundary } | undefined;
  readonly #services = new Map<string, { readonly service: unknown; readonly from: string }>();
  readonly #disposals: { readonly from: string; readonly run: Dispose }[] = [];

  constructor(config: ConfigView, slices: StateSlices, observer: FaultObserver) {
    this.config = config;
    this.slices = slices;
    this.hooks = new HookSet(observer);
  }

  /** Undefined unless a plugin stands there. */
  get boundary(): Boundary | undefined {
    return this.#boundary?.boundary;
  }
  stand(from: string, boundary: Boundary): void {
    if (this.#boundary)
      throw new CastError('REGISTRY_CONFLICT', `plugin ${from} stands at the boundary of the session, where ${this.#boundary.from} stands already`, {
        plugin: from,
        fix: `Switch one of the two off with --plugin ${from}=off.`,
      });
    this.#boundary = { from, boundary };
  }

  onDispose(from: string, run: Dispose): void {
    this.#disposals.push({ from, run });
  }
  /** In reverse order of registration. */
  async dispose(onFault: (plugin: string, error: unknown) => void): Promise<void> {
    for (const disposal of this.#disposals.splice(0).reverse()) await dispose(disposal, onFault);
  }

  provided(): readonly string[] {
    return [...this.#services.keys()];
  }
  services(plugin: string): ServicePort {
    const find = <K extends keyof Services>(name: K): Services[K] | undefined => this.#services.get(name)?.service as Services[K] | undefined;
    return {
      find,
      get: (name) => {
        const service = find(name);
        if (service === undefined)
          throw new CastError('SERVICE_MISSING', `plugin ${plugin} needs the service ${name}, which no active plugin provides`, {
            plugin,
            fix: `Switch on a plugin that provides ${name}; see cast plugins list.`,
          });
        return service;
      },
      provide: (name, service) => {
        const there = this.#services.get(name);
        if (there)
          throw new CastError('REGISTRY_CONFLICT', `plugin ${plugin} provides the service ${name}, which ${there.from} provides already`, {
            plugin,
            fix: `Switch one of them off with --plugin ${plugin}=off.`,
          });
        this.#services.set(name, { service, from: plugin });
      },
    };
  }

  /** What a plugin brought so far, for its report. */
  broughtBy(plugin: string): PluginReport['brings'] {
    const names = (items: NamedItems<{ readonly name: string }>): readonly string[] =>
      items.all().flatMap(({ item, from }) => (from === plugin ? [item.name] : []));
    return {
      tools: names(this.tools),
      commands: names(this.commands),
      sections: names(this.sections),
      providers: names(this.providers),
      services: [...this.#services].flatMap(([name, { from }]) => (from === plugin ? [name] : [])),
    };
  }

  /** Undoes a half-done `apply`. */
  async withdraw(plugin: string, onFault: (plugin: string, error: unknown) => void): Promise<void> {
    for (const items of [this.tools, this.commands, this.sections, this.panels, this.providers]) items.removeAllOf(plugin);
    for (const [name, { from }] of this.#services) if (from === plugin) this.#services.delete(name);
    if (this.#boundary?.from === plugin) this.#boundary = undefined;
    this.hooks.removeAllOf(plugin);
    this.slices.removeAllOf(plugin);
    const own = this.#disposals.filter(({ from }) => from === plugin);
    for (const disposal of own) this.#disposals.splice(this.#disposals.indexOf(disposal), 1);
    for (const disposal of own.reverse()) await dispose(disposal, onFault);
  }
}
