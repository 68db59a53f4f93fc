/** The process groups that this process has started. Each is known here until its last process is gone. */
import { readdirSync, readFileSync } from 'node:fs';
import { LIMITS } from '../limits.ts';

const POLL_MS = 15;
const live = new Map<number, ProcessGroup>();
const watchers = new Set<(groups: readonly number[]) => void>();

/** Tells every change of the list of groups, the present list first. */
export const watchGroups = (watch: (groups: readonly number[]) => void): void => {
  watchers.add(watch);
  if (live.size > 0) watch([...live.keys()]);
};
const tell = (): void => {
  for (const watch of watchers) watch([...live.keys()]);
};

export class ProcessGroup {
  /** Process id of the leader, which is the id of the group as well. */
  readonly id: number;
  #leaderGone = false;
  #ending: Promise<void> | undefined;

  constructor(id: number) {
    this.id = id;
    live.set(id, this);
    tell();
  }

  /** To be called once the leader has been waited for: only from then on may its id be used again. */
  leaderExited(): void {
    this.#leaderGone = true;
    this.alive();
  }

  /** Whether a process of the group is still there; zombies do not count. */
  alive(): boolean {
    if (!live.has(this.id)) return false;
    if (!this.#leaderGone || (sendSignal(this.id, 0) && !onlyZombies(this.id))) return true;
    live.delete(this.id);
    tell();
    return false;
  }

  /** SIGTERM, then SIGKILL. Resolves when the group is gone, or has had its grace after the SIGKILL. */
  end(): Promise<void> {
    this.#ending ??= this.#end().finally(() => {
      this.#ending = undefined;
    });
    return this.#ending;
  }

  kill(): void {
    if (live.has(this.id)) sendSignal(this.id, 'SIGKILL');
  }

  async #end(): Promise<void> {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (!this.alive()) return;
      sendSignal(this.id, signal);
      if (await this.#goneWithin(LIMITS.killGraceMs)) return;
    }
  }

  async #goneWithin(ms: number): Promise<boolean> {
    const deadline = performance.now() + ms;
    while (this.alive()) {
      if (performance.now() >= deadline) return false;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    return true;
  }
}

/** Leaders of all groups that still have a process. */
export const livePids = (): readonly number[] => [...live.values()].filter((group) => group.alive()).map((group) => group.id);

/** Ends every group of this process; for an orderly shutdown. */
export const killAllGroups = async (): Promise<void> => {
  await Promise.all([...live.values()].map((group) => group.end()));
};

/** SIGKILL to every group, at once; for `exit` handlers and the watchdog. */
export const killAllGroupsNow = (): void => {
  for (const group of live.values()) group.kill();
};

/** False when there is nobody to get it. Signal 0 only asks. */
const sendSignal = (group: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    // Windows has no groups: there the leader alone is meant.
    process.kill(process.platform === 'win32' ? group : -group, signal);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** In a container whose first process never waits, dead grandchildren stay as zombies and would keep a group alive for ever. */
const onlyZombies = (group: number): boolean => {
  if (process.platform !== 'linux') return false;
  const states = statesOf(group);
  return states.length > 0 && states.every((state) => state === 'Z' || state === 'X');
};

const statesOf = (group: number): string[] => {
  const states: string[] = [];
  for (const entry of processEntries()) {
    const [state, , processGroup] = statFields(entry);
    if (state !== undefined && Number(processGroup) === group) states.push(state);
  }
  return states;
};

const processEntries = (): string[] => {
  try {
    return readdirSync('/proc').filter((entry) => /^\d+$/.test(entry));
  } catch {
    return [];
  }
};

/** State, parent, process group and what follows; empty for a process that has just gone. */
const statFields = (pid: string): string[] => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name before it is in brackets and may itself hold spaces and brackets.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
};
