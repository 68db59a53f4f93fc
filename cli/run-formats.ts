/** What a run prints: each event as a line of `stream-json`, as a line for people, and as its share of the one object of `json`. */
import type { CastEvent, EndReason, EventMap, EventType, Message, Usage } from '../kernel/index.ts';
import { addUsage, NO_USAGE } from '../kernel/session/tally.ts';
import { cut, oneLine } from './style.ts';

// ---- stream-json ----

export interface Line {
  readonly type: string;
  /** Epoch milliseconds. */
  readonly timestamp: number;
  readonly sessionId: string;
  readonly [field: string]: unknown;
}

type Encoder<K extends EventType> = (data: EventMap[K], version: string) => { readonly type: string; readonly [field: string]: unknown };
const as =
  <K extends EventType>(type: string, fields: (data: EventMap[K], version: string) => object): Encoder<K> =>
  (data, version) => ({ type, ...fields(data, version) });
const given = <K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } =>
  (value === undefined ? {} : { [key]: value }) as { readonly [P in K]?: V };

/** Events that are not named here are for surfaces that draw more than a run does. */
const ENCODERS: { readonly [K in EventType]?: Encoder<K> } = {
  'session.opened': as('session', ({ cwd, model, tools }, version) => ({ cwd, model, version, tools })),
  'text.delta': as('token', ({ text }) => ({ text })),
  'reasoning.delta': as('thinking', ({ text }) => ({ text })),
  'text.retracted': as('retract', ({ chars }) => ({ chars })),
  'reply.accepted': as('assistant_message', ({ message, visible }) => ({
    content: visible,
    ...given('thinking', thinkingOf(message)),
    toolCalls: message.blocks.flatMap((block) => (block.type === 'call' ? [{ id: block.id, name: block.tool, arguments: block.arguments }] : [])),
  })),
  'tool.started': as('tool_start', ({ id, tool, input }) => ({ id, name: tool, args: input })),
  'tool.ended': as('tool_end', ({ id, tool, status, content, error, durationMs }) => ({
    id,
    name: tool,
    status,
    result: content,
    ...given('error', error),
    durationMs,
  })),
  usage: as('usage', ({ usage, provider, model, estimated, child }) => ({
    usage,
    provider,
    model,
    ...given('estimated', estimated),
    ...given('subagent', child),
  })),
  retry: as('retry', ({ attempt, delayMs, reason }) => ({ attempt, delayMs, reason })),
  compacted: as('compaction', ({ messages, tokensBefore, tokensAfter, reason }) => ({
    messagesCompacted: messages,
    tokensBefore,
    tokensAfter,
    trigger: reason,
  })),
  'compaction.failed': as('compaction_failed', ({ reason, why }) => ({ reason: why, trigger: reason })),
  'question.answered': as('permission', ({ id, tool, text, choice, path }) => ({
    id,
    ...given('tool', tool),
    question: text,
    answer: choice,
    ...given('subagents', path),
  })),
  'tap.fault': as('plugin_fault', ({ plugin, hook, message, quarantined }) => ({ plugin, hook, message, quarantined })),
  notice: as('notice', ({ text, code }) => ({ text, ...given('code', code) })),
  warning: as('warning', ({ text, code }) => ({ text, ...given('code', code) })),
  error: as('error', ({ code, message, retryable, suggestedFix }) => ({ code, message, retryable, ...given('suggestedFix', suggestedFix) })),
  'turn.ended': as('end', ({ reason, exitCode }) => ({ reason, exitCode })),
  plugin: as('plugin', ({ plugin, name, data }) => ({ plugin, name, data })),
};

const thinkingOf = (message: Message): string | undefined => {
  const texts = message.blocks.flatMap((block) => (block.type === 'reasoning' ? [block.text] : []));
  return texts.length === 0 ? undefined : texts.join('');
};

/** Undefined for events that have no line. */
export const lineOf = (event: CastEvent, version: string): Line | undefined => {
  const encode = ENCODERS[event.type] as Encoder<EventType> | undefined;
  if (!encode) return undefined;
  const { type, ...fields } = encode(event.data as never, version);
  return { type, timestamp: event.at, sessionId: event.session, ...fields };
};

// Readers that split at every Unicode line end would cut a line in two.
const LINE_ENDS = /[\u0085\u2028\u2029]/g;
const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** One line of JSON without a line feed. What a plugin sends may be no JSON at all. */
export const jsonLine = (value: object): string => {
  try {
    return JSON.stringify(value).replace(LINE_ENDS, escaped);
  } catch {
    return JSON.stringify({ ...value, data: null, unprintable: true }).replace(LINE_ENDS, escaped);
  }
};

