/** Whether an endpoint and a model work: tried before anything is saved. */
import {
  CastError,
  type ErrorCode,
  isCastError,
  isProviderError,
  messageOf,
  type ModelInfo,
  type Provider,
  type ProviderConfig,
  type ProviderFailure,
} from '../../../kernel/index.ts';
import { manifest } from '../manifest.ts';
import { compare, type Desk, usage } from './desk.ts';
import { withinTime } from './time.ts';

/** Milliseconds for a list of models. */
const PROBE_MS = 15_000;
/** Milliseconds for the first word of a model: a local server may have to load it first. */
const MODEL_MS = 120_000;

/** Sorted; undefined where it gives no list, which is no reason to refuse it. */
export type Listed = readonly ModelInfo[] | undefined;

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::|\/|$)/i;
/** Paths that people copy along with the address. */
const COPIED = /\/(?:chat\/completions|responses|models)\/?$/;

/** `localhost:1234` is an address as well. Throws CLI_USAGE. */
export const addressOf = (given: string): string => {
  const text = given.includes('://') ? given : `${LOOPBACK.test(given) ? 'http' : 'https'}://${given}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw usage(`${given} is no address of a provider`, 'Give one such as https://api.openai.com/v1.');
  if (url.username !== '' || url.password !== '') throw usage('the address holds a user name or a password', 'Give the key by itself, behind the address.');
  return `${url.origin}${url.pathname.replace(COPIED, '').replace(/\/+$/, '')}${url.search}`;
};

export interface Candidate {
  readonly name: string;
  readonly config: ProviderConfig;
  readonly key: string | undefined;
}
export interface Checked {
  readonly config: ProviderConfig;
  readonly provider: Provider;
  readonly models: Listed;
}

/** Throws CastErrors that tell a wrong key, a missing permission and an unreachable host apart. */
export const checkEndpoint = async (desk: Desk, { name, config, key }: Candidate, signal: AbortSignal): Promise<Checked> => {
  const at = async (baseUrl: string): Promise<Checked> => {
    const candidate = { ...config, baseUrl };
    const provider = desk.connect(name, candidate, key ?? '');
    return { config: candidate, provider, models: await listModels(desk, provider, signal) };
  };
  const baseUrl = addressOf(config.baseUrl ?? '');
  const given = await at(baseUrl);
  const { origin, pathname } = new URL(baseUrl);
  if (given.models !== undefined || pathname !== '/') return given;
  // Addresses are often copied without their path.
  const longer = await at(`${origin}/v1`);
  return longer.models === undefined ? given : longer;
};

/** Throws CastErrors where the provider cannot be used; an answer that is no list is none. */
export const listModels = async ({ scope }: Desk, provider: Provider, outer: AbortSignal): Promise<Listed> => {
  try {
    const models = await withinTime({ clock: scope.clock, ms: PROBE_MS, who: provider.name }, outer, async (signal) => provider.models?.(signal));
    return models && [...models].sort((one, other) => compare(one.id, other.id));
  } catch (error) {
    outer.throwIfAborted();
    if (!isProviderError(error) || UNUSABLE.has(error.kind)) throw asCastError(error);
    return undefined;
  }
};
/** A limit that is reached shows that the key is good. */
const UNUSABLE: ReadonlySet<ProviderFailure> = new Set(['auth', 'network', 'stall', 'overload', 'other']);

/** Asks the model for a word, and leaves when the first part of the reply is there. Throws CastErrors. */
export const checkModel = async ({ scope }: Desk, provider: Provider, model: string, outer: AbortSignal): Promise<void> => {
  const request = {
    purpose: 'hook' as const,
    session: scope.session.id,
    provider: provider.name,
    model,
    system: '',
    messages: [{ role: 'user' as const, origin: manifest.name, blocks: [{ type: 'text' as const, text: 'Reply with OK.' }] }],
    tools: [],
    maxOutputTokens: 16,
  };
  try {
    await withinTime({ clock: scope.clock, ms: MODEL_MS, who: `${model} of ${provider.name}` }, outer, async (signal) => {
      for await (const _ of provider.stream(request, signal)) return;
    });
  } catch (error) {
    outer.throwIfAborted();
    if (!isProviderError(error) || !ANSWERED.has(error.kind)) throw asCastError(error);
  }
};
/** The model was there, if not with what one would wish. */
const ANSWERED: ReadonlySet<ProviderFailure> = new Set(['rate', 'cut', 'empty']);

const CODES: Readonly<Partial<Record<ProviderFailure, ErrorCode>>> = {
  auth: 'MODEL_AUTH',
  quota: 'MODEL_QUOTA',
  overload: 'MODEL_OVERLOADED',
  network: 'MODEL_UNREACHABLE',
  stall: 'MODEL_UNREACHABLE',
  not_found: 'MODEL_NOT_FOUND',
  bad_request: 'MODEL_BAD_REQUEST',
  refused: 'REFUSED',
};
const asCastError = (error: unknown): CastError => {
  if (isCastError(error)) return error;
  if (!isProviderError(error)) return new CastError('MODEL_FAILED', messageOf(error), { cause: error });
  const isForbidden = error.kind === 'auth' && error.status === 403;
  return new CastError(CODES[error.kind] ?? 'MODEL_FAILED', isForbidden ? `${error.message} (the key is known and may not do this)` : error.message, {
    cause: error,
    ...(error.fix === undefined ? {} : { fix: error.fix }),
  });
};
