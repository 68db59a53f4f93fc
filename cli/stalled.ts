/** Waiting for what can no longer come. */
import { CastError } from '../kernel/index.ts';

/**
 * Rejects when the process has nothing left that could bring the work to an end: no timer, no connection, no child. Node would
 * leave with 0 and without a word. Of waits inside one another the innermost is told; it knows best what to print.
 */
export const orStalled = <T>(work: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    process.removeAllListeners('beforeExit').once('beforeExit', () => reject(stalled()));
    work.then(resolve, reject);
  });

const stalled = (): CastError =>
  new CastError('INTERNAL', 'something that was waited for can never answer, perhaps a plugin', {
    fix: 'Try again with --safe, or leave plugins out with --plugin NAME=off.',
  });
