/** What taking turns back would do to files. */
import type { Powers } from '../../kernel/index.ts';
import { Git } from './git.ts';
import { IndexLists } from './index-lists.ts';
import type { Mark } from './marks.ts';
import type { Change, Points, Step, Untracked } from './points.ts';
import { changesSince } from './tree.ts';
import { type Move, unwind } from './unwind.ts';

export interface Plan {
  readonly moves: readonly Move[];
  readonly untracked: readonly Untracked[];
  readonly folders: readonly string[];
  /** Turns of which nothing is kept any more. */
  readonly gone: readonly number[];
}

/** `marks` of the turns that are taken back, oldest first. */
export const planFor = async (marks: readonly Mark[], points: Points, process: Powers['process']): Promise<Plan> => {
  const kept = await Promise.all(marks.map(async (mark) => ({ mark, steps: await points.steps(mark.point) })));
  const steps = await Promise.all(kept.flatMap(({ steps: all }) => all ?? []).map((step) => settled(step, points, process)));
  const byPath = new Map<string, Change[]>();
  for (const change of steps.flatMap(({ changes }) => changes)) byPath.set(change.path, [...(byPath.get(change.path) ?? []), change]);
  const moves: Move[] = [];
  for (const [path, changes] of byPath) moves.push(await unwind(path, changes, points.images));
  const untracked = new Map(steps.flatMap((step) => step.untracked).map((each) => [each.path, each]));
  return {
    moves: moves.toSorted((one, other) => (one.path < other.path ? -1 : 1)),
    untracked: [...untracked.values()],
    folders: steps.flatMap(({ folders }) => folders),
    gone: kept.filter(({ steps: all }) => !all).map(({ mark }) => mark.turn),
  };
};

/** Of a step without an end, all that differs by now may be its doing. */
const settled = async (step: Step, { images }: Points, process: Powers['process']): Promise<Step> => {
  const { tree } = step;
  if (!tree) return step;
  try {
    const found = await changesSince(new Git(process, tree.top), tree, images, new IndexLists());
    const own = new Set(step.changes.map(({ path }) => path));
    const open = found.changes.filter(({ path }) => !own.has(path)).map(({ path, before }) => ({ path, before }));
    return { ...step, changes: [...step.changes, ...open], untracked: [...step.untracked, ...found.untracked] };
  } catch {
    return { ...step, untracked: [...step.untracked, { path: tree.top, why: 'what a command that had not ended changed here can no longer be found' }] };
  }
};

/** Paths that a point changed, as far as it is known. */
export const changedIn = async (point: string, points: Points): Promise<number> =>
  new Set((await points.steps(point))?.flatMap(({ changes, untracked }) => [...changes, ...untracked].map(({ path }) => path))).size;
