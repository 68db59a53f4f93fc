/** A command that runs, in the foreground or not. */
import { messageOf, ToolError, type Child } from '../../kernel/index.ts';
import type { Bench } from './bench.ts';
import { OutputCollector } from './collect.ts';
import { commandEnvironment } from './environment.ts';
import { findSurvivors, type Survivor } from './survivors.ts';

export interface Order {
  readonly command: string;
  readonly cwd: string;
  /** Milliseconds until it is killed; null for a command without such a limit. */
  readonly timeoutMs: number | null;
}
export interface Ending {
  readonly exit: Awaited<Child['exit']>;
  /** What goes on although the shell has ended. */
  readonly survivors: readonly Survivor[];
  /** Whether some of it is still in the group, and so killed with the session. */
  readonly isGroupAlive: boolean;
}
export interface Job {
  readonly order: Order;
  readonly child: Child;
  readonly output: OutputCollector;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly ended: Promise<Ending>;
}

/** `stop` kills it, also before it has begun. Throws a ToolError when there is no shell. */
export const startJob = async (order: Order, stop: AbortSignal, bench: Bench): Promise<Job> => {
  const mark = bench.nextMark();
  const child = await startShell(order, mark, stop, bench);
  const output = new OutputCollector(bench.limits, bench.remains.spills);
  return { order, child, output, startedAt: bench.now(), ended: finish(child, output, { order, mark, stop }, bench) };
};

const startShell = async ({ command, cwd, timeoutMs }: Order, mark: string, signal: AbortSignal, bench: Bench): Promise<Child> => {
  let reason = '';
  for (const shell of bench.shells) {
    try {
      return await bench.process.spawn([shell, '-c', command], {
        cwd,
        purpose: 'bash',
        signal,
        ...(timeoutMs === null ? {} : { timeoutMs }),
        env: commandEnvironment(mark),
        merge: true,
      });
    } catch (error) {
      signal.throwIfAborted();
      reason = `Failed to start bash ("${shell}"): ${messageOf(error)}`;
    }
  }
  throw new ToolError('UNAVAILABLE', reason, { fix: 'Install bash, or set CAST_BASH to the path of a shell that understands it.' });
};

interface Begun {
  readonly order: Order;
  readonly mark: string;
  readonly stop: AbortSignal;
}
const finish = async (child: Child, output: OutputCollector, { order, mark, stop }: Begun, bench: Bench): Promise<Ending> => {
  try {
    await output.read(child.output);
    const exit = await child.exit;
    if (exit.timedOut || stop.aborted) await child.kill();
    const isGroupAlive = child.alive();
    if (isGroupAlive) bench.remains.adopt(child);
    return { exit, isGroupAlive, survivors: await findSurvivors({ group: child.pid, mark, isGroupAlive }, order.cwd, bench) };
  } catch (error) {
    await child.kill();
    throw error;
  }
};
