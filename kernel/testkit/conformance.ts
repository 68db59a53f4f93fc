/** What every plugin must withstand, as named checks for any test runner. */
import { createHook } from 'node:async_hooks';
import { manifestOf } from '../host/manifest.ts';
import type { HookName } from '../hooks/catalogue.ts';
import { running } from '../hooks/running.ts';
import { definePlugin, type Plugin, type TapPort } from '../plugin.ts';
import { say, type Beat } from './script.ts';
import { createTestSession, type TestSessionOptions } from './session.ts';

export interface ConformanceOptions {
  /** Name of the plugin when it has none of its own. */
  readonly name?: string;
  /** Plugins that it needs. */
  readonly neighbours?: readonly Plugin[];
  readonly session?: Omit<TestSessionOptions, 'plugins' | 'script'>;
  /** A reply that makes its taps and tools work. Default: one sentence. */
  readonly script?: readonly Beat[];
}
export interface ConformanceCheck {
  readonly name: string;
  run(): Promise<void>;
}

const ok = (condition: boolean, message: string): void => {
  if (!condition) throw new Error(message);
};

export const conformance = (plugin: Plugin, options: ConformanceOptions = {}): readonly ConformanceCheck[] => {
  const manifest = manifestOf(options.name ?? plugin.spec.name ?? 'plugin', plugin.spec);
  const { name } = manifest;
  const neighbours = options.neighbours ?? [];
  const script = options.script ?? [say('done')];
  const open = ({ probe, ...more }: TestSessionOptions & { readonly probe?: Plugin } = {}) =>
    createTestSession({
      ...options.session,
      script: [...script, say('again'), say('again')],
      ...more,
      plugins: more.plugins ?? {
        ...Object.fromEntries(neighbours.map((each) => [each.spec.name, each])),
        [name]: plugin,
        ...(probe ? { 'abort-probe': probe } : {}),
      },
    });

  const loads: ConformanceCheck = {
    name: 'loads, and a turn runs with it',
    run: async () => {
      await using session = await open();
      const report = (await session.report()).plugins.find((each) => each.name === name);
      ok(report?.state === 'active' || report?.state === 'waiting', `${name} is ${report?.state}: ${report?.why}`);
      const end = await session.run('go');
      ok(end.reason === 'stop', `the turn ended with ${end.reason}`);
      ok(session.events('tap.fault').length === 0, `it failed: ${JSON.stringify(session.events('tap.fault'))}`);
    },
  };
  const honest: ConformanceCheck = {
    name: 'taps what its manifest says, and nothing else',
    run: async () => {
      await using session = await open();
      const used = (await session.report()).hooks.flatMap((hook) => (hook.taps.some((tap) => tap.plugin === name) ? [hook.name] : []));
      if (manifest.taps === null || manifest.activation.every((trigger) => trigger !== 'session' && trigger !== 'start')) return;
      ok(
        [...manifest.taps].sort().join() === [...used].sort().join(),
        `its manifest names ${manifest.taps.join(', ') || 'no hooks'}, it taps ${used.join(', ') || 'none'}`,
      );
    },
  };
  const off: ConformanceCheck = {
    name: 'switched off it leaves nothing behind',
    run: async () => {
      await using session = await open({
        allowRefused: true,
        config: { ...options.session?.config, plugins: { ...options.session?.config?.plugins, [name]: false } },
      });
      const report = await session.report();
      ok(report.plugins.find((each) => each.name === name)?.state === 'off', 'it is not off');
      ok(!report.hooks.some((hook) => hook.taps.some((tap) => tap.plugin === name)), 'it still taps');
      const end = await session.run('go');
      ok(end.reason === 'stop' || end.reason === 'error', `the turn ended with ${end.reason}`);
    },
  };
  const alone: ConformanceCheck = {
    name: 'without its neighbours it is refused with a reason, or does without',
    run: async () => {
      await using session = await open({ plugins: { [name]: plugin }, allowRefused: true });
      const report = (await session.report()).plugins.find((each) => each.name === name);
      const doesWithout = report?.state === 'active' || report?.state === 'waiting';
      ok(doesWithout || (report?.state === 'refused' && /requires|uses/.test(report.why)), `it is ${report?.state}: ${report?.why}`);
    },
  };
  const quiet: ConformanceCheck = {
    name: 'leaves no handle open',
    run: async () => {
      const before = handles();
      const timers = timersOf(name);
      try {
        const session = await open();
        await session.run('go');
        await session.close();
        const left = await leftOver(before, timers.pending);
        ok(left.length === 0, `still open: ${left.join(', ')}`);
      } finally {
        timers.stop();
      }
    },
  };
  return [loads, honest, off, alone, quiet, ...hooksOf(manifest.taps).map((hook) => aborted(hook, name, open))];
};

/** What keeps the process alive, by kind, but for timers: those of the test runner come and go. */
const handles = (): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) if (kind !== 'Timeout' && kind !== 'Immediate') counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
};

/** Follows the timers that a plugin's code starts from now on. */
const timersOf = (plugin: string): { pending(): number; stop(): void } => {
  const timers = new Map<number, NodeJS.Timeout>();
  const hook = createHook({
    init: (id, type, _, resource) => {
      if (type === 'Timeout' && running()?.plugin === plugin) timers.set(id, resource as NodeJS.Timeout);
    },
    destroy: (id) => timers.delete(id),
  }).enable();
  return { pending: () => [...timers.values()].filter((timer) => timer.hasRef()).length, stop: () => void hook.disable() };
};

/** Milliseconds that handles have to close by themselves. */
const CLOSING_MS = 1_500;
const leftOver = async (before: ReadonlyMap<string, number>, timers: () => number): Promise<readonly string[]> => {
  for (let waited = 0; ; waited += 50) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    const more = [...handles()].map(([kind, count]) => [kind, count - (before.get(kind) ?? 0)] as const);
    const left = [...more, ['Timeout', timers()] as const].flatMap(([kind, count]) => (count > 0 ? [`${count} ${kind}`] : []));
    if (left.length === 0 || waited >= CLOSING_MS) return left;
  }
};

/** Hooks at which a running turn can be stopped. */
const STOPPABLE: ReadonlySet<HookName> = new Set(['input', 'prepare', 'prompt', 'context', 'request', 'reply', 'call', 'gate', 'result', 'settle']);
const hooksOf = (taps: readonly HookName[] | null): readonly HookName[] => (taps ?? []).filter((hook) => STOPPABLE.has(hook));

const aborted = (
  hook: HookName,
  name: string,
  open: (more?: TestSessionOptions & { readonly probe?: Plugin }) => ReturnType<typeof createTestSession>,
): ConformanceCheck => ({
  name: `survives an abort in ${hook}`,
  run: async () => {
    let stop: (() => void) | undefined;
    // Told to stop when the first tap of the hook has run, so that the abort comes while later ones do.
    const probe = definePlugin({
      name: 'abort-probe',
      apply: ({ hooks }) => (hooks[hook] as TapPort<() => void>).tap('abort', { stage: 'mode' }, () => void setImmediate(() => stop?.())),
    });
    await using session = await open({ probe: probe as Plugin });
    stop = () => void session.client.abort('conformance');
    const end = await session.run('go');
    ok(end.reason === 'aborted' || end.reason === 'stop', `the turn ended with ${end.reason}`);
    ok(
      session.events('tap.fault').every((fault) => fault.plugin !== name),
      'the abort counted as its fault',
    );
    stop = undefined;
    const next = await session.run('again');
    ok(next.reason === 'stop', `the next turn ended with ${next.reason}`);
  },
});
