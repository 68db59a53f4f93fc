/** What a host wants otherwise than most, as far as its name tells: reasoning, the limit of a reply, caching, ids. */
import type { ModelInfo, ProviderConfig } from '../../../kernel/index.ts';
import { hostFits, isAzure, isCodex, isMistral, isOpenAI } from './hosts.ts';
import { levelFor } from './levels.ts';
import { AUTO, type DialectName, isDialectName } from './names.ts';
import { SIGNS, TABLE } from './table.ts';

export type LimitField = 'max_tokens' | 'max_completion_tokens';

export interface Dialect {
  readonly name: DialectName;
  /** How it calls the limit of the reply in Chat Completions. */
  readonly limitField: LimitField;
  /** `marks`: parts of the request are marked; `key`: sessions are told apart by a key; `none`: nothing is sent. */
  readonly cache: 'marks' | 'key' | 'none';
  /** It takes call ids of nine letters and digits only. */
  readonly shortIds: boolean;
  /** Reasoning goes back with replies that called nothing as well. */
  readonly keepsReasoning: boolean;
  /** The address of the Codex command line. */
  readonly isCodex: boolean;
  /** Levels of reasoning to choose from for a model of which nothing is known, the least first. */
  readonly levels: readonly string[];
  /** What `max` means for such a model. */
  readonly top: string;
}

/** Asked for each request, and always the same for the same words. */
const known = new Map<string, Dialect>();
const MAX_KNOWN = 200;

/** `setting` is `providers.NAME.dialect`; what is no dialect counts as `auto`, as the configuration was checked before. */
export const dialectOf = (baseUrl: string, model: string, setting: string | undefined): Dialect => {
  const key = JSON.stringify([baseUrl, model, setting]);
  const before = known.get(key);
  if (before) return before;
  if (known.size >= MAX_KNOWN) known.clear();
  const dialect = read(new URL(baseUrl), model, setting);
  known.set(key, dialect);
  return dialect;
};

const read = (url: URL, model: string, setting: string | undefined): Dialect => {
  const name = setting !== undefined && setting !== AUTO && isDialectName(setting) ? setting : detected(url, model);
  const { levels, top, keepsReasoning = false } = TABLE[name];
  return {
    name,
    limitField: name === 'openai' || isOpenAI(url) || isAzure(url) ? 'max_completion_tokens' : 'max_tokens',
    cache: name === 'openrouter' ? 'marks' : isOpenAI(url) ? 'key' : 'none',
    shortIds: isMistral(url),
    keepsReasoning,
    isCodex: isCodex(url),
    levels,
    top,
  };
};

const detected = (url: URL, model: string): DialectName => SIGNS.find((sign) => hostFits(url, sign) || sign.models?.test(model) === true)?.dialect ?? 'generic';

/** Fields of a Chat Completions body; none where nothing is asked for. `known`: what is known of the model. */
export const reasoningFields = (dialect: Dialect, wanted: string | undefined, model: string, known?: ModelInfo['reasoning']): object => {
  const level = levelFor(wanted, known, dialect);
  if (level === undefined) return {};
  const { on, off } = TABLE[dialect.name];
  return level === 'off' ? off(model) : on(level, model);
};

/** By what a provider keeps the requests of a session together in its cache; in both formats. */
export const sessionFields = ({ cache }: Dialect, session: string): object => {
  if (cache === 'marks') return { session_id: session };
  return cache === 'key' ? { prompt_cache_key: `cast:${session}` } : {};
};

/** Which providers behind OpenRouter may answer; in both formats. */
export const routingFields = ({ name }: Dialect, { only = [] }: ProviderConfig): object =>
  name !== 'openrouter' || only.length === 0 || (only.length === 1 && only[0] === 'all') ? {} : { provider: { only: [...only] } };
