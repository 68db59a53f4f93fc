import { runAs, within } from '../hooks/running.ts';
import { LIMITS } from '../limits.ts';
import type { Dispose } from '../plugin.ts';

/** Runs what a plugin registered for its end. One that throws, or never settles, costs only its own. */
export const dispose = async (
  { from, run }: { readonly from: string; readonly run: Dispose },
  onFault: (plugin: string, error: unknown) => void,
): Promise<void> => {
  try {
    await within(LIMITS.disposeMs, () => runAs({ plugin: from, where: 'dispose', label: 'dispose' }, run));
  } catch (error) {
    onFault(from, error);
  }
};
