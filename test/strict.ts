/** A provider that takes only what its interface allows. */
export interface SentMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly arguments: string } }[];
}

/** What it would refuse; undefined when it is fine. */
export const refusal = (messages: readonly SentMessage[]): string | undefined => {
  const open = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (!open.delete(message.tool_call_id ?? '')) return `message ${index} answers no call`;
      continue;
    }
    if (open.size > 0) return `message ${index}: ${[...open].join()} have no result`;
    for (const each of message.tool_calls ?? []) {
      if (open.has(each.id)) return `message ${index}: ${each.id} twice`;
      open.add(each.id);
    }
    if (message.role === 'assistant' && !message.content && !message.tool_calls?.length) return `message ${index} is empty`;
  }
  return open.size > 0 ? `${[...open].join()} have no result` : undefined;
};
