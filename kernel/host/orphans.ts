/**
 * Children die with their owner, however it dies. One small shell in a session of its own reads the list of live groups from
 * a pipe that only this process holds; the kernel closes that pipe when this process ends, and the shell kills what is left.
 */
import type { Writable } from 'node:stream';
import { LIMITS } from '../limits.ts';

/** Each line is the whole list. A last line without its end is not taken. */
export const REAPER_SCRIPT = `trap '' HUP INT QUIT TERM
groups=
while read -r next; do groups=$next; done
[ -n "$groups" ] || exit 0
for group in $groups; do kill -s TERM -- "-$group"; done
sleep ${LIMITS.killGraceMs / 1000} || sleep 1
for group in $groups; do kill -s KILL -- "-$group"; done`;

export interface ReaperProcess {
  readonly list: Writable;
  onExit(run: () => void): void;
}

/** Starts after one that was killed by somebody; beyond that something is wrong with the machine. */
const MAX_STARTS = 5;

/** `start` runs the script and gives its standard input; undefined where it cannot be run. */
export const createReaper = (start: () => ReaperProcess | undefined): ((groups: readonly number[]) => void) => {
  let reaper: ReaperProcess | undefined;
  let latest: readonly number[] = [];
  let starts = 0;
  const begin = (): void => {
    starts += 1;
    reaper = start();
    reaper?.onExit(() => {
      reaper = undefined;
      send();
    });
  };
  const send = (): void => {
    if (!reaper && latest.length > 0 && starts < MAX_STARTS) begin();
    reaper?.list.write(`${latest.join(' ')}\n`);
  };
  return (groups) => {
    latest = groups;
    send();
  };
};
