/** A conversation as a flat stream of records, one JSON object each: what transcripts are written in, and what other programs read. */
import type { Block, CallBlock, Entry, Message, Usage } from './data.ts';
import { ERRORS, type ErrorCode } from './errors.ts';
import type { UsageRecord } from './contracts/usage.ts';

/** Only this one is read; fields and types of records may be added to it. */
export const RECORD_VERSION = 1;

export interface SessionRecordLine {
  readonly type: string;
  /** Number of the entry that it comes from. */
  readonly seq?: number;
  readonly [field: string]: unknown;
}
export interface RecordedSessionHead {
  readonly id: string;
  readonly cwd: string;
  readonly model: string;
  readonly createdAt: number;
  readonly tools?: readonly string[];
}

/** Always the first. */
export const sessionMeta = ({ id, cwd, model, createdAt, tools = [] }: RecordedSessionHead): SessionRecordLine => ({
  type: 'session_meta',
  format_version: RECORD_VERSION,
  session_id: id,
  timestamp: time(createdAt),
  working_directory: cwd,
  ...(model === '' ? {} : { model }),
  tools,
});

const time = (at: number): string => new Date(at).toISOString();

interface Task {
  readonly id: string;
  readonly startedAt: number;
  /** Requests that were answered. */
  turns: number;
  calls: number;
  result: string | undefined;
  usage: WireUsage;
  readonly denials: { readonly call_id: string; readonly tool_name: string; readonly reason: string }[];
}
interface OpenCall {
  readonly id: string;
  begun: boolean;
  output: SessionRecordLine | undefined;
}

/** Entries in, records out. Results are held back until they can be given in the order of their calls. */
export class RecordStream {
  readonly #session: string;
  #task: Task | undefined;
  #open: OpenCall[];

  /** `open`: calls of an earlier part of the stream that have no result yet. */
  constructor(session: string, open: readonly string[] = []) {
    this.#session = session;
    this.#open = open.map((id) => ({ id, begun: false, output: undefined }));
  }

  push(entries: readonly Entry[]): readonly SessionRecordLine[] {
    return entries.flatMap((entry, index) => {
      const records = this.#records(entry, entries[index + 1]);
      return records.map((record) => ({ ...record, seq: entry.seq }));
    });
  }

  #records(entry: Entry, next: Entry | undefined): readonly SessionRecordLine[] {
    switch (entry.kind) {
      case 'turn':
        return entry.data.phase === 'start' ? this.#start(entry.id, entry.at) : this.#end(entry.data, entry.at);
      case 'message':
        return this.#message(entry.data, entry, next);
      case 'rejected':
        return this.#rejected(entry.data, entry);
      case 'started':
        for (const call of this.#open) if (call.id === entry.data.call) call.begun = true;
        return [];
      case 'compaction':
        return [{ type: 'compaction', summary: entry.data.summary, timestamp: time(entry.at) }];
      default:
        return [];
    }
  }

