/**
 * The one error class and the table of its codes. Codes are part of the public face: never reused, never renamed,
 * listed in `docs/errors.md` and checked against it by a test.
 */

export interface ErrorTrait {
  /** Exit code of a process that ends because of it; see the table in `docs/errors.md`. */
  readonly exit: 1 | 2 | 3;
  /** Whether the same request may succeed later without anybody changing anything. */
  readonly retryable: boolean;
  readonly about: string;
}

const trait = (exit: 1 | 2 | 3, about: string, retryable = false): ErrorTrait => ({ exit, retryable, about });

export const ERRORS = {
  CONFIG_INVALID: trait(3, 'A configuration file cannot be read, or a key in it has the wrong type or value.'),
  CONFIG_UNKNOWN_PLUGIN: trait(3, 'The configuration names a plugin that does not exist.'),
  CONFIG_NO_MODEL: trait(3, 'No provider or no model is configured.'),
  CONFIG_UNTRUSTED: trait(3, 'Something of a project was asked for that is used only once the project is trusted.'),
  CLI_USAGE: trait(3, 'A flag, a command or an argument is wrong.'),
  PLUGIN_INVALID: trait(3, 'A plugin module does not export a plugin, or its manifest is wrong.'),
  PLUGIN_REFUSED: trait(3, 'A plugin cannot run here: something it needs is missing or off.'),
  PLUGIN_FAILED: trait(1, 'The set-up of a plugin threw.'),
  PLUGIN_QUARANTINED: trait(1, 'A guarding plugin was closed after repeated faults, so what it guards is refused.'),
  PLUGIN_EXIT: trait(1, 'A plugin called process.exit(), which only the command line may do.'),
  HOOK_UNKNOWN: trait(1, 'A plugin asked for a hook that does not exist.'),
  HOOK_FAULT: trait(1, 'A tap threw, took too long or answered with something its hook does not know.'),
  SERVICE_MISSING: trait(1, 'No active plugin provides the service that was asked for.'),
  REGISTRY_CONFLICT: trait(1, 'Two plugins registered something under one name.'),
  SESSION_UNKNOWN: trait(3, 'There is no session with this id, or none to continue here.'),
  SESSION_BUSY: trait(1, 'Another process, or another turn, is writing this session.', true),
  SESSION_CLOSED: trait(1, 'The session has been closed.'),
  CHILD_TOO_DEEP: trait(1, 'A child session wanted a child of its own below the depth that is allowed.'),
  INPUT_EMPTY: trait(3, 'There is no prompt.'),
  INPUT_TOO_LARGE: trait(3, 'The prompt or standard input is over its limit.'),
  ANSWER_INVALID: trait(3, 'An answer to a question does not fit what was asked.'),
  TURN_LIMIT: trait(1, 'The turn reached the limit of steps, calls or time that was set for it.'),
  BUDGET_EXCEEDED: trait(1, 'The next request could go over the budget of a run, a session or a day, so it was not sent.'),
  BUDGET_NO_PRICE: trait(3, 'A budget in money is set, and the price of the model is not known.'),
  REPLY_REJECTED: trait(1, 'Every reply of the model was turned back by a plugin.'),
  EMPTY_REPLY: trait(1, 'The model returned nothing, twice.', true),
  REFUSED: trait(1, 'The model or its content filter refused to answer.'),
  CUT_OFF: trait(1, 'The reply was cut off before its end and could not be completed.', true),
  DISCONNECTED: trait(1, 'The connection to the provider broke in the middle of a reply.', true),
  MODEL_NOT_FOUND: trait(1, 'The provider does not know this model.'),
  MODEL_FAILED: trait(1, 'The provider failed in a way that is not known.'),
  MODEL_BAD_REQUEST: trait(1, 'The provider refused the request as invalid.'),
  MODEL_OVERFLOW: trait(1, 'The conversation does not fit into the context window of the model.'),
  MODEL_AUTH: trait(2, 'The provider refused the key.'),
  MODEL_QUOTA: trait(2, 'The account at the provider has no quota or credit left.'),
  MODEL_RATE: trait(2, 'The provider limits the rate of requests.', true),
  MODEL_OVERLOADED: trait(2, 'The provider is overloaded or failing.', true),
  MODEL_UNREACHABLE: trait(2, 'The provider cannot be reached.', true),
  HISTORY_BAD_CUT: trait(1, 'A compaction asked for a cut that would part a call from its result or drop the running prompt.'),
  COMPACTION_FAILED: trait(1, 'A compaction that was asked for did not come about; the conversation is as it was.'),
  HISTORY_BAD_MOVE: trait(1, 'The head of a session cannot be moved there.'),
  STORE_UNAVAILABLE: trait(1, 'The session store cannot be opened or written.'),
  STORE_CORRUPT: trait(1, 'The session store is damaged.'),
  STORE_LEASE_LOST: trait(1, 'Another process took over the session while a turn was running.'),
  TRUST_STORE: trait(3, 'The record of trusted projects cannot be read; every project counts as untrusted.'),
  REPLAY_INVALID: trait(3, 'A recording cannot be read or does not fit the conversation.'),
  INTERNAL: trait(1, 'A fault in cast itself.'),
} as const satisfies Record<string, ErrorTrait>;

