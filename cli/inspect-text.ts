/** Reports as text: to fit a terminal where there is one, uncut where a program reads. */
import type { HookReport, PluginReport, Report, TapReport } from '../kernel/index.ts';
import { alignRows, count, cut, type Paint } from './style.ts';

export interface Look {
  readonly paint: Paint;
  /** Undefined: as wide as it needs. */
  readonly columns: number | undefined;
}

export const listReport = (report: Report, look: Look): readonly string[] => {
  const { paint } = look;
  const [tapped, silent] = [report.hooks.filter(({ taps }) => taps.length > 0), report.hooks.filter(({ taps }) => taps.length === 0)];
  const layout = layoutOf(
    tapped.flatMap(({ taps }) => taps),
    look,
  );
  return [
    paint.bold('Hooks, in the order of a turn'),
    countsLine(report, paint),
    ...tapped.flatMap((hook) => ['', `${paint.cyan(hook.name)} ${paint.dim(policyOf(hook))}`, ...hook.taps.map((tap) => tapLine(tap, layout, paint))]),
    '',
    paint.dim(wrap(`No taps: ${silent.map(({ name }) => name).join(', ')}.`, look.columns)),
    '',
    paint.bold('Plugins'),
    '',
    ...pluginLines(report.plugins, look),
  ];
};

const countsLine = ({ counts, session }: Report, paint: Paint): string => {
  const from = counts?.session ?? session;
  return paint.dim(from === null ? 'Nothing has run here yet, so all counts are 0.' : `Calls, time and faults are those of session ${from}.`);
};

const POLICIES: Readonly<Record<HookReport['policy'], string>> = {
  skip: 'a fault skips the tap',
  refuse: 'a fault refuses what is at hand',
  fail: 'a fault ends the turn',
};
const policyOf = (hook: HookReport): string => `${hook.class}, ${POLICIES[hook.policy]}`;

interface Layout {
  readonly stage: number;
  readonly name: number;
  /** Null: on a line of its own, because one line is not wide enough. */
  readonly source: number | null;
  /** Calls, time and faults: left out where nothing has run. */
  readonly hasCounts: boolean;
}

const PLACE = 3;
const CALLS = 5;
const TIME = 8;
const FAULTS = 4;
const GAP = '  ';

const layoutOf = (taps: readonly TapReport[], { columns }: Look): Layout => {
  const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map((text) => text.length));
  const [stage, name, source] = [widest(taps.map((tap) => tap.stage)), widest(taps.map(nameOf)), widest(taps.map((tap) => tap.source))];
  const hasCounts = taps.some((tap) => tap.calls > 0);
  const counts = hasCounts ? [CALLS, TIME, FAULTS] : [];
  const whole = [PLACE, stage, name, source, ...counts].reduce((sum, width) => sum + width + GAP.length, -GAP.length);
  return { stage, name, source: columns === undefined || whole <= columns ? source : null, hasCounts };
};
const nameOf = (tap: TapReport): string => `${tap.plugin}/${tap.label}${tap.when === null ? '' : ` (${tap.when.join(', ')})`}`;

const tapLine = (tap: TapReport, { stage, name, source, hasCounts }: Layout, paint: Paint): string => {
  const time = `${tap.ms < 10 ? tap.ms.toFixed(1) : Math.round(tap.ms)} ms`;
  const counts = [`${tap.calls}`.padStart(CALLS), time.padStart(TIME), tap.faults === 0 ? '' : paint.red(`${tap.faults} ✗`)];
  const cells = [
    `${tap.place}`.padStart(PLACE),
    tap.stage.padEnd(stage),
    nameOf(tap).padEnd(name),
    ...(source === null ? [] : [paint.dim(tap.source.padEnd(source))]),
    ...(hasCounts ? counts : []),
  ];
  const line = `${cells.join(GAP).trimEnd()}${tap.state === 'open' ? '' : paint.yellow(`${GAP}${tap.state}`)}`;
  return source === null ? `${line}\n${' '.repeat(PLACE + GAP.length + stage + GAP.length)}${paint.dim(tap.source)}` : line;
};

const MARKS: Readonly<Record<PluginReport['state'], { readonly mark: string; readonly colour: keyof Paint }>> = {
  active: { mark: '✓', colour: 'green' },
  waiting: { mark: '…', colour: 'dim' },
  off: { mark: '–', colour: 'dim' },
  refused: { mark: '✗', colour: 'red' },
  quarantined: { mark: '✗', colour: 'red' },
};

const pluginLines = (plugins: readonly PluginReport[], { paint, columns }: Look): readonly string[] => {
  const sorted = [...plugins].sort((a, b) => (a.name < b.name ? -1 : 1));
  const rows = alignRows(sorted.map(({ name, state, source, why }) => [name, state, source, why]));
  return rows.map((row, index) => {
    const state = sorted[index]?.state ?? 'off';
    const { mark, colour } = MARKS[state];
    return `  ${paint[colour](mark)} ${cut(row, (columns ?? Number.POSITIVE_INFINITY) - 4)}`;
  });
};

export const describePlugin = (plugin: PluginReport, taps: readonly (TapReport & { readonly hook: string })[], look: Look): readonly string[] => {
  const { paint } = look;
  const { mark, colour } = MARKS[plugin.state];
  const brings = Object.entries(plugin.brings).filter(([, names]) => names.length > 0);
  const facts: readonly (readonly [string, string])[] = [
    ['state', `${mark} ${plugin.state}: ${plugin.why}`],
    ['version', plugin.version],
    ['source', plugin.source],
    ['locked', plugin.locked ? 'yes: no project can turn it off or change it' : 'no'],
    ['may use', plugin.capabilities.join(', ') || 'nothing outside of the kernel'],
    ['start', `${plugin.startMs.toFixed(1)} ms`],
    ...brings.map(([kind, names]) => [kind, names.join(', ')] as const),
  ];
  const layout = layoutOf(taps, look);
  return [
    paint.bold(plugin.name),
    wrap(plugin.summary, look.columns),
    '',
    ...alignRows(facts.map(([key, value]) => [`  ${key}`, value])).map((line, index) => (index === 0 ? paint[colour](line) : line)),
    '',
    ...(taps.length === 0
      ? [paint.dim('  It taps no hook.')]
      : taps.flatMap((tap, index) => [...(taps[index - 1]?.hook === tap.hook ? [] : [paint.cyan(tap.hook)]), tapLine(tap, layout, paint)])),
  ];
};

export const describeHook = (hook: HookReport, look: Look): readonly string[] => {
  const { paint } = look;
  const layout = layoutOf(hook.taps, look);
  const lines = hook.taps.length === 0 ? [paint.dim('  No plugin taps it.')] : hook.taps.map((tap) => tapLine(tap, layout, paint));
  return [`${paint.bold(hook.name)}  ${policyOf(hook)}; ${count(hook.taps.length, 'tap')}`, '', ...lines];
};

/** At word ends. */
const wrap = (text: string, columns: number | undefined): string => {
  if (columns === undefined) return text;
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < columns) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.join('\n');
};
