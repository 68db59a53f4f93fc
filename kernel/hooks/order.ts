import { CastError } from '../errors.ts';
import type { Manifest } from '../plugin.ts';
import { STAGES, type Stage } from './catalogue.ts';

/** Room for the plugins of one stage. */
const STAGE_SPAN = 10_000;

/**
 * Places of all known plugins, on or off: what they require or come after first, then by name. It depends on the set of
 * manifests alone, so a plugin that is activated late lands where it would have landed at the start.
 */
export const rankPlugins = (manifests: readonly Manifest[]): ReadonlyMap<string, number> => {
  const byName = new Map(manifests.map((manifest) => [manifest.name, manifest]));
  const ranks = new Map<string, number>();
  const visiting = new Set<string>();
  const visit = (name: string, path: readonly string[]): void => {
    const manifest = byName.get(name);
    if (!manifest || ranks.has(name)) return;
    if (visiting.has(name))
      throw new CastError('PLUGIN_INVALID', `plugins come after each other in a circle: ${[...path, name].join(' → ')}`, {
        plugin: name,
        fix: 'Take one of the `requires` or `after` out.',
      });
    visiting.add(name);
    for (const earlier of [...(manifest.requires ?? []), ...(manifest.after ?? [])].sort()) visit(earlier, [...path, name]);
    visiting.delete(name);
    ranks.set(name, ranks.size);
  };
  for (const name of [...byName.keys()].sort()) visit(name, []);
  return ranks;
};

/** Position of a tap among all taps of its hook. */
export const position = (stage: Stage, rank: number): number => STAGES.indexOf(stage) * STAGE_SPAN + rank;