/** `seq` is the number of the line, from 1. */
export const numbered = ({ type, ...rest }: Line, seq: number): string => jsonLine({ type, seq, ...rest });

// ---- json ----

export interface RunError {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly suggestedFix?: string;
}
export interface RunResult {
  readonly sessionId: string;
  readonly cwd: string;
  readonly model: string;
  /** Text of the last reply; what had come of it when the turn broke off. */
  readonly result: string;
  readonly error: RunError | null;
  readonly reason: EndReason;
  readonly turns: number;
  readonly steps: number;
  readonly toolCalls: number;
  readonly usage: Usage;
  readonly durationMs: number;
  readonly permissionDenials: readonly { readonly id: string; readonly tool: string; readonly reason: string }[];
}

export const emptyResult = (cwd: string): RunResult => ({
  sessionId: '',
  cwd,
  model: '',
  result: '',
  error: null,
  reason: 'error',
  turns: 0,
  steps: 0,
  toolCalls: 0,
  usage: NO_USAGE,
  durationMs: 0,
  permissionDenials: [],
});

/** What an event adds to the result. */
export const addToResult = (result: RunResult, event: CastEvent): RunResult => {
  switch (event.type) {
    case 'session.opened':
      return { ...result, sessionId: event.session, cwd: event.data.cwd, model: event.data.model };
    case 'workspace.moved':
      return { ...result, cwd: event.data.to };
    case 'reply.accepted':
    case 'reply.partial':
      return { ...result, result: event.data.visible };
    case 'tool.ended': {
      const { id, tool, denied } = event.data;
      return denied === undefined ? result : { ...result, permissionDenials: [...result.permissionDenials, { id, tool, reason: denied }] };
    }
    case 'question.answered': {
      // A call of a child session ends in that one's own events.
      const { path, by, call, tool = '', text } = event.data;
      if (!path || by !== 'nobody' || call === undefined) return result;
      return { ...result, permissionDenials: [...result.permissionDenials, { id: call, tool, reason: text }] };
    }
    case 'error':
      return { ...result, error: event.data };
    case 'turn.ended': {
      const { reason, steps, toolCalls, usage, durationMs } = event.data;
      return {
        ...result,
        reason,
        turns: result.turns + 1,
        steps: result.steps + steps,
        toolCalls: result.toolCalls + toolCalls,
        usage: addUsage(result.usage, usage),
        durationMs: result.durationMs + durationMs,
      };
    }
    default:
      return result;
  }
};

// ---- text ----

const SHOWN = 160;

/** What standard error says about an event; undefined for nothing. The answer itself goes to standard output. */
export const remarkOn = (event: CastEvent): string | undefined => {
  switch (event.type) {
    case 'tool.started':
      return `  ${event.data.tool} ${cut(oneLine(argumentsOf(event.data.input)), SHOWN)}`.trimEnd();
    case 'tool.ended': {
      const { tool, status, content } = event.data;
      if (status === 'ok') return undefined;
      return `  ${tool} ${status === 'error' ? 'failed' : status}: ${cut(oneLine(content), SHOWN)}`;
    }
    case 'retry': {
      const { attempt, delayMs, reason } = event.data;
      return `  retry ${attempt} ${delayMs === 0 ? 'at once' : `in ${delayMs / 1000} s`}: ${cut(oneLine(reason), SHOWN)}`;
    }
    case 'compacted':
      return `  compacted ${event.data.messages} messages: ${event.data.tokensBefore} to ${event.data.tokensAfter} tokens`;
    case 'compaction.failed':
      return `  not compacted: ${cut(oneLine(event.data.why), SHOWN)}`;
    case 'tap.fault': {
      const { plugin, hook, message, quarantined } = event.data;
      return `plugin ${plugin} failed in ${hook}${quarantined ? ' and is closed' : ''}: ${oneLine(message)}`;
    }
    case 'notice':
      return oneLine(event.data.text);
    case 'warning':
      return `warning: ${oneLine(event.data.text)}`;
    case 'error':
      return describeError(event.data);
    default:
      return undefined;
  }
};

export const describeError = ({ message, suggestedFix }: Pick<RunError, 'message' | 'suggestedFix'>): string =>
  `cast: ${oneLine(message)}${suggestedFix === undefined ? '' : `\n      ${oneLine(suggestedFix)}`}`;

/** The one argument that says most: a command, a path, a pattern; else all of them. */
const argumentsOf = (input: unknown): string => {
  if (typeof input !== 'object' || input === null) return String(input);
  const { command, path, filePath, pattern } = input as Readonly<Record<string, unknown>>;
  const texts = [command, pattern, path ?? filePath].filter((value) => typeof value === 'string');
  return texts.length > 0 ? texts.join(' ') : JSON.stringify(input);
};
