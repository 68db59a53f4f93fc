/** What fills the window when nothing more can be done: without that nobody could do anything about it. */
import { messageOf, type SessionFace } from '../../kernel/index.ts';

/** The error of the provider, with what it is about. `prefix`: estimated tokens of system prompt and tools. */
export const excessOf = (error: unknown, session: Pick<SessionFace, 'view' | 'window'>, prefix: number): string => {
  const view = session.view();
  const largest = view.reduce<(typeof view)[number] | undefined>((most, message) => (message.tokens > (most?.tokens ?? 0) ? message : most), undefined);
  const messages = view.reduce((sum, { tokens }) => sum + tokens, 0);
  const what = largest && ` (the largest, ${NAMES[largest.role]}, has about ${largest.tokens})`;
  return `${messageOf(error)}. The system prompt and the tools have about ${prefix} tokens and the messages about ${messages}${what ?? ''}; the window has ${session.window}`;
};
const NAMES = { user: 'an input', assistant: 'a reply', tool: 'the result of a call' } as const;
