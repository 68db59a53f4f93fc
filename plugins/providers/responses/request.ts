/** A request in the words of the Responses API. */
import type OpenAI from 'openai';
import type { ModelRequest, ProviderConfig, ToolCard } from '../../../kernel/index.ts';
import { routingFields, sessionFields } from '../dialects/dialect.ts';
import { levelFor } from '../dialects/levels.ts';
import type { HostTraits } from '../wire.ts';
import { inputItems } from './input.ts';

export type ResponsesBody = OpenAI.Responses.ResponseCreateParamsStreaming;

export const responsesBody = (request: ModelRequest, host: HostTraits): ResponsesBody => {
  const { settings, dialect } = host;
  return {
    model: request.model,
    // Codex refuses to go without them.
    ...(request.system === '' && !dialect.isCodex ? {} : { instructions: request.system }),
    input: [...inputItems(request, host)],
    ...toolFields(request.tools),
    ...formatFields(request),
    ...(dialect.isCodex ? {} : samplingFields(request, settings)),
    ...reasoningFields(request, host),
    ...routingFields(dialect, settings),
    ...sessionFields(dialect, request.session),
    // Nothing is kept by the provider, so what it thought has to travel with the conversation.
    store: false,
    include: ['reasoning.encrypted_content'],
    stream: true,
  };
};

/** Strict tools would need schemas in which every property is required. */
const toolFields = (tools: readonly ToolCard[]): Partial<ResponsesBody> => {
  if (tools.length === 0) return {};
  const list = tools.map(({ name, description, input }) => ({ type: 'function' as const, name, description, parameters: { ...input }, strict: false }));
  return { tools: list, tool_choice: 'auto' };
};

const formatFields = ({ format }: ModelRequest): Partial<ResponsesBody> =>
  format === undefined ? {} : { text: { format: { type: 'json_schema', name: format.name, strict: true, schema: { ...format.schema } } } };

const samplingFields = ({ maxOutputTokens }: ModelRequest, { temperature, topP }: ProviderConfig): Partial<ResponsesBody> => ({
  ...(maxOutputTokens === undefined ? {} : { max_output_tokens: maxOutputTokens }),
  ...(temperature === undefined ? {} : { temperature }),
  ...(topP === undefined ? {} : { top_p: topP }),
});

const reasoningFields = ({ reasoning }: ModelRequest, { dialect, info, settings }: HostTraits): Partial<ResponsesBody> => {
  const { reasoningSummary, reasoningMaxTokens } = settings;
  const level = levelFor(reasoning, info?.reasoning, dialect);
  if (level === 'off') return {};
  const effort = level === 'on' ? 'medium' : level;
  const fields = {
    ...(effort === undefined ? {} : { effort }),
    ...(reasoningSummary === undefined ? {} : { summary: reasoningSummary }),
    ...(reasoningMaxTokens === undefined ? {} : { max_tokens: reasoningMaxTokens }),
  };
  return Object.keys(fields).length === 0 ? {} : { reasoning: fields as NonNullable<ResponsesBody['reasoning']> };
};
