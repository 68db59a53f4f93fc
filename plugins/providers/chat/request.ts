/** A request in the words of Chat Completions. Works on copies: the conversation itself is never mended. */
import type OpenAI from 'openai';
import type { Image, Message, ModelRequest, ToolCard } from '../../../kernel/index.ts';
import type { HostTraits } from '../wire.ts';
import { reasoningFields, routingFields, sessionFields } from '../dialects/dialect.ts';
import { withMarks } from './marks.ts';
import type { ChatItem } from './reader.ts';
import { pairCalls, plainId, type SentCall, shortId, type Turn } from '../pairing.ts';
import { isFields, isFromHost, listOf, textOf } from '../values.ts';

export type ChatBody = OpenAI.Chat.ChatCompletionCreateParamsStreaming;
type WireMessage = OpenAI.Chat.ChatCompletionMessageParam;
type WirePart = OpenAI.Chat.ChatCompletionContentPart;

const NO_RESPONSE = '(no response)';

export const chatBody = (request: ModelRequest, host: HostTraits): ChatBody => {
  const { dialect, info, quirks, settings } = host;
  const { model, maxOutputTokens, tools, format } = request;
  const fields = {
    model,
    messages: wireMessages(request, host),
    stream: true,
    stream_options: { include_usage: true },
    ...(maxOutputTokens === undefined ? {} : { [quirks.limitField ?? dialect.limitField]: maxOutputTokens }),
    ...(settings.temperature === undefined ? {} : { temperature: settings.temperature }),
    ...(settings.topP === undefined ? {} : { top_p: settings.topP }),
    ...(tools.length === 0 ? {} : { tools: tools.map(wireTool), tool_choice: 'auto' }),
    ...(format === undefined ? {} : { response_format: { type: 'json_schema', json_schema: { name: format.name, strict: true, schema: format.schema } } }),
    ...reasoningFields(dialect, request.reasoning, model, info?.reasoning),
    ...sessionFields(dialect, request.session),
    ...routingFields(dialect, settings),
  };
  const body = fields as unknown as ChatBody;
  return dialect.cache === 'marks' && !quirks.without.includes('cache_control') ? withMarks(body) : body;
};

const wireTool = ({ name, description, input }: ToolCard) => ({ type: 'function', function: { name, description, parameters: { ...input } } });

const wireMessages = (request: ModelRequest, host: HostTraits): WireMessage[] => {
  const system: WireMessage[] = request.system === '' ? [] : [{ role: 'system', content: request.system }];
  const turns = pairCalls(request.messages, host.quirks.shortIds || host.dialect.shortIds ? shortId : plainId);
  return [...system, ...turns.flatMap((turn) => (turn.role === 'user' ? userMessage(turn.message) : assistantMessages(turn, request.model, host)))];
};

// ---- the user's side ----

const userMessage = (message: Message): WireMessage[] => {
  const text = textIn(message, '\n');
  const images = message.blocks.filter((block) => block.type === 'image').map((block) => imagePart(block.image));
  if (images.length > 0) return [{ role: 'user', content: [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...images] }];
  return text === '' ? [] : [{ role: 'user', content: text }];
};

const imagePart = ({ mediaType, data }: Image): WirePart => ({ type: 'image_url', image_url: { url: `data:${mediaType};base64,${data}` } });

// ---- the model's side, with the results of its calls ----

const assistantMessages = (turn: Extract<Turn, { role: 'assistant' }>, model: string, host: HostTraits): WireMessage[] => {
  const { message, calls, images } = turn;
  const item = itemOf(message, host, model);
  const text = message.raw ?? textIn(message, '');
  const reply = {
    role: 'assistant' as const,
    content: text !== '' ? text : calls.length > 0 ? null : NO_RESPONSE,
    ...reasoningSent(message, calls, item, host),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map((call, place) => wireCall(call, item?.extras?.[place])) }),
  };
  const results = calls.map((call): WireMessage => ({ role: 'tool', tool_call_id: call.id, content: call.result }));
  return [reply, ...results, ...imagesOfResults(images.map((block) => block.image))];
};

const wireCall = (call: SentCall, extra: unknown) => ({
  id: call.id,
  type: 'function' as const,
  function: { name: call.tool, arguments: call.arguments },
  ...(extra === undefined ? {} : { extra_content: extra }),
});

/** A tool message takes text only, so images follow in a message of the user's. */
const imagesOfResults = (images: readonly Image[]): WireMessage[] =>
  images.length === 0
    ? []
    : [
        {
          role: 'user',
          content: [
            { type: 'text', text: images.length === 1 ? 'The image of the result above:' : 'The images of the results above:' },
            ...images.map(imagePart),
          ],
        },
      ];

/** In the field in which it came, and only to where it came from. */
const reasoningSent = (message: Message, calls: readonly SentCall[], item: ChatItem | undefined, { dialect, quirks }: HostTraits): object => {
  const text = message.blocks.map((block) => (block.type === 'reasoning' ? block.text : '')).join('');
  const cameSo = item?.reasoningField !== undefined;
  const isWanted = calls.length > 0 ? cameSo || quirks.reasoningAlways : cameSo && dialect.keepsReasoning;
  return {
    ...(isWanted ? { reasoning_content: text === '' ? ' ' : text } : {}),
    ...(item?.details ? { reasoning_details: item.details } : {}),
  };
};

/** What an earlier reply of this provider and model left to be sent back. */
const itemOf = (message: Message, { provider, host }: HostTraits, model: string): ChatItem | undefined => {
  for (const block of message.blocks) {
    if (block.type !== 'item' || block.provider !== provider || !isFields(block.data) || block.data['model'] !== model) continue;
    if (!isFromHost(block.data, host)) continue;
    const { reasoningField, details, extras } = block.data;
    return {
      model,
      ...(textOf(reasoningField) === 'reasoning_content' ? { reasoningField: 'reasoning_content' as const } : {}),
      ...(listOf(details).length > 0 ? { details: listOf(details).filter(isFields) } : {}),
      ...(isFields(extras) ? { extras } : {}),
    };
  }
  return undefined;
};

const textIn = (message: Message, between: string): string =>
  message.blocks
    .filter((block) => block.type === 'text')
    .map((block) => block.text)
    .join(between);
