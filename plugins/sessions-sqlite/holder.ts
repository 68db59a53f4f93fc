/** Who holds a lease: a process that can be told from another with the same number, and from one that is gone. */
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

export interface Holder {
  readonly pid: number;
  /** When it started, in ticks since boot; null where the system does not say. */
  readonly started: string | null;
  /** Where its pid means something: this boot of this machine, in this namespace. */
  readonly place: string;
}

/** Milliseconds after which a holder that cannot be seen from here, on another machine or in a container, counts as dead. */
const STALE_MS = 60_000;

export const thisProcess = (): Holder => ({ pid: process.pid, started: stateOf(process.pid)?.started ?? null, place: placeOfPids() });

export const isAlive = (holder: Holder, here: string, beatAt: number, now: number): boolean => {
  if (holder.place !== here) return now - beatAt <= STALE_MS;
  if (!exists(holder.pid)) return false;
  const state = stateOf(holder.pid);
  if (!state) return true;
  // Nobody has waited for a zombie yet; it writes no more.
  return !state.isZombie && (holder.started === null || state.started === holder.started);
};

const exists = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it is there and belongs to somebody else.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
};

const stateOf = (pid: number): { readonly started: string; readonly isZombie: boolean } | undefined => {
  const stat = textOf(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  // The name of the program stands in parentheses and may hold anything, spaces included.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, started] = [fields?.[0], fields?.[19]];
  return started === undefined ? undefined : { started, isZombie: state === 'Z' || state === 'X' };
};

const placeOfPids = (): string => {
  const boot = textOf(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
  const namespace = textOf(() => readlinkSync('/proc/self/ns/pid'));
  return boot === undefined ? hostname() : `${boot} ${namespace ?? ''}`;
};

const textOf = (read: () => string): string | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};
