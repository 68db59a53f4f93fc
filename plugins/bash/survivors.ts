/** Finds what a command has left running: in its group, or out of it through `setsid`. */
import { readdirSync, readFileSync } from 'node:fs';
import type { Bench } from './bench.ts';
import { MARK } from './environment.ts';
import { oneLine } from './text.ts';

export interface Survivor {
  readonly pid: number;
  readonly command: string;
  /** It has left the group, so that killing the group does not reach it. */
  readonly left: boolean;
}
interface Wanted {
  readonly group: number;
  /** Of the command's environment; found on Linux only. */
  readonly mark: string;
  readonly isGroupAlive: boolean;
}

const SHOWN = 10;
const PS_MS = 3000;

export const findSurvivors = async (wanted: Wanted, cwd: string, bench: Bench): Promise<readonly Survivor[]> => {
  if (process.platform === 'linux') return fromProc(wanted);
  return wanted.isGroupAlive ? fromPs(wanted, cwd, bench) : [];
};

export const describeSurvivors = (survivors: readonly Survivor[]): string => {
  const shown = survivors.slice(0, SHOWN).map(({ pid, command }) => `pid ${pid} (${command})`);
  return [...shown, ...(survivors.length > SHOWN ? [`${survivors.length - SHOWN} more`] : [])].join(', ');
};

const fromProc = (wanted: Wanted): Survivor[] =>
  youngerThan(wanted.group).flatMap((pid) => {
    const stat = read(`/proc/${pid}/stat`);
    // The name is in brackets and may itself hold spaces and brackets.
    const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (stat === '' || state === 'Z' || state === 'X') return [];
    const left = Number(group) !== wanted.group;
    if (left && !`\0${read(`/proc/${pid}/environ`)}`.includes(`\0${MARK}=${wanted.mark}\0`)) return [];
    return [{ pid: Number(pid), command: oneLine(read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')), left }];
  });

/** Numbers are given in order, so only these can come from the command; all of them once the numbers have begun anew. */
const youngerThan = (shell: number): string[] => {
  const newest = Number(read('/proc/loadavg').trim().split(' ').at(-1));
  return readdirSync('/proc').filter((entry) => /^\d+$/.test(entry) && (Number(entry) > shell || !(newest >= shell)));
};

/** Empty for a process that has gone or belongs to somebody else. */
const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

const fromPs = async (wanted: Wanted, cwd: string, bench: Bench): Promise<Survivor[]> => {
  const { out } = await bench.process.run(['ps', '-A', '-o', 'pid=,pgid=,stat=,command='], {
    cwd,
    purpose: 'bash',
    signal: AbortSignal.timeout(PS_MS),
  });
  return out.split('\n').flatMap((line) => {
    const [, pid, group, state, command] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    return Number(group) === wanted.group && !state?.startsWith('Z') ? [{ pid: Number(pid), command: oneLine(command ?? ''), left: false }] : [];
  });
};
