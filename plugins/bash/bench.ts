/** What the calls of one session share: limits, the folder of kept output, and what they left running. */
import type { Child, Powers } from '../../kernel/index.ts';
import type { ShellLimits } from './limits.ts';
import { SpillFolder } from './spill.ts';

export interface BenchOptions {
  readonly process: Powers['process'];
  readonly limits: ShellLimits;
  /** Path of the shell; undefined or empty for the one that is installed. */
  readonly shell?: string | undefined;
  /** A text that no other command has. */
  nextMark(): string;
}
export interface Bench {
  readonly process: Powers['process'];
  readonly limits: ShellLimits;
  /** Tried in this order. */
  readonly shells: readonly string[];
  readonly spills: SpillFolder;
  nextMark(): string;
  /** Takes over a command whose shell has ended while something that it started goes on. */
  adopt(child: Child): void;
  /** Ends what still runs and removes what was kept. */
  close(): Promise<void>;
}

export const openBench = (options: BenchOptions): Bench => {
  const spills = new SpillFolder();
  let left: Child[] = [];
  return {
    process: options.process,
    limits: options.limits,
    shells: options.shell ? [options.shell] : ['bash', '/bin/bash'],
    spills,
    nextMark: options.nextMark,
    adopt: (child) => {
      left = [...left.filter((other) => other.alive()), child];
    },
    close: async () => {
      await Promise.all(left.map((child) => child.kill()));
      await spills.remove();
    },
  };
};
