/** The public catalogue of models: its file in the cache, which is renewed at most once a day and never needed. */
import { readFileSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { ModelInfo } from '../../../kernel/index.ts';
import { type Fields, fieldsOf, isFields, listOf, parseJson, textOf } from '../values.ts';
import { factsFrom, firstOf, flagOf, idOf, levelsOf, priceFrom, readFacts, type Reasoning, tokensOf } from './facts.ts';
import { replaceFile, requireFolder } from './files.ts';
import type { Catalogue } from './look-up.ts';
import { readJson } from './read.ts';

export const CATALOGUE_URL = 'https://models.dev/api.json';
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_MODELS = 20_000;
const FRESH_MS = 24 * 3_600_000;
/** After it could not be fetched. */
const AGAIN_MS = 3_600_000;

export interface CatalogueSource {
  /** `$CAST_HOME`. */
  readonly home: string;
  readonly url: string;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  /** Epoch milliseconds. */
  readonly now: number;
}

const fileIn = (home: string): string => join(home, 'cache', 'models-dev.json');

/** Fetched when the file is a day old; a stale file is better than none. Throws only when it could not be fetched. */
export const renewCatalogue = async (source: CatalogueSource): Promise<void> => {
  const file = fileIn(source.home);
  // A file of the future is one of a clock that was wrong.
  if (Math.abs(source.now - changedAt(file)) < FRESH_MS) return;
  const { fetch, signal } = source;
  // What could not be kept is not fetched, or each run would fetch it anew.
  requireFolder(file);
  try {
    const body = await readJson(source.url, { fetch, signal, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
    write(file, JSON.stringify(fromModelsDev(body)), source.now);
  } catch (error) {
    // An end of the process is no reason to wait; a failure is.
    if (!signal.aborted) write(file, textOfFile(file) ?? '{}', source.now - FRESH_MS + AGAIN_MS);
    throw error;
  }
};

/** Empty when there is none. */
export const savedCatalogue = (home: string): Catalogue => {
  const sellers = parseJson(textOfFile(fileIn(home)) ?? '');
  if (!isFields(sellers)) return {};
  return Object.fromEntries(Object.entries(sellers).map(([seller, models]) => [seller, listOf(models).flatMap(savedModel)]));
};
const savedModel = (value: unknown): ModelInfo[] => {
  const id = textOf(isFields(value) ? value['id'] : undefined);
  return id === undefined ? [] : [{ id, ...readFacts(value) }];
};

/** Its age is that of the file, so that nothing has to be read to know it. */
const changedAt = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
const write = (file: string, text: string, at: number): void => {
  replaceFile(file, text);
  utimesSync(file, at / 1000, at / 1000);
};
const textOfFile = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
};

// ---- the format of models.dev ----

/** Models by seller; those that do not write text are left out. Throws SyntaxError when it is something else. */
export const fromModelsDev = (body: unknown): Catalogue => {
  const catalogue = new Map<string, readonly ModelInfo[]>();
  let count = 0;
  for (const [seller, entry] of Object.entries(isFields(body) ? body : {})) {
    const models = Object.entries(fieldsOf(entry, 'models')).flatMap(([id, model]) => modelIn(id, model));
    count += models.length;
    if (count > MAX_MODELS) break;
    if (models.length > 0) catalogue.set(seller, models);
  }
  if (count === 0) throw new SyntaxError('there are no models in it');
  return Object.fromEntries(catalogue);
};

const modelIn = (key: string, model: unknown): ModelInfo[] => {
  const id = isFields(model) ? firstOf([model['id'], key], idOf) : undefined;
  if (!isFields(model) || id === undefined) return [];
  const modalities = fieldsOf(model, 'modalities');
  const output = listOf(modalities['output']);
  if (output.length > 0 && !output.includes('text')) return [];
  const cost = fieldsOf(model, 'cost');
  const input = listOf(modalities['input']);
  return [
    {
      id,
      ...factsFrom({
        contextWindow: tokensOf(fieldsOf(model, 'limit')['context']),
        maxOutput: tokensOf(fieldsOf(model, 'limit')['output']),
        price: priceFrom({ in: cost['input'], out: cost['output'], cacheRead: cost['cache_read'], cacheWrite: cost['cache_write'] }),
        reasoning: reasoningIn(model),
        images: input.length > 0 ? input.includes('image') : flagOf(model['attachment']),
      }),
    },
  ];
};

/** Levels are known where the catalogue names efforts; a switch alone, or a budget, names none. */
const reasoningIn = (model: Fields): Reasoning | undefined => {
  if (model['reasoning'] === false) return { levels: [] };
  const options = listOf(model['reasoning_options']).filter(isFields);
  const effort = options.find((option) => option['type'] === 'effort');
  const levels = levelsOf(effort?.['values']);
  if (levels.length === 0) return undefined;
  const usual = levelsOf([effort?.['default']])[0];
  const canBeOff = options.some((option) => option['type'] === 'toggle');
  return { levels: levelsOf(canBeOff ? ['off', ...levels] : levels), ...(usual === undefined ? {} : { default: usual }) };
};
