/** How a tool says that it cannot do what was asked. */
import type { ToolErrorCode, ToolFailure } from './data.ts';
import type { ToolResult } from './hooks/subjects.ts';

/** A model that sends a million characters need not be told all of them. */
const MAX_MESSAGE = 3_000;

/**
 * Thrown by a tool to end its call early: the model gets `result`, whose message is cut behind 3,000 characters. Any other error that a
 * tool throws reaches the model too, with a code guessed from its wording.
 */
export class ToolError extends Error {
  readonly result: ToolResult & { readonly error: ToolFailure };

  /** `fix` is what to do next, told behind the message; `retryable` says whether the same call may succeed later (default false). */
  constructor(code: ToolErrorCode, message: string, more: { readonly fix?: string; readonly retryable?: boolean } = {}) {
    super(message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message);
    this.name = 'ToolError';
    this.result = {
      status: 'error',
      content: more.fix === undefined ? this.message : `${this.message}\n${more.fix}`,
      error: { code, retryable: more.retryable ?? false, ...(more.fix === undefined ? {} : { suggestedFix: more.fix }) },
    };
  }
}

// By name, not by class: a plugin may bring its own copy of this module.
export const isToolError = (error: unknown): error is ToolError => error instanceof Error && error.name === 'ToolError' && 'result' in error;
