import type { ModelInfo } from '../data.ts';

/** One shape in every layer. Programs write `settings.json`; people write `cast.config.*`, which wins within its layer. */

export interface ProviderConfig {
  /** What stands before `/chat/completions`. */
  readonly baseUrl?: string;
  readonly api?: 'chat' | 'responses';
  /** Name of a secret; default `CAST_API_KEY`. Empty: none is sent. Never the key itself. */
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** How it spells reasoning and caching; default: from the host. */
  readonly dialect?: string;
  /** Of OpenRouter alone, never sent elsewhere: who asks, for its statistics. Empty: it is not told. */
  readonly providerHeaders?: { readonly httpReferer?: string; readonly xTitle?: string };
  /** Of OpenRouter alone: the providers that may serve a request. */
  readonly only?: readonly string[];
  readonly temperature?: number;
  readonly topP?: number;
  /** Of the Responses API: `auto`, `concise` or `detailed`. */
  readonly reasoningSummary?: string;
  /** Tokens. */
  readonly reasoningMaxTokens?: number;
  /** The model that was last chosen of it, for going back to it. */
  readonly model?: string;
  /** How much each model reasons, by model; wins over the `reasoning` of all. */
  readonly reasoning?: Readonly<Record<string, string>>;
  /** What is known better than the provider says it, by model. */
  readonly models?: Readonly<Record<string, Omit<ModelInfo, 'id'>>>;
  readonly [key: string]: unknown;
}

export interface LimitsConfig {
  /** Model calls a turn. */
  readonly maxSteps?: number;
  /** US dollars a run. */
  readonly maxCost?: number;
  /** Tokens a run, prompt and completion together. */
  readonly maxTokens?: number;
  /** Tokens; for a model about which nothing is known. */
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
}

export interface PermissionsConfig {
  readonly mode?: 'default' | 'ask' | 'bypass';
  /** `tool` or `tool(pattern)`. */
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

export interface ModelSlots {
  /** For child sessions. */
  readonly subagent?: string;
  readonly plan?: string;
  readonly summary?: string;
  readonly judge?: string;
}

export interface CastConfig {
  readonly model?: string;
  /** Name of the active provider among `providers`, or of one that a plugin brings. */
  readonly provider?: string;
  readonly providers?: Readonly<Record<string, ProviderConfig>>;
  /** Other models than the main one, each `model` of the active provider or `provider/model`. */
  readonly models?: ModelSlots;
  /** `provider/model` or models of the active provider, tried in order when the first cannot go on. */
  readonly fallback?: readonly string[];
  readonly reasoning?: string;
  readonly permissions?: PermissionsConfig;
  readonly limits?: LimitsConfig;
  /** `false` off, `true` on, options, a plugin, or where to load one from. */
  readonly plugins?: Readonly<Record<string, unknown>>;
}

/** Nearest wins, from the first to the last. */
export const LAYERS = ['default', 'user-settings', 'user', 'project-settings', 'project-local', 'project', 'environment', 'flags', 'session'] as const;
export type LayerName = (typeof LAYERS)[number];

export interface ConfigLayer {
  readonly name: LayerName;
  /** Absent for layers that are no file. */
  readonly file?: string;
  readonly data: CastConfig;
}
export interface Origin {
  readonly layer: LayerName;
  readonly file?: string;
}
export interface ConfigView {
  readonly value: CastConfig;
  /** Where a key (`plugins.bash.timeoutMs`) was set; undefined when nobody set it. */
  origin(key: string): Origin | undefined;
  /** Every key that was set, with its value and origin. */
  entries(): readonly { readonly key: string; readonly value: unknown; readonly origin: Origin }[];
}
