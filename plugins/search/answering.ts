import { ToolError, type ToolResult } from '../../kernel/index.ts';

export const invalidPattern = (reason: string): ToolError =>
  new ToolError('INVALID_ARGUMENT', `The pattern is not a valid regular expression: ${reason}`, { fix: 'Escape special characters, or set `literal`.' });

/** Runs a tool's body: an abort becomes a result, whatever it made the body do. */
export const answering = async (signal: AbortSignal, kind: 'code' | 'text', body: () => Promise<string>): Promise<ToolResult> => {
  try {
    const content = await body();
    // What an abort cut short looks complete.
    return signal.aborted ? { status: 'aborted', content: '[aborted]' } : { status: 'ok', content, view: { kind, text: content } };
  } catch (error) {
    if (signal.aborted) return { status: 'aborted', content: '[aborted]' };
    throw error;
  }
};
