/** Asking about a model, in the background of a reply: a server of this machine about itself, the world about the rest. */
import { aim, type TargetParts } from '../target.ts';
import { reachOf } from './address.ts';
import { CATALOGUE_URL, renewCatalogue, savedCatalogue } from './catalogue.ts';
import type { Facts } from './facts.ts';
import { type Lesson, saveLesson } from './learnt.ts';
import { listModels } from './listing.ts';
import { readLocalModel } from './local.ts';
import { ModelIndex, sellerOf } from './look-up.ts';
import type { Metadata } from './metadata.ts';

/** What a provider far away says changes rarely; a server of this machine may be another the next time. */
const FRESH_MS = 24 * 3_600_000;

export interface Learning {
  readonly target: TargetParts;
  readonly metadata: Metadata;
  readonly baseUrl: string;
  /** `$CAST_HOME`. */
  readonly home: string;
  readonly fetch: typeof fetch;
  /** Aborts when the process ends. */
  readonly signal: AbortSignal;
  /** Whether the public catalogue may be fetched. */
  readonly catalogue: boolean;
  readonly debug: (message: string, data?: object) => void;
  /** For tests. */
  readonly catalogueUrl?: string;
}

/** Never throws. What it finds is known from then on, and saved for the next start. */
export const learnAbout = async (model: string, learning: Learning): Promise<void> => {
  const { metadata, baseUrl, home, target, debug } = learning;
  const reach = reachOf(baseUrl);
  const before = metadata.lesson(model);
  if (reach !== 'loopback' && before && isFresh(target.now(), before)) return;
  try {
    const found = reach === 'public' ? await aboutPublic(model, learning, before) : { reported: await aboutOwn(model, learning, reach) };
    if (learning.signal.aborted) return;
    const lesson: Lesson = { at: target.now(), ...filled({ ...before, ...filled(found) }) };
    metadata.learnt(model, lesson);
    if (isSame(lesson, before)) return;
    saveLesson(home, baseUrl, model, lesson);
  } catch (error) {
    debug(`nothing was learnt about the model ${model}`, { error: String(error) });
  }
};

/** One of the future is of a clock that was wrong. */
const isFresh = (now: number, { at }: Lesson): boolean => Math.abs(now - at) < FRESH_MS;

type Found = { readonly [K in 'reported' | 'catalogued']?: Facts | undefined };
const filled = ({ reported, catalogued }: Found): Pick<Lesson, 'reported' | 'catalogued'> => ({
  ...(reported ? { reported } : {}),
  ...(catalogued ? { catalogued } : {}),
});

/** The time alone is not worth a write, where it decides about nothing. */
const isSame = (lesson: Lesson, before: Lesson | undefined): boolean =>
  before !== undefined && isFresh(lesson.at, before) && JSON.stringify({ ...lesson, at: 0 }) === JSON.stringify({ ...before, at: 0 });

const aboutOwn = async (model: string, learning: Learning, reach: 'loopback' | 'private'): Promise<Facts | undefined> => {
  if (reach === 'private') return reported(model, learning);
  const { headers } = await aim(learning.target);
  const { fetch, signal, baseUrl } = learning;
  return readLocalModel({ fetch, signal, baseUrl, headers, model });
};

/** The provider is asked when nobody else knows the model, or when it knows more than others. */
const aboutPublic = async (model: string, learning: Learning, before: Lesson | undefined): Promise<Found> => {
  const seller = sellerOf(learning.baseUrl, learning.target.name);
  const catalogued = await inCatalogue(model, seller, learning);
  const isKnown = catalogued ?? before?.catalogued ?? learning.metadata.snapshot(model);
  return isKnown && seller !== 'openrouter' ? { catalogued } : { catalogued, reported: await reported(model, learning) };
};

const inCatalogue = async (model: string, seller: string, { catalogue, catalogueUrl = CATALOGUE_URL, ...at }: Learning): Promise<Facts | undefined> => {
  if (!catalogue) return undefined;
  const { home, fetch, signal, target, debug } = at;
  await renewCatalogue({ home, url: catalogueUrl, fetch, signal, now: target.now() }).catch((error: unknown) =>
    debug('the catalogue of models could not be fetched', { error: String(error) }),
  );
  return new ModelIndex(savedCatalogue(home)).find(seller, model);
};

const reported = async (model: string, { target, fetch, signal, debug }: Learning): Promise<Facts | undefined> => {
  try {
    const found = (await listModels(await aim(target), fetch, signal)).find(({ id }) => id === model);
    if (!found) return undefined;
    const { id: _, ...facts } = found;
    return facts;
  } catch (error) {
    debug('the models of the provider could not be read', { error: String(error) });
    return undefined;
  }
};
