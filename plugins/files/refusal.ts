import { messageOf, type ToolErrorCode, type ToolResult } from '../../kernel/index.ts';

/** A model that sends a million characters need not be told all of them. */
const MAX_MESSAGE = 3_000;

/** Ends a tool early with an `error` result. Thrown inside this plugin only: `answering` turns it into the result. */
export class Refusal extends Error {
  readonly result: ToolResult;
  constructor(code: ToolErrorCode, message: string, more: { readonly fix?: string; readonly retryable?: boolean } = {}) {
    super(message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message);
    this.result = {
      status: 'error',
      content: more.fix === undefined ? this.message : `${this.message}\n${more.fix}`,
      error: { code, retryable: more.retryable ?? false, ...(more.fix === undefined ? {} : { suggestedFix: more.fix }) },
    };
  }
}

const SYSTEM: Readonly<Record<string, readonly [ToolErrorCode, string]>> = {
  ENOENT: ['NOT_FOUND', 'File not found'],
  EACCES: ['PERMISSION_DENIED', 'Permission denied by the file system'],
  EPERM: ['PERMISSION_DENIED', 'Operation not permitted by the file system'],
  EROFS: ['PERMISSION_DENIED', 'The file system is read-only'],
  ENOTDIR: ['INVALID_ARGUMENT', 'A parent of this path is a file, not a folder'],
  EISDIR: ['INVALID_ARGUMENT', 'This is a folder'],
  ELOOP: ['INVALID_ARGUMENT', 'The symbolic links of this path lead in a circle'],
  ENAMETOOLONG: ['INVALID_ARGUMENT', 'The path is too long'],
  ERR_INVALID_ARG_VALUE: ['INVALID_ARGUMENT', 'This is not a path'],
  EAGAIN: ['INVALID_ARGUMENT', 'Reading it would wait for ever'],
  ENOSPC: ['UNAVAILABLE', 'No space is left on the disk'],
  EDQUOT: ['UNAVAILABLE', 'The disk quota is used up'],
  EBUSY: ['UNAVAILABLE', 'The file is in use and cannot be replaced'],
};

/** Runs a tool's body: refusals, aborts and errors of the file system become results; anything else is a fault and goes on. */
export const answering = async (shown: string, signal: AbortSignal, body: () => Promise<ToolResult>): Promise<ToolResult> => {
  try {
    return await body();
  } catch (error) {
    if (error instanceof Refusal) return error.result;
    if (signal.aborted) return { status: 'aborted', content: '[aborted]' };
    const code = (error as NodeJS.ErrnoException).code ?? '';
    const known = SYSTEM[code];
    if (known) return new Refusal(known[0], `${known[1]}: ${shown}`).result;
    if (/^E[A-Z0-9]+$/.test(code)) return new Refusal('EXTERNAL_ERROR', `${shown}: ${messageOf(error)}`).result;
    throw error;
  }
};
