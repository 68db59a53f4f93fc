/** Configuration that comes from the environment of the client; see `docs/config.md` for the variables. */
import { CastError, type CastConfig } from '../../kernel/index.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Name of the provider that the environment describes. */
const PROVIDER = 'env';

/** `active` is the provider that the files choose: CAST_API alone is about that one. */
export const environmentConfig = (environment: Environment, active?: string): CastConfig => {
  const baseUrl = environment['CAST_BASE_URL'] || environment['OPENAI_BASE_URL'];
  const api = apiOf(environment['CAST_API']);
  const provider = baseUrl ? PROVIDER : api && active;
  const settings = { ...(baseUrl ? { baseUrl, ...keyOf(environment) } : {}), ...(api ? { api } : {}) };
  const limits = { ...tokens(environment, 'CAST_CONTEXT_WINDOW', 'contextWindow'), ...tokens(environment, 'CAST_MAX_OUTPUT', 'maxOutputTokens') };
  return {
    ...(environment['CAST_MODEL'] ? { model: environment['CAST_MODEL'] } : {}),
    ...(provider ? { provider, providers: { [provider]: settings } } : {}),
    ...(Object.keys(limits).length > 0 ? { limits } : {}),
  };
};

/** An empty CAST_API_KEY is a key as well: none, for a server on this machine. */
const keyOf = (environment: Environment): { readonly key?: string } =>
  environment['CAST_API_KEY'] === undefined && environment['OPENAI_API_KEY'] !== undefined ? { key: 'OPENAI_API_KEY' } : {};

const apiOf = (value: string | undefined): 'chat' | 'responses' | undefined => {
  if (!value) return undefined;
  if (value === 'chat' || value === 'responses') return value;
  throw wrong('CAST_API', '"chat" or "responses"', value);
};

const tokens = (environment: Environment, name: string, key: string): Readonly<Record<string, number>> => {
  const value = environment[name];
  if (!value) return {};
  const count = Number(value);
  if (!Number.isSafeInteger(count) || count <= 0) throw wrong(name, 'a whole number of tokens above 0', value);
  return { [key]: count };
};

const wrong = (name: string, expected: string, got: string): CastError =>
  new CastError('CONFIG_INVALID', `${name} must be ${expected}, got "${got.slice(0, 60)}" (environment)`, { fix: `Correct or unset ${name}.` });
