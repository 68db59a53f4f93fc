/** Marks for the caches of providers that want to be told what to keep. They stand in the body alone, never in the conversation. */
import type OpenAI from 'openai';

type Body = OpenAI.Chat.ChatCompletionCreateParamsStreaming;
type WireMessage = OpenAI.Chat.ChatCompletionMessageParam;

const MARK = { cache_control: { type: 'ephemeral' } };

/** On the system text, the last tool, and the last text of the user or the model. */
export const withMarks = (body: Body): Body => {
  const { messages, tools } = body;
  const last = messages.findLastIndex((message) => (message.role === 'user' || message.role === 'assistant') && hasText(message));
  return {
    ...body,
    messages: messages.map((message, place) => (place === last || (place === 0 && message.role === 'system') ? marked(message) : message)),
    ...(tools === undefined ? {} : { tools: tools.map((tool, place) => (place === tools.length - 1 ? { ...tool, ...MARK } : tool)) }),
  };
};

const hasText = ({ content }: WireMessage): boolean =>
  typeof content === 'string' ? content !== '' : Array.isArray(content) && content.some((part) => part.type === 'text');

/** Only a part can be marked, so a plain text becomes one. */
const marked = (message: WireMessage): WireMessage => {
  const parts = typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : [...(message.content ?? [])];
  const last = parts.findLastIndex((part) => part.type === 'text');
  return { ...message, content: parts.map((part, place) => (place === last ? { ...part, ...MARK } : part)) } as WireMessage;
};
