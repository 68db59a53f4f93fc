/** One model of a listing, in the words of whoever lists it. */
import type { ModelInfo } from '../../../kernel/index.ts';
import { type Fields, fieldsOf, isFields, listOf, textOf } from '../values.ts';
import { amountOf, factsFrom, firstOf, flagOf, idOf, levelsOf, type Price, priceFrom, type Reasoning, tokensOf } from './facts.ts';

/** Of providers that accept these for each model that reasons. */
const COMMON_LEVELS = ['off', 'low', 'medium', 'high'];
const ALL_LEVELS = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
/** Models that answer with something other than text. */
const OTHER_TYPES = /^(?:embeddings?|rerank(?:er)?|image|audio|video|moderation|transcribe|transcription|tts|stt)$/i;
/** US dollars: nothing is sold for less a million tokens, nor for more a token. */
const LEAST_A_MILLION = 0.001;

/** Undefined for what is no model that one can talk to. */
export const readEntry = (entry: unknown): ModelInfo | undefined => {
  if (!isFields(entry)) return undefined;
  const id = firstOf([entry['id'], entry['key'], entry['model'], entry['name'], entry['slug']], idOf);
  if (id === undefined || isOther(entry)) return undefined;
  const parts = { contextWindow: windowOf(entry), maxOutput: outputOf(entry), price: priceOf(entry), reasoning: reasoningOf(entry), images: imagesOf(entry) };
  return { id, ...factsFrom(parts) };
};

const isOther = (entry: Fields): boolean => {
  const type = textOf(entry['type']);
  if (type !== undefined && OTHER_TYPES.test(type)) return true;
  const output = modalitiesOf(entry, 'output');
  return output.length > 0 && !output.includes('text');
};

// ---- tokens ----

/** What is loaded comes before what would be possible. */
const windowOf = (entry: Fields): number | undefined => {
  const limits = limitsIn(entry);
  const loaded = tokensOf(entry['loaded_context_length']);
  if (loaded !== undefined) return loaded;
  const said = firstOf(
    [
      ...['context_length', 'context_window', 'max_model_len', 'max_context_length', 'context_size', 'max_context_tokens'].map((key) => entry[key]),
      ...['inputTokenLimit', 'input_token_limit', 'max_input_tokens'].map((key) => entry[key]),
      ...['max_context_window_tokens', 'context', 'max_input_tokens'].map((key) => limits[key]),
      fieldsOf(entry, 'metadata')['context_length'],
      ...['n_ctx', 'n_ctx_train'].map((key) => fieldsOf(entry, 'meta')[key]),
    ],
    tokensOf,
  );
  const served = tokensOf(fieldsOf(entry, 'top_provider')['context_length']);
  return said !== undefined && served !== undefined ? Math.min(said, served) : (served ?? said);
};

const outputOf = (entry: Fields): number | undefined => {
  const limits = limitsIn(entry);
  return firstOf(
    [
      fieldsOf(entry, 'top_provider')['max_completion_tokens'],
      ...['max_completion_tokens', 'max_output_tokens', 'max_output_length', 'outputTokenLimit', 'output_token_limit'].map((key) => entry[key]),
      ...['max_output_tokens', 'output'].map((key) => limits[key]),
      fieldsOf(entry, 'metadata')['max_tokens'],
      entry['max_tokens'],
    ],
    tokensOf,
  );
};

const limitsIn = (entry: Fields): Fields => ({
  ...fieldsOf(entry, 'limit'),
  ...fieldsOf(fieldsOf(entry, 'capabilities'), 'limits'),
  ...fieldsOf(entry, 'limits'),
});

// ---- prices ----

const priceOf = (entry: Fields): Price | undefined => {
  const pricing = { ...fieldsOf(entry, 'cost'), ...fieldsOf(fieldsOf(entry, 'metadata'), 'pricing'), ...fieldsOf(entry, 'pricing') };
  const aToken = priceFrom({
    in: timesMillion(pricing['prompt']),
    out: timesMillion(pricing['completion']),
    cacheRead: timesMillion(pricing['input_cache_read']),
    cacheWrite: timesMillion(pricing['input_cache_write']),
  });
  return aToken ?? priceOfInput(pricing);
};

