/** Ctrl-C and its relatives: the first asks to stop, the second does not ask. */
import { killAllGroupsNow } from '../kernel/host/process-group.ts';
import { exitProcess } from './stdio.ts';

export const INTERRUPTED = 130;
/** What a shell reports for a process that wrote to nobody. */
export const BROKEN_PIPE = 141;

/** What a shell reports for a process that was told to quit. */
const QUIT = 131;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** The turn has this long to end by itself: its tools get two seconds of grace, then results are stored. */
const PATIENCE_MS = 4_000;

export interface Interrupts {
  /** Aborts with the first signal. */
  readonly signal: AbortSignal;
  /** As if a signal had come. */
  stop(reason: string): void;
}

/** `onPatienceOver` is called when the first signal has not ended the run in time; it must end the process. */
export const watchInterrupts = (onPatienceOver: () => void): Interrupts => {
  const controller = new AbortController();
  const stop = (reason: string): void => {
    if (controller.signal.aborted) return;
    controller.abort(new Error(reason));
    setTimeout(onPatienceOver, PATIENCE_MS).unref();
  };
  for (const name of SIGNALS) {
    process.on(name, () => {
      if (controller.signal.aborted) leaveNow(INTERRUPTED);
      stop(`interrupted by ${name}`);
    });
  }
  // Whoever sends it does not want to wait; without a listener the process would end and leave its children.
  process.on('SIGQUIT', () => leaveNow(QUIT));
  return { signal: controller.signal, stop };
};

/** Without waiting for anything; no child process is left behind. */
export const leaveNow = (exitCode: number): never => {
  killAllGroupsNow();
  return exitProcess(exitCode);
};
