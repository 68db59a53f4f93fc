/** Which plugins run in a generation, which wait for a trigger, which are off or refused, and why. */
import type { ConfigView } from '../contracts/config.ts';
import type { PluginRef } from '../contracts/kernel.ts';
import type { PluginState } from '../contracts/report.ts';
import { rankPlugins } from '../hooks/order.ts';
import type { Manifest, Trigger } from '../plugin.ts';
import { describeOrigin } from './config.ts';

export interface Occasion {
  readonly config: ConfigView;
  readonly flags: Readonly<Record<string, boolean | string>>;
  /** Plugins of which the branch has entries. */
  readonly recorders: ReadonlySet<string>;
  /** Commands that have been asked for. */
  readonly commands: ReadonlySet<string>;
  /** Services that are provided. */
  readonly services: ReadonlySet<string>;
  /** In a child session: what runs in its parent. */
  readonly above: ReadonlySet<string> | undefined;
}

export interface Verdict {
  readonly ref: PluginRef;
  readonly rank: number;
  readonly state: Exclude<PluginState, 'quarantined'>;
  readonly why: string;
}

/** In the order in which plugins are applied. */
export const decide = (refs: readonly PluginRef[], occasion: Occasion): readonly Verdict[] => {
  const ranks = rankPlugins(refs.map((ref) => ref.manifest));
  const ordered = [...refs].sort((a, b) => rankOf(ranks, a) - rankOf(ranks, b));
  const isOff = new Map<string, string>();
  for (const { manifest } of ordered) {
    const why = occasion.above && manifest.inChildren === 'skip' ? 'not in child sessions' : offBecause(manifest, occasion.config);
    if (why !== undefined) isOff.set(manifest.name, why);
  }
  // A plugin that is refused takes those with it that need it, so this is repeated until nothing changes.
  const isRefused = new Map<string, string>();
  for (let before = -1; before !== isRefused.size; ) {
    before = isRefused.size;
    const isOn = (name: string): boolean => ordered.some((ref) => ref.manifest.name === name) && !isOff.has(name) && !isRefused.has(name);
    for (const { manifest } of ordered) {
      const missing = isOff.has(manifest.name) ? undefined : missingOf(manifest, ordered, isOn);
      if (missing !== undefined && !isRefused.has(manifest.name)) isRefused.set(manifest.name, missing);
    }
  }
  return ordered.map((ref) => {
    const { name } = ref.manifest;
    const rank = rankOf(ranks, ref);
    const off = isOff.get(name);
    if (off !== undefined) return { ref, rank, state: 'off', why: off };
    const refused = isRefused.get(name);
    if (refused !== undefined) return { ref, rank, state: 'refused', why: refused };
    if (occasion.above?.has(name)) return { ref, rank, state: 'active', why: 'as in its parent' };
    const trigger = ref.manifest.activation.find((each) => hasCome(each, name, occasion));
    if (trigger !== undefined)
      return { ref, rank, state: 'active', why: trigger === 'session' || trigger === 'start' ? 'in every session' : `because of ${trigger}` };
    return { ref, rank, state: 'waiting', why: `waits for ${ref.manifest.activation.join(', ') || 'nothing'}` };
  });
};

const rankOf = (ranks: ReadonlyMap<string, number>, ref: PluginRef): number => ranks.get(ref.manifest.name) ?? ranks.size;

const offBecause = ({ name }: Manifest, config: ConfigView): string | undefined => {
  if (config.value.plugins?.[name] !== false) return undefined;
  const origin = config.origin(`plugins.${name}`);
  return `switched off by ${origin ? describeOrigin(origin) : 'the configuration'}`;
};

const missingOf = (manifest: Manifest, refs: readonly PluginRef[], isOn: (name: string) => boolean): string | undefined => {
  const plugin = manifest.requires?.find((name) => !isOn(name));
  if (plugin !== undefined) return `it requires the plugin ${plugin}, which is ${refs.some((ref) => ref.manifest.name === plugin) ? 'off' : 'not installed'}`;
  const service = manifest.uses?.find(
    (name) => !name.endsWith('?') && !refs.some((ref) => isOn(ref.manifest.name) && ref.manifest.provides?.includes(name as never)),
  );
  return service === undefined ? undefined : `it uses the service ${service}, which no plugin that is on provides`;
};

const hasCome = (trigger: Trigger, plugin: string, { config, flags, recorders, commands, services }: Occasion): boolean => {
  if (trigger === 'start' || trigger === 'session') return true;
  const [kind, ...rest] = trigger.split(':');
  const what = rest.join(':');
  if (kind === 'command') return commands.has(what);
  if (kind === 'flag') return flags[what] !== undefined && flags[what] !== false;
  if (kind === 'config') return config.origin(what) !== undefined || config.entries().some(({ key }) => key.startsWith(`${what}.`));
  if (kind === 'service') return services.has(what);
  return recorders.has(what === '' ? plugin : what);
};