/** `input` and `output` are said a million tokens by most, and a token by some. */
const priceOfInput = (pricing: Fields): Price | undefined => {
  const said = {
    in: amountOf(pricing['input'] ?? pricing['input_tokens']),
    out: amountOf(pricing['output'] ?? pricing['output_tokens']),
    cacheRead: firstOf([pricing['input_cache_read'], pricing['cached_input'], pricing['cache_read'], pricing['cache_read_tokens']], amountOf),
    cacheWrite: firstOf([pricing['input_cache_write'], pricing['cache_write']], amountOf),
  };
  const isAToken = Math.max(said.in ?? 0, said.out ?? 0) < LEAST_A_MILLION;
  return priceFrom(isAToken ? Object.fromEntries(Object.entries(said).map(([key, value]) => [key, timesMillion(value)])) : said);
};

/** Without the noise that binary fractions leave behind the twelfth digit. */
const timesMillion = (value: unknown): number | undefined => {
  const amount = amountOf(value);
  return amount === undefined ? undefined : Number((amount * 1e6).toPrecision(12));
};

// ---- abilities ----

const imagesOf = (entry: Fields): boolean | undefined => {
  const input = modalitiesOf(entry, 'input');
  if (input.length > 0) return input.includes('image');
  const able = fieldsOf(entry, 'capabilities');
  const said = firstOf(
    [able['vision'], fieldsOf(able, 'supports')['vision'], entry['supports_image_in'], entry['supports_image_input'], entry['supports_vision']],
    flagOf,
  );
  if (said !== undefined) return said;
  const type = entry['type'];
  if (type === 'vlm' || type === 'llm') return type === 'vlm';
  return listOf(entry['capabilities']).some((each) => each === 'vision' || each === 'multimodal') || undefined;
};

/** Empty when nothing is said. */
const modalitiesOf = (entry: Fields, side: 'input' | 'output'): readonly unknown[] => {
  const architecture = fieldsOf(entry, 'architecture');
  const lists = [architecture[`${side}_modalities`], fieldsOf(entry, 'modalities')[side], entry[`${side}_modalities`], entry[`supported_${side}_modalities`]];
  const list = lists.map(listOf).find((each) => each.length > 0);
  if (list) return list;
  // As in `text+image->text`.
  const [input = '', output = ''] = textOf(architecture['modality'])?.split('->') ?? [];
  return (side === 'input' ? input : output).split('+').filter((each) => each !== '');
};

const reasoningOf = (entry: Fields): Reasoning | undefined => {
  if (isFields(entry['reasoning'])) return describedBy(entry['reasoning']);
  const able = fieldsOf(entry, 'capabilities');
  const efforts = [fieldsOf(able, 'supports')['reasoning_effort'], entry['supported_reasoning_efforts']].map(levelsOf).find((each) => each.length > 0);
  if (efforts) return { levels: efforts };
  if (firstOf([able['reasoning'], entry['supports_reasoning'], entry['reasoning']], flagOf) === false) return { levels: [] };
  const parameters = entry['supported_parameters'];
  if (!Array.isArray(parameters) || parameters.length === 0) return undefined;
  return { levels: parameters.includes('reasoning') || parameters.includes('reasoning_effort') ? COMMON_LEVELS : [] };
};

/** A list that is null says that all levels are taken, one that is not there that nothing is known of them. */
const describedBy = (reasoning: Fields): Reasoning => {
  const efforts = reasoning['supported_efforts'];
  const levels = efforts === null ? ALL_LEVELS : Array.isArray(efforts) ? levelsOf(['off', ...efforts]) : COMMON_LEVELS;
  const isAlwaysOn = reasoning['mandatory'] === true;
  const usual = reasoning['default_enabled'] === false ? 'off' : levelsOf([reasoning['default_effort']])[0];
  return {
    levels: isAlwaysOn ? levels.filter((level) => level !== 'off') : levels,
    ...(usual === undefined || (isAlwaysOn && usual === 'off') ? {} : { default: usual }),
  };
};
