/** The output of a child as it comes, without ever waiting for a process that has only inherited the pipe. */
import type { Readable } from 'node:stream';
import { LIMITS } from '../limits.ts';

export interface Piece {
  readonly from: 'out' | 'err';
  readonly bytes: Uint8Array;
}
export interface Source {
  readonly from: Piece['from'];
  readonly stream: Readable;
}

/** What a pipe can hold at most when its writer ends; more than that was written by somebody else. */
const AFTER_EXIT_BYTES = 1_048_576;

/**
 * Ends with the pipes; or, once the child has exited, when nothing more has come for the pipe grace. Whatever is written
 * later is read and dropped, so that a process left in the background is neither blocked nor killed by its log.
 */
export const createOutput = (sources: readonly Source[], exited: Promise<unknown>): AsyncIterable<Piece> => {
  let gone = false;
  let wake = (): void => undefined;
  const onChange = (): void => wake();
  for (const { stream } of sources) {
    // A listener for `readable` from the start: else node would discard unread output when the child exits.
    for (const event of ['readable', 'end', 'error', 'close']) stream.on(event, onChange);
  }
  void exited.then(() => {
    gone = true;
    wake();
  });

  /** Resolves on any change, or after `ms`; gives how long it took. */
  const change = async (ms: number | undefined): Promise<number> => {
    const started = performance.now();
    await new Promise<void>((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    return performance.now() - started;
  };
  let turn = 0;
  /** From each stream in turn, so that neither starves the other. */
  const next = (): Piece | undefined => {
    for (let tried = 0; tried < sources.length; tried += 1) {
      turn = (turn + 1) % sources.length;
      const source = sources[turn];
      const bytes: Buffer | null = source?.stream.read() ?? null;
      if (source && bytes !== null) return { from: source.from, bytes };
    }
    return undefined;
  };

  const pieces = async function* (): AsyncGenerator<Piece> {
    let graceMs: number = LIMITS.pipeGraceMs;
    let graceBytes = AFTER_EXIT_BYTES;
    try {
      while (graceMs > 0 && graceBytes > 0) {
        const piece = next();
        if (piece) {
          if (gone) graceBytes -= piece.bytes.length;
          yield piece;
        } else if (sources.every(({ stream }) => stream.readableEnded || stream.destroyed)) {
          return;
        } else if (gone) {
          graceMs -= await change(graceMs);
        } else {
          await change(undefined);
        }
      }
    } finally {
      for (const { stream } of sources) discard(stream, onChange);
    }
  };
  return { [Symbol.asyncIterator]: pieces };
};

const discard = (stream: Readable & { unref?(): void }, onChange: () => void): void => {
  if (stream.destroyed) return;
  stream.on('data', () => undefined);
  stream.off('readable', onChange);
  stream.unref?.();
};
