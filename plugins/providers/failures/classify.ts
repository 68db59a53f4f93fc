/** Names what went wrong: one classifier for HTTP errors, errors inside a stream, and connections that fail. */
import { ProviderError, type ProviderFailure } from '../../../kernel/index.ts';
import { causeOf, misconfigured } from './causes.ts';
import { type ErrorBody, readErrorBody } from './error-body.ts';
import { type HeaderSource, retryAfterOf } from './retry-after.ts';

/** Where a request went, for the message. */
export interface Place {
  /** Host of the base URL. */
  readonly host: string;
  /** Name of the secret that holds the key. */
  readonly keyName: string;
  /** Never shown. */
  readonly key: string | undefined;
  readonly model: string;
  /** Epoch milliseconds, for delays given as a date. */
  now(): number;
}
export interface Refusal {
  /** 200 when the error came inside a reply. */
  readonly status: number;
  readonly headers?: HeaderSource;
  readonly body: unknown;
}

export const classifyRefusal = (refusal: Refusal, place: Place): ProviderError => {
  const body = readErrorBody(refusal.body);
  const status = refusal.status >= 300 ? refusal.status : (body.status ?? refusal.status);
  const retryAfterMs = retryAfterOf(refusal.headers, body.parsed, body.said, place.now());
  const kind = kindOf(status, body, retryAfterMs !== undefined);
  const http = status >= 300 ? ` (HTTP ${status})` : '';
  const said = body.said === '' ? '' : `: ${withoutKeys(body.said, place.key)}`;
  return new ProviderError(kind, `${HEADLINES[kind](place)}${http}${said}`, {
    status,
    fix: fixOf(kind, place),
    ...(retryAfterMs !== undefined && WAITABLE.has(kind) ? { retryAfterMs } : {}),
  });
};

/** A body with status 200 that is neither a stream nor a completion. */
export const notAReply = (text: string, place: Place): ProviderError => {
  const said = readErrorBody(text).said.slice(0, 300);
  return new ProviderError(
    'bad_request',
    `${place.host} answered with something that is no model reply${said === '' ? '' : `: ${withoutKeys(said, place.key)}`}`,
    {
      status: 200,
      fix: 'Check the base URL of the provider: it usually ends in /v1.',
    },
  );
};

const WAITABLE: ReadonlySet<ProviderFailure> = new Set(['rate', 'overload']);

// ---- which kind ----

interface Rule {
  readonly kind: ProviderFailure;
  readonly statuses?: readonly number[];
  readonly codes?: RegExp;
  readonly says?: RegExp;
  /** The rule does not hold when this fits code or wording. */
  readonly unless?: RegExp;
}

/** The first that fits decides, so what waiting or another key cannot mend stands before what its status suggests. */
const RULES: readonly Rule[] = [
  {
    kind: 'refused',
    statuses: [421, 441],
    codes: /content_filter|content_policy|moderation|data_inspection_failed|responsibleai/,
    says: /content management policy|content filter|content policy|moderation|flagged (as|for|by)|risk control/,
  },
  {
    kind: 'overflow',
    statuses: [413],
    codes: /context_length_exceeded|exceed_context_size|max_prompt_tokens_exceeded|context_window_exceeded|invalid_request_prompt/,
    says: new RegExp(
      [
        'maximum (context|model|prompt) length',
        'exceed(ed|s) (the )?model token limit',
        'context (length|window|size)',
        'context limit',
        'request too large',
        '(prompt|input|request) (is )?(too (long|large)|exceeds)',
        'exceeds the (limit of \\d+|maximum number of tokens)',
        'input token count',
        'token limit reached',
        'max_new_tokens. must be <=',
        'max_tokens must be at least 1, got -',
        'context the overflows',
        'reduce the length of the (messages|input|prompt)',
        'too many (input|prompt) tokens',
      ].join('|'),
    ),
    unless: /the maximum value for .max_(completion_)?tokens|prompt tokens limit|per minute limit exceeded/,
  },
  {
    kind: 'quota',
    statuses: [402],
    codes: /insufficient_quota|billing|arrearage|accountoverdue|\b1113\b|\b1308\b/,
    says: /insufficient (balance|funds|credit)|balance is insufficient|overdue balance|available credits|exceeded your current quota|usage limit|any credits|out of credits|credit balance|payment required|余额不足|欠费|残高不足|잔액|quota (has been )?exceeded/,
    unless: /resource_exhausted/,
  },
  {
    kind: 'auth',
    statuses: [401, 403],
    codes: /invalid_api_key|authentication|permission_denied|invalid_token/,
    says: /api key (provided|not valid|is invalid)|(invalid|incorrect|missing|wrong) api key|authentication fail|login fail|unauthori[sz]ed/,
  },
  {
    kind: 'overload',
    codes: /overloaded|queue_exceeded|unavailable|capacity_exhausted/,
    says: /overloaded|high traffic|over capacity|not ready yet|loading model/,
  },
  { kind: 'rate', statuses: [429], codes: /rate_?limit|too_many_requests|resource_exhausted/, says: /rate.?limit|too many requests/ },
  {
    kind: 'not_found',
    statuses: [404, 410],
    codes: /model_not_found|deploymentnotfound/,
    says: /model\b.{0,80}\b(does not exist|not found)|no models? loaded|unknown model/,
  },
  { kind: 'overload', statuses: [408, 409, 425, 498, 499], codes: /server_error|internal_error|upstream|timeout/ },
];