export type ErrorCode = keyof typeof ERRORS;

export interface CastErrorOptions {
  readonly cause?: unknown;
  /** What to do next, in one sentence; surfaces show it after the message. */
  readonly fix?: string;
  /** Who is to blame, when a plugin is. */
  readonly plugin?: string;
  readonly hook?: string;
}

/** Every error that cast raises on purpose. The message says what and where; `fix` says what to do next. */
export class CastError extends Error {
  override readonly name = 'CastError';
  readonly code: ErrorCode;
  readonly fix: string | undefined;
  readonly plugin: string | undefined;
  readonly hook: string | undefined;
  constructor(code: ErrorCode, message: string, options: CastErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.fix = options.fix;
    this.plugin = options.plugin;
    this.hook = options.hook;
  }
  get exit(): 1 | 2 | 3 {
    return ERRORS[this.code].exit;
  }
  get retryable(): boolean {
    return ERRORS[this.code].retryable;
  }
}

// By name, not by class: a plugin may bring its own copy of this module.
export const isCastError = (error: unknown): error is CastError => error instanceof Error && error.name === 'CastError' && 'code' in error;

/** Text of anything that was thrown, on one line at most 2,000 characters long. */
export const messageOf = (error: unknown): string => {
  const text = textOf(error);
  return text.length > 2000 ? `${text.slice(0, 2000)}…` : text;
};

// Anything can be thrown, and some things cannot be made a text.
const textOf = (error: unknown): string => {
  try {
    return error instanceof Error ? error.message || error.name : String(error);
  } catch {
    return 'an error without a text';
  }
};

/** What went wrong between cast and a model. `kind` decides about retries, the exit code and what the user is told. */
export type ProviderFailure =
  | 'overflow'
  | 'rate'
  | 'overload'
  | 'network'
  | 'stall'
  | 'auth'
  | 'quota'
  | 'refused'
  | 'not_found'
  | 'bad_request'
  | 'cut'
  | 'empty'
  | 'other';

export interface ProviderErrorOptions {
  /** HTTP status, where there was one. */
  readonly status?: number;
  /** How long the provider asks to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
  readonly fix?: string;
}

/** Thrown by a provider's `stream`. Anything else that it throws counts as `other`. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly kind: ProviderFailure;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly fix: string | undefined;
  constructor(kind: ProviderFailure, message: string, options: ProviderErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
    this.fix = options.fix;
  }
}
export const isProviderError = (error: unknown): error is ProviderError => error instanceof Error && error.name === 'ProviderError' && 'kind' in error;
