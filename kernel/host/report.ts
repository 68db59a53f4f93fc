import { fileURLToPath } from 'node:url';
import type { HookReport, Report, TapReport } from '../contracts/report.ts';
import { HOOKS, type HookName } from '../hooks/catalogue.ts';
import type { TapRecord } from '../hooks/guard.ts';
import { API_VERSION } from '../plugin.ts';
import type { Generation } from '../session/generation.ts';

export const reportOn = (generation: Generation, session: string | null): Report => ({
  apiVersion: API_VERSION,
  session,
  plugins: [...generation.plugins.values()],
  warnings: generation.warnings,
  hooks: (Object.keys(HOOKS) as HookName[]).map(
    (name): HookReport => ({
      name,
      class: HOOKS[name].class,
      policy: HOOKS[name].policy,
      taps: generation.hooks.inOrder(name).map((tap, index) => tapReport(tap, index + 1)),
    }),
  ),
});

const tapReport = (tap: TapRecord, place: number): TapReport => ({
  place,
  plugin: tap.plugin,
  label: tap.label,
  stage: tap.stage,
  when: tap.when,
  source: siteOf(tap.site),
  calls: tap.calls,
  ms: round(tap.ms),
  slowestMs: round(tap.slowestMs),
  faults: tap.faults,
  changed: tap.changed,
  state: tap.state,
});
const round = (ms: number): number => Math.round(ms * 1000) / 1000;

/** The first line of the stack that is not the port's own: where the plugin called `tap`. */
const siteOf = (site: Error): string => {
  const frames = (site.stack ?? '').split('\n').slice(1);
  // register ← the port's tap ← the plugin
  const frame = frames[2] ?? frames.at(-1) ?? '';
  const place = /\(?((?:file:\/\/|\/|[A-Za-z]:\\)[^()]+:\d+:\d+)\)?$/.exec(frame.trim())?.[1];
  if (place === undefined) return 'unknown';
  return place.startsWith('file://') ? fileURLToPath(place.replace(/(:\d+:\d+)$/, '')) + (/(:\d+:\d+)$/.exec(place)?.[1] ?? '') : place;
};
