/**
 * Sessions as older versions wrote them: messages of Chat Completions in a JSON object that describes the session, or one on each line
 * below a line that does.
 */
import type { Block, Entry, Message, NewEntry, SessionRecord, UsageTotals } from '../../kernel/index.ts';
import { type Fields, isObject, parsed, type Transcript } from './jsonl.ts';

/** Undefined for what has no id. Throws for what is no session. `folder` is the working directory where the file names none, `rootOf` finds its project. */
export const readLegacy = (text: string, folder: string | undefined, rootOf: (cwd: string) => string): Transcript | undefined => {
  const found = wholeIn(text) ?? linesIn(text);
  if (!found) throw new Error('it is no session');
  const { about, messages } = found;
  const id = textIn(about, 'id', 'sessionId', 'session_id');
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(id)) return undefined;
  const cwd = textIn(about, 'cwd', 'workingDirectory', 'working_directory') || folder || '/';
  const createdAt = timeIn(about, 'createdAt', 'created_at', 'startedAt') ?? 0;
  const updatedAt = timeIn(about, 'updatedAt', 'updated_at', 'lastUpdated') ?? createdAt;
  const entries = chained([...usageIn(id, about), ...entriesOf(messages)], createdAt, updatedAt);
  const record: SessionRecord = {
    id,
    cwd,
    root: rootOf(cwd),
    title: textIn(about, 'title'),
    model: textIn(about, 'model'),
    // Which provider it belonged to is not known, so that the one that is configured goes on.
    provider: '',
    parent: null,
    kind: 'conversation',
    createdAt,
    updatedAt,
    head: entries.at(-1)?.id ?? null,
    messages: 0,
    pinned: about['pinned'] === true,
  };
  return { record, entries };
};

interface Found {
  readonly about: Fields;
  readonly messages: readonly unknown[];
}
const wholeIn = (text: string): Found | undefined => {
  const value = parsed(text);
  return isObject(value) && Array.isArray(value['messages']) ? { about: value, messages: value['messages'] } : undefined;
};
/** A line that was torn off is no message. */
const linesIn = (text: string): Found | undefined => {
  const [about, ...rest] = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(parsed);
  if (!isObject(about) || about['role'] !== undefined) return undefined;
  return { about, messages: rest.map((line) => (isObject(line) && isObject(line['message']) ? line['message'] : line)) };
};

const textIn = (fields: Fields, ...keys: readonly string[]): string => {
  const found = keys.map((key) => fields[key]).find((value) => typeof value === 'string');
  return typeof found === 'string' ? found : '';
};
/** Epoch milliseconds of a number or an ISO date. */
const timeIn = (fields: Fields, ...keys: readonly string[]): number | undefined => {
  for (const key of keys) {
    const value = fields[key];
    const time = typeof value === 'string' ? Date.parse(value) : typeof value === 'number' ? Math.round(value) : Number.NaN;
    if (Number.isSafeInteger(time) && time >= 0) return time;
  }
  return undefined;
};

// ---- messages ----

interface Timed {
  readonly entry: NewEntry;
  readonly at?: number | undefined;
  /** Its message was no longer sent to the model. */
  readonly isOut?: boolean;
}

const entriesOf = (messages: readonly unknown[]): readonly Timed[] => {
  const tools = new Map<string, string>();
  const entries: Timed[] = [];
  let turn = 0;
  const endTurn = (): void => {
    if (turn > 0) entries.push({ entry: { kind: 'turn', data: { turn, phase: 'end', reason: 'answered' } } });
  };
  for (const each of messages) {
    const message = isObject(each) ? messageIn(each, tools) : undefined;
    if (!message || !isObject(each)) continue;
    if (message.role === 'user') {
      endTurn();
      turn += 1;
      entries.push({ entry: { kind: 'turn', data: { turn, phase: 'start' } }, at: timeOf(each) });
    }
    entries.push({ entry: { kind: 'message', data: message }, at: timeOf(each), isOut: each['inContext'] === false || each['in_context'] === false });
  }
  endTurn();
  return entries;
};
const timeOf = (message: Fields): number | undefined => timeIn(message, 'timestamp', 'createdAt', 'created_at', 'at');