  #start(id: string, at: number): readonly SessionRecordLine[] {
    this.#task = { id, startedAt: at, turns: 0, calls: 0, result: undefined, usage: NO_USAGE, denials: [] };
    return [{ type: 'task_start', session_id: this.#session, task_id: id, timestamp: time(at) }, ...this.#repairs(at)];
  }

  #message(message: Message, { id, at }: Entry, next: Entry | undefined): readonly SessionRecordLine[] {
    if (message.role === 'tool') return this.#results(message, at);
    if (message.role === 'user') return message.reminder ? [this.#context(textOf(message), at)] : [said(message, id, at)];
    const task = this.#task;
    if (task) {
      task.turns += 1;
      if (textOf(message).trim() !== '') task.result = textOf(message);
    }
    return [...this.#usage(next, at), ...this.#reply(message, id, at)];
  }

  #reply(message: Message, id: string, at: number): readonly SessionRecordLine[] {
    const reasoning = message.blocks.flatMap((block, index) => reasoningIn(block, `${id}#${index}`, at));
    const text = textOf(message).trim() === '' ? [] : [said(message, id, at)];
    const calls = message.blocks.filter((block) => block.type === 'call');
    this.#open = calls.map((call) => ({ id: call.id, begun: false, output: undefined }));
    return [...reasoning, ...text, ...calls.map((call) => called(call, `${id}#${call.id}`, at))];
  }

  #rejected({ message, reasons }: { readonly message: Message; readonly reasons: readonly string[] }, { id, at }: Entry): readonly SessionRecordLine[] {
    if (this.#task) this.#task.turns += 1;
    const reply = this.#reply(message, id, at);
    const unrun = this.#open.splice(0).map((call) => output(call.id, 'Not run: the reply that asked for it was turned back.', 'denied', at));
    return [...reply, ...unrun, this.#context(`Your reply was not delivered:\n${reasons.map((reason) => `- ${reason}`).join('\n')}`, at)];
  }

  #results(message: Message, at: number): readonly SessionRecordLine[] {
    for (const block of message.blocks) {
      if (block.type !== 'result') continue;
      const call = this.#open.find((each) => each.id === block.id && !each.output);
      if (!call) continue;
      call.output = output(block.id, block.content, block.status, at);
      if (!this.#task) continue;
      this.#task.calls += 1;
      if (block.status === 'denied' && block.error?.code === 'PERMISSION_DENIED')
        this.#task.denials.push({ call_id: block.id, tool_name: block.tool, reason: block.content });
    }
    const ready = this.#open.findIndex((call) => !call.output);
    return this.#open.splice(0, ready < 0 ? this.#open.length : ready).flatMap(({ output: record }) => record ?? []);
  }

  /** Every call has an output, whatever became of it. */
  #repairs(at: number): readonly SessionRecordLine[] {
    return this.#open.splice(0).map(({ id, begun, output: known }) => known ?? output(id, begun ? UNKNOWN : NOT_RUN, 'aborted', at));
  }

  #usage(next: Entry | undefined, at: number): readonly SessionRecordLine[] {
    const usage = next?.kind === 'plugin' ? usageIn(next.data.data) : undefined;
    if (!usage || !this.#task) return [];
    this.#task.usage = sum(this.#task.usage, usage);
    return [{ type: 'turn_usage', session_id: this.#session, task_id: this.#task.id, turn: this.#task.turns, usage, timestamp: time(at) }];
  }

  #context(content: string, at: number): SessionRecordLine {
    return { type: 'prompt_context', session_id: this.#session, task_id: this.#task?.id ?? '', role: 'user', content, timestamp: time(at) };
  }

  #end({ reason, code }: { readonly reason?: string; readonly code?: string }, at: number): readonly SessionRecordLine[] {
    const repairs = this.#repairs(at);
    const task = this.#task;
    this.#task = undefined;
    if (!task) return repairs;
    const complete = {
      type: 'task_complete',
      ...outcomeOf(reason, code, task.result),
      duration_ms: Math.max(0, at - task.startedAt),
      turn_count: task.turns,
      tool_call_count: task.calls,
      session_id: this.#session,
      task_id: task.id,
      usage: task.usage,
      ...(task.denials.length > 0 ? { permission_denials: task.denials } : {}),
      timestamp: time(at),
    };
    return [...repairs, complete];
  }
}

const NOT_RUN = 'This call was not executed. It may be issued again.';
const UNKNOWN = 'This call was started and its outcome is unknown. Check what it did before it is issued again.';

const textOf = ({ blocks }: Message): string => blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');

const said = (message: Message, id: string, at: number): SessionRecordLine => ({
  type: 'message',
  role: message.role,
  content: textOf(message),
  id,
  ...(message.incomplete ? { status: 'incomplete' } : {}),
  timestamp: time(at),
});
const reasoningIn = (block: Block, id: string, at: number): readonly SessionRecordLine[] => {
  if (block.type === 'reasoning') return [{ type: 'reasoning', id, content: [{ type: 'reasoning_text', text: block.text }], timestamp: time(at) }];
  return block.type === 'item' ? [{ type: 'reasoning', id, content: [block], timestamp: time(at) }] : [];
};
const called = ({ id: call, tool, arguments: text }: CallBlock, id: string, at: number): SessionRecordLine => {
  const wrong = parseError(text);
  return {
    type: 'function_call',
    id,
    call_id: call,
    name: tool,
    arguments: text,
    ...(wrong === undefined ? {} : { arguments_parse_error: wrong }),
    timestamp: time(at),
  };
};
const parseError = (text: string): string | undefined => {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
};
const output = (call: string, content: string, status: string, at: number): SessionRecordLine => ({
  type: 'function_call_output',
  call_id: call,
  output: content,
  status,
  timestamp: time(at),
});

const LIMITS: Readonly<Record<string, string>> = { TURN_LIMIT: 'max_turns', BUDGET_EXCEEDED: 'budget' };
const BROKEN: readonly string[] = ['CUT_OFF', 'DISCONNECTED'];

const outcomeOf = (reason: string | undefined, code = 'INTERNAL', result?: string): object => {
  const said = result === undefined ? {} : { result };
  if (reason === 'answered') return { subtype: 'success', is_error: false, ...said };
  if (reason === 'aborted') return { subtype: 'interrupted', is_error: true };
  const error = `${code}: ${ERRORS[code as ErrorCode]?.about ?? 'the turn failed'}`;
  const limit = LIMITS[code];
  if (limit !== undefined) return { subtype: 'limit_exceeded', is_error: true, limit, error, ...said };
  return { subtype: BROKEN.includes(code) ? 'cut_off' : 'error_during_execution', is_error: true, error };
};

// ---- usage, in the words of the Responses API ----

interface WireUsage {
  readonly input_tokens: number;
  readonly input_tokens_details: { readonly cached_tokens: number };
  readonly output_tokens: number;
  readonly output_tokens_details: { readonly reasoning_tokens: number };
  readonly total_tokens: number;
}
const wireUsage = (usage: Pick<Usage, 'promptTokens' | 'completionTokens' | 'cacheReadTokens' | 'reasoningTokens'>): WireUsage => ({
  input_tokens: usage.promptTokens,
  input_tokens_details: { cached_tokens: usage.cacheReadTokens },
  output_tokens: usage.completionTokens,
  output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  total_tokens: usage.promptTokens + usage.completionTokens,
});
// Written out: a call here would be run by whoever imports anything of the kernel.
const NO_USAGE: WireUsage = {
  input_tokens: 0,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 0,
};
const sum = (a: WireUsage, b: WireUsage): WireUsage => ({
  input_tokens: a.input_tokens + b.input_tokens,
  input_tokens_details: { cached_tokens: a.input_tokens_details.cached_tokens + b.input_tokens_details.cached_tokens },
  output_tokens: a.output_tokens + b.output_tokens,
  output_tokens_details: { reasoning_tokens: a.output_tokens_details.reasoning_tokens + b.output_tokens_details.reasoning_tokens },
  total_tokens: a.total_tokens + b.total_tokens,
});

/** Of the record that is stored with a reply, by whichever plugin: undefined when it is about something else. */
const usageIn = (data: unknown): WireUsage | undefined => {
  const { added } = (data ?? {}) as { readonly added?: unknown };
  return Array.isArray(added) && added.every(isUsage) ? added.map(wireUsage).reduce(sum, NO_USAGE) : undefined;
};
const isUsage = (value: unknown): value is UsageRecord => {
  const record = (value ?? {}) as Partial<Record<keyof UsageRecord, unknown>>;
  return typeof record.model === 'string' && COUNTS.every((key) => typeof record[key] === 'number');
};
const COUNTS = ['promptTokens', 'completionTokens', 'cacheReadTokens', 'reasoningTokens'] as const;
