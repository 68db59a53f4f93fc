/** The kernel of this process. */
import type { Kernel, KernelOptions, OpenSession } from '../kernel/index.ts';
import { createKernel } from '../kernel/host/kernel.ts';
import { systemClock } from '../kernel/host/clock.ts';
import { builtins } from './builtins.ts';
import type { Environment } from './config/environment.ts';
import { createLog } from './log.ts';
import { packageVersion } from './package.ts';
import type { Stdio } from './stdio.ts';

/** Closing is waited for that long; what is stored has been stored before. */
const CLOSE_MS = 1_000;

export const startKernel = (home: string, stdio: Stdio, environment: Environment, own: Pick<KernelOptions, 'clock' | 'ids'> = {}): Kernel =>
  createKernel({ home, version: packageVersion(), builtins, log: createLog(stdio, environment), watchdog: true, ...own });

/** Its session first, which keeps what its taps did for `cast plugins list`. */
export const endKernel = async (kernel: Kernel, reason: string, session?: OpenSession): Promise<void> => {
  const closing = (async () => {
    await session?.close(reason);
    await kernel.shutdown(reason);
  })();
  await Promise.race([closing.catch(() => undefined), systemClock.sleep(CLOSE_MS)]);
};
