/** Sessions as JSON lines: a line with a version and what describes the session, then each entry of every branch, the oldest first. */
import type { Entry, EntryKind, SessionRecord } from '../../kernel/index.ts';
import type { CastError } from '../../kernel/index.ts';
import { usageError } from '../arguments.ts';

const TYPE = 'cast-session';
const VERSION = 1;

export const headerLine = (record: SessionRecord): string => `${JSON.stringify({ type: TYPE, version: VERSION, session: record })}\n`;

export const isExported = (text: string): boolean => headerOf(parsed(text.slice(0, Math.max(0, text.indexOf('\n'))))) !== undefined;

const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

export interface Transcript {
  readonly record: SessionRecord;
  readonly entries: Entry[];
}
export interface ReadTranscripts {
  readonly transcripts: readonly Transcript[];
  /** What is wrong with which line. */
  readonly problems: readonly string[];
}

/** Throws when the file is of another kind, or of a newer cast. Lines that cannot be used are named and left out. */
export const readTranscripts = (text: string): ReadTranscripts => {
  const transcripts: Transcript[] = [];
  const problems: string[] = [];
  let number = 0;
  for (const line of linesOf(text)) {
    number += 1;
    if (line.trim() === '') continue;
    const value = parsed(line);
    const header = headerOf(value);
    const current = transcripts.at(-1);
    if (header instanceof Error) throw header;
    if (header) transcripts.push({ record: header, entries: [] });
    else if (!current) throw foreign();
    else {
      const entry = entryOf(value, current.entries.at(-1));
      if (typeof entry === 'string') problems.push(`line ${number} ${entry}`);
      else current.entries.push(entry);
    }
  }
  if (transcripts.length === 0) throw foreign();
  return { transcripts, problems };
};

/** One after another: an array of them all would double what a large file takes. */
function* linesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from);
    yield text.slice(from, end === -1 ? text.length : end);
    from = end === -1 ? text.length : end + 1;
  }
}

const foreign = (): CastError => usageError('this is no exported session', 'Make one with `cast sessions export ID --format jsonl -o FILE`.');

export type Fields = Readonly<Record<string, unknown>>;
export const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
export const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
};

const headerOf = (value: unknown): SessionRecord | Error | undefined => {
  if (!isObject(value) || value['type'] !== TYPE) return undefined;
  if (value['version'] !== VERSION) return usageError('this session was exported by another version of cast', 'Import it with that version, or a newer one.');
  const { session } = value;
  if (!isObject(session)) return foreign();
  const text = (key: string): string => (typeof session[key] === 'string' ? session[key] : '');
  const time = (key: string): number => (Number.isSafeInteger(session[key]) ? Number(session[key]) : 0);
  const id = text('id');
  if (!ID.test(id)) return foreign();
  const kind = (['conversation', 'child', 'background'] as const).find((each) => each === session['kind']) ?? 'conversation';
  return {
    id,
    cwd: text('cwd'),
    root: text('root'),
    title: text('title'),
    model: text('model'),
    provider: text('provider'),
    parent: text('parent') || null,
    kind,
    createdAt: time('createdAt'),
    updatedAt: time('updatedAt'),
    head: session['head'] === null ? null : text('head'),
    messages: time('messages'),
    pinned: session['pinned'] === true,
  };
};

/** The entry of a line, or what is wrong with it. */
const entryOf = (value: unknown, before: Entry | undefined): Entry | string => {
  if (!isObject(value)) return 'is no JSON object';
  const { id, parent, seq, at, kind, data } = value;
  const last = before?.seq ?? 0;
  const wrong = CHECKS.find(([isRight]) => !isRight(value, last));
  // Kind and content were checked as far as anything that reads them depends on it.
  return wrong ? wrong[1] : ({ id, parent, seq, at, kind, data } as unknown as Entry);
};

const contentCheck = (kind: unknown): ((data: Fields) => boolean) | undefined =>
  typeof kind === 'string' && Object.hasOwn(CONTENTS, kind) ? CONTENTS[kind as EntryKind] : undefined;
const CHECKS: readonly (readonly [isRight: (entry: Fields, last: number) => boolean, what: string])[] = [
  [({ id }) => typeof id === 'string' && id !== '' && id.length <= 128, 'has no id'],
  [({ parent }) => parent === null || typeof parent === 'string', 'has no parent'],
  [({ seq }, last) => Number.isSafeInteger(seq) && Number(seq) > last, 'has a number that does not rise'],
  [({ at }) => Number.isSafeInteger(at), 'has no time'],
  [({ kind }) => contentCheck(kind) !== undefined, 'is of a kind that this cast does not know'],
  [({ kind, data }) => isObject(data) && contentCheck(kind)?.(data) === true, 'has no content'],
];

const hasTexts = (data: Fields, ...keys: readonly string[]): boolean => keys.every((key) => typeof data[key] === 'string');
const CONTENTS: Readonly<Record<EntryKind, (data: Fields) => boolean>> = {
  message: (data) => isMessage(data),
  rejected: ({ message, reasons }) => isMessage(message) && Array.isArray(reasons),
  started: (data) => hasTexts(data, 'call', 'tool'),
  compaction: (data) => hasTexts(data, 'summary', 'keepFrom'),
  mask: (data) => hasTexts(data, 'entry', 'note'),
  workspace: (data) => hasTexts(data, 'cwd'),
  turn: ({ turn, phase }) => Number.isSafeInteger(turn) && (phase === 'start' || phase === 'end'),
  plugin: (data) => hasTexts(data, 'plugin', 'slice'),
  snapshot: ({ turn, states, unfolded }) => Number.isSafeInteger(turn) && isObject(states) && Object.values(states).every(isObject) && Array.isArray(unfolded),
};

const isMessage = (value: unknown): boolean =>
  isObject(value) &&
  (value['role'] === 'user' || value['role'] === 'assistant' || value['role'] === 'tool') &&
  typeof value['origin'] === 'string' &&
  Array.isArray(value['blocks']) &&
  value['blocks'].every((block) => isObject(block) && isBlock(block));

const isBlock = (block: Fields): boolean => {
  if (block['type'] === 'text' || block['type'] === 'reasoning') return hasTexts(block, 'text');
  if (block['type'] === 'call') return hasTexts(block, 'id', 'tool', 'arguments');
  if (block['type'] === 'result') return hasTexts(block, 'id', 'tool', 'content', 'status');
  if (block['type'] === 'image')
    return isObject(block['image']) && typeof block['image']['mediaType'] === 'string' && typeof block['image']['data'] === 'string';
  return block['type'] === 'item' && hasTexts(block, 'provider');
};
