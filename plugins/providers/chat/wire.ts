/** Chat Completions. */
import { Completions } from 'openai/resources/chat/completions/completions';
import type { Wire } from '../wire.ts';
import { ChatReader } from './reader.ts';
import { type ChatBody, chatBody } from './request.ts';

export const chatWire: Wire = {
  body: chatBody,
  send: (client, body) => new Completions(client).create(body as ChatBody).asResponse(),
  reader: ({ request, host, fail }) => new ChatReader({ model: request.model, host, tools: request.tools, fail }),
};
