/** Keeps what files were just before a call with an effect, and what they are when it is over. */
import { dirname } from 'node:path';
import { messageOf, type Powers, type ToolCall, type ToolResult } from '../../kernel/index.ts';
import { Git } from './git.ts';
import type { Change, Points, Step, Tree, Untracked } from './points.ts';
import { IndexLists } from './index-lists.ts';
import { LIMITS } from './limits.ts';
import { differences, scan, type Scan } from './scan.ts';
import { isSame, statOf } from './state.ts';
import { changesSince, keep, snapshot } from './tree.ts';

export interface RecorderOptions {
  readonly points: Points;
  /** `$CAST_HOME`. */
  readonly home: string;
  now(): number;
}

type Finish = (result: ToolResult | undefined) => Promise<void>;

export class Recorder {
  readonly #at: RecorderOptions;
  /** Files that this session has changed itself: kept around each shell command, in a repository or not. */
  readonly #known: Set<string>;
  readonly #lists = new IndexLists();

  private constructor(options: RecorderOptions, known: Iterable<string>) {
    this.#at = options;
    this.#known = new Set(known);
  }

  /** Of a session that may have a past, in this process or another. */
  static async open(options: RecorderOptions, marks: readonly { readonly point: string }[]): Promise<Recorder> {
    const steps = await Promise.all(marks.slice(-LIMITS.pointsKnown).map(({ point }) => options.points.steps(point)));
    return new Recorder(options, steps.flatMap((all) => (all ?? []).flatMap(({ changes }) => changes.map(({ path }) => path))).slice(-LIMITS.dirtyFiles));
  }

  /** What the call declares is kept; of a call that may change anything, all that there is. */
  async begin(call: ToolCall, point: string, process: Powers['process']): Promise<Finish> {
    const { points } = this.#at;
    const write = await points.newStep(point);
    const isOpen = call.effect === 'exec' || call.paths.length === 0;
    const paths = [...new Set([...call.paths, ...(isOpen ? this.#known : [])])];
    const before = await Promise.all(paths.map(async (path) => ({ path, before: await keep(path, points.images) })));
    const folders = (await Promise.all(call.paths.map(missingFolders))).flat();
    const around = isOpen ? await this.#around(call, process) : undefined;
    const step: Step = { version: 1, tool: call.tool, at: this.#at.now(), changes: before, untracked: around?.untracked ?? [], folders };
    await write({ ...step, ...(around?.repository ? { tree: around.repository.tree } : {}) });
    for (const path of call.paths) this.#known.add(path);
    return (result) => this.#end(step, around, write, result);
  }

  async #around(call: ToolCall, process: Powers['process']): Promise<Around> {
    const since = this.#at.now();
    const found = await new Git(process, call.cwd).repository();
    if (!found) return { top: call.cwd, scan: { was: await scan(call.cwd, this.#at.home) }, untracked: [] };
    const { git, top } = found;
    try {
      return { top, repository: { git, tree: await snapshot(git, top, this.#at.points.images, this.#lists, since) }, untracked: [] };
    } catch (error) {
      return { top, untracked: [{ path: top, why: `a shell command's changes could not be recorded: ${messageOf(error)}` }] };
    }
  }

  async #end(step: Step, around: Around | undefined, write: (step: Step) => Promise<void>, result: ToolResult | undefined): Promise<void> {
    // It goes on: what it will have changed is not known yet, so its step stays open.
    if (goesOn(result))
      return write(around?.repository ? { ...step, tree: around.repository.tree } : { ...step, untracked: [...step.untracked, leftOpen(around)] });
    const looked = await Promise.all(step.changes.map(async (change) => ({ ...change, after: await keep(change.path, this.#at.points.images) })));
    const made = around ? await this.#found(around) : NOTHING;
    const own = new Set(step.changes.map(({ path }) => path));
    const changes = [...looked, ...made.changes.filter(({ path }) => !own.has(path))].filter(({ before, after }) => !after || !isSame(before, after));
    for (const { path } of changes) this.#known.add(path);
    const covered = new Set([...own, ...changes.map(({ path }) => path)]);
    const late = around?.repository ? [] : (result?.changed ?? []).map((path) => ({ path, why: `changed by ${step.tool}, which had not said so before` }));
    const untracked = [...step.untracked, ...late, ...made.untracked].filter(({ path }) => !covered.has(path));
    await write({ ...step, changes, untracked: once(untracked), folders: [...new Set([...step.folders, ...made.folders])] });
  }

  async #found({ top, repository, scan: scanned }: Around): Promise<Found> {
    if (scanned) return { ...NOTHING, untracked: differences(top, scanned.was, await scan(top, this.#at.home)) };
    if (!repository) return NOTHING;
    try {
      return await changesSince(repository.git, repository.tree, this.#at.points.images, this.#lists);
    } catch (error) {
      return { ...NOTHING, untracked: [{ path: top, why: `a shell command's changes could not be recorded: ${messageOf(error)}` }] };
    }
  }
}

interface Around {
  readonly top: string;
  readonly repository?: { readonly git: Git; readonly tree: Tree };
  readonly scan?: { readonly was: Scan };
  readonly untracked: readonly Untracked[];
}
interface Found {
  readonly changes: readonly Change[];
  readonly untracked: readonly Untracked[];
  readonly folders: readonly string[];
}
const NOTHING: Found = { changes: [], untracked: [], folders: [] };

const leftOpen = (around: Around | undefined): Untracked => ({
  path: around?.top ?? '',
  why: 'a command went on here in the background; what it changed later is not known',
});

/** Tools say in their details which task goes on. */
const goesOn = (result: ToolResult | undefined): boolean => {
  const { task, state } = (result?.details ?? {}) as { readonly task?: unknown; readonly state?: unknown };
  return typeof task === 'string' && state === undefined;
};

const once = (list: readonly Untracked[]): readonly Untracked[] => [...new Map(list.map((each) => [each.path, each])).values()];

/** Outermost first. */
const missingFolders = async (path: string): Promise<readonly string[]> => {
  const found: string[] = [];
  for (let folder = dirname(path); dirname(folder) !== folder && !(await statOf(folder)); folder = dirname(folder)) found.unshift(folder);
  return found;
};
