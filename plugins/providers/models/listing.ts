/** The models that a provider lists under `/models`. */
import { isCastError, isProviderError, messageOf, type ModelInfo, ProviderError } from '../../../kernel/index.ts';
import { classifyConnection, classifyRefusal } from '../failures/classify.ts';
import type { Target } from '../target.ts';
import { isFields, listOf } from '../values.ts';
import { readEntry } from './entry.ts';
import { HttpStatusError, readJson } from './read.ts';

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_MODELS = 5_000;

/** Asks once. Throws ProviderError. */
export const listModels = async (target: Target, fetch: typeof globalThis.fetch, signal: AbortSignal): Promise<readonly ModelInfo[]> => {
  try {
    const { headers } = target;
    return readListing(await readJson(target.address('/models'), { fetch, signal, headers, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES }));
  } catch (error) {
    signal.throwIfAborted();
    throw explained(error, target);
  }
};

const explained = (error: unknown, { place }: Target): Error => {
  const at = { ...place, model: '' };
  if (isProviderError(error) || isCastError(error)) return error;
  if (error instanceof HttpStatusError) {
    if (error.status !== 404 && error.status !== 405) return classifyRefusal(error, at);
    return new ProviderError('not_found', `${at.host} lists no models (HTTP ${error.status})`, { status: error.status, fix: 'Type the name of the model.' });
  }
  if (error instanceof SyntaxError || error instanceof RangeError)
    return new ProviderError('bad_request', `${at.host} answered with no list of models: ${messageOf(error)}`, { fix: 'Check the base URL of the provider.' });
  if ((error as Error).name === 'TimeoutError')
    return new ProviderError('network', `${at.host} gave no list of models within ${TIMEOUT_MS / 1000} seconds`, { fix: 'Try again, or type the name.' });
  return classifyConnection(error, at);
};

/** Whatever is no model is left out; of two with one id the first counts. */
export const readListing = (body: unknown): readonly ModelInfo[] => {
  const models = new Map<string, ModelInfo>();
  for (const entry of entriesOf(body).slice(0, MAX_MODELS)) {
    const model = readEntry(entry);
    if (model && !models.has(model.id)) models.set(model.id, model);
  }
  return [...models.values()];
};

export const entriesOf = (body: unknown): readonly unknown[] => {
  if (!isFields(body)) return listOf(body);
  return [body['data'], body['models'], body['result']].map(listOf).find((list) => list.length > 0) ?? [];
};
