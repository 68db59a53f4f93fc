/** The body of an answer: decoded, and pulled chunk by chunk, so that a slow reader slows the sender. */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { fetchFailure } from './http-failure.ts';

/** Can be read once. Errors are those of `fetch`, or the reason of the signal. */
export class BodyReader implements AsyncIterableIterator<Uint8Array> {
  readonly #source: Readable;
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #signal: AbortSignal | undefined;

  constructor(source: Readable, signal: AbortSignal | undefined) {
    this.#source = source;
    this.#chunks = source[Symbol.asyncIterator]();
    this.#signal = signal;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
  next(): Promise<IteratorResult<Uint8Array>> {
    return this.#chunks.next().catch((error: unknown) => {
      throw this.#signal?.aborted ? this.#signal.reason : fetchFailure(error);
    });
  }
  /** Closes the connection unless all has been read. */
  async return(): Promise<IteratorResult<Uint8Array>> {
    this.#source.destroy();
    return { done: true, value: undefined };
  }
}

/** The answer without its content encoding. Throws when that is not known. */
export const decoded = async (reply: IncomingMessage): Promise<Readable> => {
  const encoding = reply.headers['content-encoding']?.trim().toLowerCase();
  if (encoding === undefined || encoding === '' || encoding === 'identity') return reply;
  const zlib = await import('node:zlib');
  // Sync flush: events of a compressed stream come out as they come in.
  const flush = { flush: zlib.constants.Z_SYNC_FLUSH, finishFlush: zlib.constants.Z_SYNC_FLUSH };
  const brotli = { flush: zlib.constants.BROTLI_OPERATION_FLUSH, finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH };
  const decoder =
    encoding === 'gzip' || encoding === 'x-gzip' || encoding === 'deflate'
      ? zlib.createUnzip(flush)
      : encoding === 'br'
        ? zlib.createBrotliDecompress(brotli)
        : undefined;
  if (!decoder) {
    // Nobody reads it, and its connection would stay.
    reply.destroy();
    throw new TypeError(`fetch failed: the answer is in the unknown encoding ${encoding}`);
  }
  const { pipeline } = await import('node:stream');
  return pipeline(reply, decoder, () => {});
};
