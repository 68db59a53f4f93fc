/** Token counts in the many shapes in which providers send them. */
import type { Delta } from '../../kernel/index.ts';
import { type Fields, fieldsOf, isFields, listOf, placeOf } from './values.ts';

export type UsageDelta = Extract<Delta, { type: 'usage' }>;

/** Of a chunk, wherever it keeps them; undefined when it has none. Asked for every token, so nothing is built for it. */
export const usageOf = (chunk: Fields): UsageDelta | undefined => {
  const usage = counted(chunk['usage']) ?? counted(fieldsOf(chunk, 'x_groq')['usage']) ?? inChoices(chunk['choices']);
  return usage && toDelta(usage);
};
const inChoices = (choices: unknown): Fields | undefined => {
  for (const choice of listOf(choices)) {
    const usage = isFields(choice) ? counted(choice['usage']) : undefined;
    if (usage) return usage;
  }
  return undefined;
};

const counted = (usage: unknown): Fields | undefined => (isFields(usage) && isCounted(usage) ? usage : undefined);
const isCounted = (usage: Fields): boolean =>
  first(usage['prompt_tokens'], usage['input_tokens'], usage['completion_tokens'], usage['output_tokens']) !== undefined;
const first = (...values: readonly unknown[]): number | undefined => values.map(countOf).find((value) => value !== undefined);
/** What is less than nothing, or more than can be counted, was not counted. */
const countOf = (value: unknown): number | undefined => {
  const count = placeOf(value);
  return count !== undefined && count >= 0 && count <= Number.MAX_SAFE_INTEGER ? count : undefined;
};

const toDelta = (usage: Fields): UsageDelta => {
  const input = { ...fieldsOf(usage, 'input_tokens_details'), ...fieldsOf(usage, 'prompt_tokens_details') };
  const output = { ...fieldsOf(usage, 'output_tokens_details'), ...fieldsOf(usage, 'completion_tokens_details') };
  const promptTokens = first(usage['prompt_tokens'], usage['input_tokens']) ?? 0;
  const completion = first(usage['completion_tokens'], usage['output_tokens']) ?? 0;
  const reasoningTokens = first(output['reasoning_tokens'], usage['reasoning_tokens']) ?? 0;
  const totalTokens = first(usage['total_tokens']) ?? promptTokens + completion;
  // Some leave reasoning out of the completion; their total gives them away.
  const isApart = reasoningTokens > 0 && totalTokens === promptTokens + completion + reasoningTokens;
  const cost = first(usage['cost']);
  return {
    type: 'usage',
    promptTokens,
    completionTokens: isApart ? completion + reasoningTokens : completion,
    totalTokens,
    cacheReadTokens: first(input['cached_tokens'], usage['prompt_cache_hit_tokens'], usage['cache_read_input_tokens'], usage['cached_tokens']) ?? 0,
    cacheWriteTokens: first(input['cache_write_tokens'], usage['cache_creation_input_tokens']) ?? 0,
    reasoningTokens,
    ...(cost === undefined ? {} : { cost }),
  };
};
