import { isToolError, messageOf, ToolError, type ToolErrorCode, type ToolResult } from '../../kernel/index.ts';

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

/** Runs a tool's body: an abort becomes a result, an error of the file system one that says what it means; anything else goes on. */
export const answering = async (shown: string, signal: AbortSignal, body: () => Promise<ToolResult>): Promise<ToolResult> => {
  try {
    return await body();
  } catch (error) {
    if (isToolError(error)) throw error;
    if (signal.aborted) return { status: 'aborted', content: '[aborted]' };
    const code = (error as NodeJS.ErrnoException).code ?? '';
    const known = SYSTEM[code];
    if (known) throw new ToolError(known[0], `${known[1]}: ${shown}`);
    if (/^E[A-Z0-9]+$/.test(code)) throw new ToolError('EXTERNAL_ERROR', `${shown}: ${messageOf(error)}`);
    throw error;
  }
};
