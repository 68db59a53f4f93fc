/** Which provider and model answer, and what they allow. */
import type { CastConfig } from '../contracts/config.ts';
import type { ModelInfo, Provider, Purpose } from '../data.ts';
import { CastError } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { type ModelRef, readModelRef } from '../model-ref.ts';
import type { Generation } from './generation.ts';

export type Route = ModelRef;
export interface SessionLimits {
  readonly steps: number;
  /** Tokens. */
  readonly contextWindow: number;
  /** Tokens. */
  readonly maxOutputTokens: number;
}

/** What is known of the model comes before what is configured for models of which nothing is known. */
export const limitsOf = ({ limits = {} }: CastConfig, info: ModelInfo | undefined): SessionLimits => {
  const { maxSteps = LIMITS.steps, contextWindow = LIMITS.contextWindow } = limits;
  const { maxOutput } = info ?? {};
  const wished = limits.maxOutputTokens ?? (maxOutput === undefined ? LIMITS.maxOutputTokens : LIMITS.knownOutputTokens);
  return { steps: maxSteps, contextWindow: info?.contextWindow ?? contextWindow, maxOutputTokens: Math.min(wished, maxOutput ?? wished) };
};

/** In tokens. */
interface Room {
  readonly contextWindow: number;
  /** Undefined when nobody knows it. */
  readonly maxOutput: number | undefined;
  readonly prompt: number;
}
/** What a request may ask for, so that prompt and reply fit into the window together, and the model gives it. */
export const withinRoom = (wished: number, { contextWindow, maxOutput = Infinity, prompt }: Room): number =>
  Math.min(wished, maxOutput, Math.max(LIMITS.leastOutputTokens, contextWindow - prompt - LIMITS.windowMargin));

export const activeProvider = ({ config, providers }: Generation): Provider | undefined => {
  const name = config.value.provider;
  return name === undefined ? providers.all()[0]?.item : providers.get(name);
};

/** By name, else the active one. Throws CONFIG_NO_MODEL when it is not there. */
export const providerNamed = (generation: Generation, name = generation.config.value.provider): Provider => {
  const provider = name === undefined ? activeProvider(generation) : generation.providers.get(name);
  if (provider) return provider;
  const names = generation.providers
    .all()
    .map(({ item }) => item.name)
    .join(', ');
  throw new CastError(
    'CONFIG_NO_MODEL',
    name === undefined ? 'no provider is configured' : `there is no provider ${name}${names === '' ? '' : `; known: ${names}`}`,
    {
      fix: 'Set CAST_BASE_URL, CAST_API_KEY and CAST_MODEL, or write `provider`, `providers` and `model` into settings.json.',
    },
  );
};

/** Flags first; then what was chosen for this model; then what is set for all. Undefined: as the provider has it. */
export const reasoningOf = ({ config }: Generation, { provider, model }: Route): string | undefined => {
  const { reasoning, providers = {} } = config.value;
  if (config.origin('reasoning')?.layer === 'flags') return reasoning;
  const chosen = (Object.hasOwn(providers, provider) ? providers[provider]?.reasoning : undefined) ?? {};
  return (Object.hasOwn(chosen, model) ? chosen[model] : undefined) ?? reasoning;
};

interface Wanted {
  readonly purpose: Purpose;
  /** The main model. */
  readonly model: string;
  readonly isChild: boolean;
  readonly asked: string | undefined;
}

export const routeOf = (generation: Generation, { purpose, model, isChild, asked }: Wanted): Route => {
  const active = providerNamed(generation).name;
  const ref = asked ?? slotOf(generation.config.value, purpose, isChild);
  if (ref === undefined) return { provider: active, model };
  const names = generation.providers.all().map(({ item }) => item.name);
  return readModelRef(ref, names, active);
};

const slotOf = ({ models }: CastConfig, purpose: Purpose, isChild: boolean): string | undefined => {
  if (purpose === 'judge' || purpose === 'summary') return models?.[purpose];
  return purpose === 'main' && isChild ? models?.subagent : undefined;
};

/** By which a stored model is known to belong to the active provider. */
export const providerId = ({ provider, providers = {} }: CastConfig): string =>
  provider === undefined ? '' : withoutKeys(providers[provider]?.baseUrl ?? provider);

/** It is stored with the session: an address without its login, and without its query, which may hold a key. */
const withoutKeys = (id: string): string => {
  if (!/[?@]/.test(id) || !URL.canParse(id)) return id;
  const { protocol, host, pathname } = new URL(id);
  return `${protocol}//${host}${pathname}`;
};