const kindOf = (status: number, body: ErrorBody, hasDelay: boolean): ProviderFailure => {
  const said = body.said.toLowerCase();
  const found = RULES.find((rule) => fits(rule, status, body.codes, said));
  // A quota with a delay is one that fills up again.
  if (found?.kind === 'quota' && hasDelay && status === 429) return 'rate';
  if (found) return found.kind;
  if (status >= 500) return 'overload';
  if (status >= 300 || /invalid|bad_?request|tool_use_failed/.test(body.codes)) return 'bad_request';
  // The provider had taken the request on and failed then.
  return 'overload';
};
const fits = (rule: Rule, status: number, codes: string, said: string): boolean =>
  !rule.unless?.test(`${codes} ${said}`) && (rule.statuses?.includes(status) || rule.codes?.test(codes) || rule.says?.test(said) || false);

// ---- what the user is told ----

const HEADLINES: Readonly<Record<ProviderFailure, (place: Place) => string>> = {
  overflow: () => 'The conversation does not fit into the context window of the model',
  rate: ({ host }) => `${host} limits the rate of requests`,
  overload: ({ host }) => `${host} is overloaded or failing`,
  network: ({ host }) => `${host} cannot be reached`,
  stall: ({ host }) => `${host} stopped sending`,
  auth: ({ host, key }) => (key === undefined ? `${host} wants an API key, and none is set` : `${host} refused the API key or access to the model`),
  quota: ({ host }) => `The account at ${host} has no quota or credit left`,
  refused: () => 'The content filter of the provider refused the request',
  not_found: ({ host, model }) => `${host} does not know the model ${model}`,
  bad_request: ({ host }) => `${host} refused the request as invalid`,
  cut: ({ host }) => `The reply of ${host} was cut off`,
  empty: ({ host }) => `${host} returned nothing`,
  other: ({ host }) => `${host} failed`,
};

const fixOf = (kind: ProviderFailure, { keyName, host }: Place): string => {
  switch (kind) {
    case 'auth':
      return `Check the key in ${keyName}, and that it may use this model.`;
    case 'quota':
      return `Add credit or raise the limit at ${host}, or choose another provider.`;
    case 'not_found':
      return 'Check the name of the model (-m, CAST_MODEL) and the base URL of the provider.';
    case 'overflow':
      return 'Compact the conversation (/compact) or choose a model with a larger context window.';
    case 'rate':
    case 'overload':
      return 'Try again later, or choose another model or provider.';
    case 'refused':
      return 'Rephrase the prompt, or choose another model.';
    default:
      return 'Check the settings of the model and the provider.';
  }
};

/** The key itself, and whatever looks like one. */
const withoutKeys = (text: string, key: string | undefined): string => {
  const known = key !== undefined && key.length >= 6 ? text.replaceAll(key, '[key]') : text;
  return known.replace(/\b(sk|pk|gsk|xai|key|csk)-[\w-]{12,}/g, '[key]').replace(/\bBearer\s+\S{8,}/gi, 'Bearer [key]');
};

// ---- connections ----

/** Of whatever `fetch` or the body of its answer threw. */
export const classifyConnection = (error: unknown, { host, key }: Place): ProviderError => {
  const setting = misconfigured(error);
  if (setting !== undefined)
    return new ProviderError('bad_request', `${host} was not asked: ${setting.message}`, {
      cause: error,
      ...(setting.fix === undefined ? {} : { fix: setting.fix }),
    });
  const { says, fix, detail } = causeOf(error);
  return new ProviderError('network', `${host} cannot be reached: ${says} (${withoutKeys(detail, key).slice(0, 300)})`, { cause: error, fix });
};
