import type { ToolErrorCode, ToolResult } from '../../kernel/index.ts';

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

export const invalidPattern = (reason: string): Refusal =>
  new Refusal('INVALID_ARGUMENT', `The pattern is not a valid regular expression: ${reason}`, { fix: 'Escape special characters, or set `literal`.' });

/** Runs a tool's body: refusals and aborts become results; anything else is a fault and goes on. */
export const answering = async (signal: AbortSignal, body: () => Promise<string>): Promise<ToolResult> => {
  try {
    const content = await body();
    // What an abort cut short looks complete.
    return signal.aborted ? { status: 'aborted', content: '[aborted]' } : { status: 'ok', content };
  } catch (error) {
    if (signal.aborted) return { status: 'aborted', content: '[aborted]' };
    if (error instanceof Refusal) return error.result;
    throw error;
  }
};
