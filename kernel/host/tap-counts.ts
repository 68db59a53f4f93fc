/** What the taps of a project's newest session did, kept for `cast plugins list`: one small file a project. */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Report, TapReport } from '../contracts/report.ts';

type Counts = Pick<TapReport, 'calls' | 'ms' | 'slowestMs' | 'faults' | 'changed'>;
interface Saved {
  readonly session: string;
  readonly at: number;
  /** By hook, plugin and label. */
  readonly taps: Readonly<Record<string, Counts>>;
}

const fileOf = (home: string, root: string): string => join(home, 'storage', createHash('sha256').update(root).digest('hex').slice(0, 16), 'taps.json');
const keyOf = (hook: string, tap: TapReport): string => `${hook} ${tap.plugin}/${tap.label}`;

/** Best effort: a home that cannot be written costs the counts, nothing else. */
export const saveCounts = async (home: string, root: string, report: Report, at: number): Promise<void> => {
  if (report.session === null) return;
  const taps = Object.fromEntries(
    report.hooks.flatMap((hook) =>
      hook.taps.map(
        ({ calls, ms, slowestMs, faults, changed, ...tap }) => [keyOf(hook.name, tap as TapReport), { calls, ms, slowestMs, faults, changed }] as const,
      ),
    ),
  );
  const file = fileOf(home, root);
  const saved: Saved = { session: report.session, at, taps };
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const draft = `${file}.${process.pid}`;
    await writeFile(draft, JSON.stringify(saved), { mode: 0o600 });
    await rename(draft, file);
  } catch {
    // The next session writes it again.
  }
};

/** The report with the counts of the newest session, where there is one. */
export const withCounts = async (home: string, root: string, report: Report): Promise<Report> => {
  let saved: Saved;
  try {
    saved = JSON.parse(await readFile(fileOf(home, root), 'utf8')) as Saved;
  } catch {
    return report;
  }
  const hooks = report.hooks.map((hook) => ({ ...hook, taps: hook.taps.map((tap) => ({ ...tap, ...saved.taps[keyOf(hook.name, tap)] })) }));
  return { ...report, hooks, counts: { session: saved.session, at: saved.at } };
};