const messageIn = (message: Fields, tools: Map<string, string>): Message | undefined => {
  const role = message['role'];
  if (role === 'user') return said('user', 'user', contentIn(message['content']));
  if (role === 'assistant') {
    const calls = callsIn(message['tool_calls'] ?? message['toolCalls']);
    for (const call of calls) tools.set(call.id, call.tool);
    const reasoning = textIn(message, 'reasoning_content', 'reasoning', 'thinking');
    const thought: readonly Block[] = reasoning === '' ? [] : [{ type: 'reasoning', text: reasoning }];
    return said('assistant', 'model', [...thought, ...contentIn(message['content']), ...calls]);
  }
  return role === 'tool' ? resultIn(message, tools) : undefined;
};
const resultIn = (message: Fields, tools: ReadonlyMap<string, string>): Message | undefined => {
  const id = textIn(message, 'tool_call_id', 'toolCallId');
  const tool = tools.get(id);
  // To a call that is not there it would be an answer to nothing.
  if (tool === undefined) return undefined;
  const content = contentIn(message['content']).map((block) => (block.type === 'text' ? block.text : ''));
  const isError = message['isError'] === true || message['is_error'] === true || message['status'] === 'error';
  return said('tool', tool, [{ type: 'result', id, tool, status: isError ? 'error' : 'ok', content: content.join('') }]);
};
const said = (role: Message['role'], origin: string, blocks: readonly Block[]): Message | undefined =>
  blocks.length > 0 ? { role, origin, blocks } : undefined;

const contentIn = (content: unknown): readonly Block[] => {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: unknown): Block[] => {
    if (!isObject(part)) return [];
    if (typeof part['text'] === 'string') return [{ type: 'text', text: part['text'] }];
    const url = isObject(part['image_url']) ? part['image_url']['url'] : part['image_url'];
    const [, mediaType, data] = (typeof url === 'string' && /^data:(image\/(?:png|jpeg|gif|webp));base64,([\w+/=]+)$/.exec(url)) || [];
    return mediaType !== undefined && data !== undefined ? [{ type: 'image', image: { mediaType, data } }] : [];
  });
};

type Call = Extract<Block, { type: 'call' }>;
const callsIn = (calls: unknown): readonly Call[] =>
  (Array.isArray(calls) ? calls : []).flatMap((call: unknown): Call[] => {
    if (!isObject(call)) return [];
    const made = isObject(call['function']) ? call['function'] : call;
    const [id, tool] = [textIn(call, 'id'), textIn(made, 'name')];
    const given = made['arguments'] ?? made['args'] ?? {};
    return id === '' || tool === '' ? [] : [{ type: 'call', id, tool, arguments: typeof given === 'string' ? given : JSON.stringify(given) }];
  });

// ---- what it used, and the order of it all ----

const COUNTS = [
  'promptTokens',
  'completionTokens',
  'totalTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'reasoningTokens',
  'uncachedTokens',
  'subagentTokens',
] as const satisfies readonly (keyof UsageTotals)[];

/** As the plugin that counts keeps it. */
const usageIn = (session: string, about: Fields): readonly Timed[] => {
  const { usage } = about;
  if (!isObject(usage)) return [];
  const number = (key: string): number => (typeof usage[key] === 'number' && usage[key] > 0 ? usage[key] : 0);
  const counts = Object.fromEntries(COUNTS.map((key) => [key, number(key)]));
  const totals = { ...counts, totalTokens: number('promptTokens') + number('completionTokens'), ...(number('cost') > 0 ? { cost: number('cost') } : {}) };
  if (totals.totalTokens === 0) return [];
  const data = { session, models: { [textIn(about, 'model') || 'unknown']: totals }, contextTokens: 0 };
  return [{ entry: { kind: 'plugin', data: { plugin: 'usage', slice: 'sums', data } } }];
};

/** Messages that were compacted away are followed by an entry that says so, in the place of the first that stayed. */
const chained = (timed: readonly Timed[], first: number, last: number): Entry[] => {
  const entries: Entry[] = [];
  let at = first;
  const add = (entry: NewEntry, time: number | undefined): void => {
    at = Math.max(at, time ?? Math.min(at + 1, Math.max(last, first)));
    const seq = entries.length + 1;
    entries.push({ ...entry, id: `e${seq}`, parent: entries.at(-1)?.id ?? null, seq, at } as Entry);
  };
  for (const { entry, at: time } of timed) add(entry, time);
  const lastOut = timed.findLastIndex(({ isOut }) => isOut === true);
  const keepFrom = lastOut < 0 ? undefined : entries.slice(lastOut + 1).find(({ kind }) => kind === 'message')?.id;
  if (keepFrom !== undefined)
    add(
      {
        kind: 'compaction',
        data: { summary: 'Earlier messages were compacted by an older version.', keepFrom, reason: 'command', tokensBefore: 0, tokensAfter: 0 },
      },
      undefined,
    );
  return entries;
};
