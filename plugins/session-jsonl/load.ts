/**
 * Reads a transcript. Whatever is wrong in it is named with its line; an unfinished last line is no error, and stays none when it is followed
 * by a record `torn_line` that says so.
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { CastError, RECORD_VERSION, type SessionRecordLine } from '../../kernel/index.ts';
import { MAX_FILE_BYTES, MAX_LINE } from './limits.ts';

export interface Loaded {
  readonly meta: SessionRecordLine;
  /** Physical, from 1; undefined when the last line is whole. */
  readonly tornLine: number | undefined;
  /** Calls that have no output yet. */
  readonly open: readonly string[];
  /** The newest task, with the calls that were open when it began and the number of its records so far. */
  readonly task: { readonly id: string; readonly open: readonly string[]; readonly records: number } | undefined;
  /** The highest that a record has. */
  readonly seq: number;
}

/** Throws STORE_CORRUPT naming file and line. `take` is given each record as it is read. */
export const loadTranscript = async (file: string, take: (record: SessionRecordLine, line: number) => void = () => undefined): Promise<Loaded> => {
  const corrupt = (line: number, what: string): CastError =>
    new CastError('STORE_CORRUPT', `${file}, line ${line}: ${what}`, { fix: 'It is left as it is. Move it away to begin a new transcript.' });
  const { size } = await stat(file);
  if (size > MAX_FILE_BYTES) throw corrupt(1, `the transcript has more than ${MAX_FILE_BYTES} bytes`);
  const isWhole = await endsWithNewline(file, size);
  const reading = new Reading(corrupt, take);
  for await (const text of createInterface({ input: createReadStream(file, { encoding: 'utf8' }), crlfDelay: Number.POSITIVE_INFINITY })) reading.read(text);
  return reading.end(isWhole);
};

const isAbout = (record: SessionRecordLine | string, line: number): boolean =>
  typeof record !== 'string' && record.type === 'torn_line' && record['line'] === line;

const endsWithNewline = async (file: string, size: number): Promise<boolean> => {
  if (size === 0) return true;
  let last = '';
  for await (const chunk of createReadStream(file, { start: size - 1, encoding: 'latin1' })) last = chunk as string;
  return last === '\n';
};

/** The record, or what is wrong with the line. */
const parsed = (text: string): SessionRecordLine | string => {
  if (text.length > MAX_LINE) return `the line is longer than ${MAX_LINE} characters`;
  try {
    const record = JSON.parse(text) as unknown;
    const isRecord = typeof record === 'object' && record !== null && typeof (record as { type?: unknown }).type === 'string';
    return isRecord ? (record as SessionRecordLine) : 'the line is no record with a `type`';
  } catch (error) {
    return `the line is no JSON: ${(error as Error).message}`;
  }
};

type Need = readonly [field: string, type: 'string' | 'number' | 'boolean'];
const NEEDED: Readonly<Record<string, readonly Need[]>> = {
  task_start: [['task_id', 'string']],
  message: [['role', 'string']],
  function_call: [
    ['call_id', 'string'],
    ['name', 'string'],
    ['arguments', 'string'],
  ],
  function_call_output: [['call_id', 'string']],
  task_complete: [
    ['task_id', 'string'],
    ['subtype', 'string'],
    ['is_error', 'boolean'],
  ],
};
/** What each outcome must have. */
const OUTCOMES: Readonly<Record<string, { readonly isError: boolean; readonly fields: readonly string[] }>> = {
  success: { isError: false, fields: [] },
  error_during_execution: { isError: true, fields: ['error'] },
  error_output_schema: { isError: true, fields: ['error'] },
  interrupted: { isError: true, fields: [] },
  cut_off: { isError: true, fields: ['error'] },
  limit_exceeded: { isError: true, fields: ['limit', 'error'] },
};
/** Records that no entry of the session stands for. */
const OWN: ReadonlySet<string> = new Set(['session_meta', 'branch_changed', 'torn_line']);

class Reading {
  #meta: SessionRecordLine | undefined;
  readonly #open = new Set<string>();
  #task: { id: string; open: readonly string[]; records: number } | undefined;
  #seq = 0;
  #line = 0;
  #bad: { readonly line: number; readonly why: string } | undefined;
  readonly #corrupt: (line: number, what: string) => CastError;
  readonly #take: (record: SessionRecordLine, line: number) => void;

  constructor(corrupt: (line: number, what: string) => CastError, take: (record: SessionRecordLine, line: number) => void) {
    this.#corrupt = corrupt;
    this.#take = take;
  }

  read(text: string): void {
    this.#line += 1;
    if (text.trim() === '') return;
    const record = parsed(text);
    if (this.#bad && !isAbout(record, this.#bad.line)) throw this.#corrupt(this.#bad.line, this.#bad.why);
    this.#bad = undefined;
    if (typeof record === 'string') this.#bad = { line: this.#line, why: record };
    else {
      this.#note(record, this.#line);
      this.#take(record, this.#line);
    }
  }
  end(isWhole: boolean): Loaded {
    if (this.#bad && isWhole) throw this.#corrupt(this.#bad.line, this.#bad.why);
    if (!this.#meta) throw this.#corrupt(1, 'it does not begin with a record session_meta');
    return { meta: this.#meta, tornLine: this.#bad?.line, open: [...this.#open], task: this.#task, seq: this.#seq };
  }

  #note(record: SessionRecordLine, line: number): void {
    if (!this.#meta) return this.#begin(record, line);
    const wrong = problemOf(record);
    if (wrong !== undefined) throw this.#corrupt(line, wrong);
    if (typeof record.seq === 'number') this.#seq = Math.max(this.#seq, record.seq);
    this.#pair(record, line);
    if (record.type === 'task_start') this.#task = { id: String(record['task_id']), open: [...this.#open], records: 1 };
    else if (this.#task && !OWN.has(record.type)) this.#task.records += 1;
  }

  #begin(record: SessionRecordLine, line: number): void {
    if (record.type !== 'session_meta') throw this.#corrupt(line, 'it does not begin with a record session_meta');
    const version = record['format_version'];
    if (version !== RECORD_VERSION) throw this.#corrupt(line, `its format_version is ${JSON.stringify(version)}, and only ${RECORD_VERSION} is read`);
    this.#meta = record;
  }

  #pair(record: SessionRecordLine, line: number): void {
    const call = String(record['call_id']);
    if (record.type === 'function_call') {
      if (this.#open.has(call)) throw this.#corrupt(line, `two open calls have the call_id ${call}`);
      this.#open.add(call);
    } else if (record.type === 'function_call_output' && !this.#open.delete(call)) throw this.#corrupt(line, `there is no open call ${call} for this output`);
  }
}

const problemOf = (record: SessionRecordLine): string | undefined => {
  const needed = NEEDED[record.type] ?? [];
  const missing = needed.find(([field, type]) => typeof record[field] !== type);
  if (missing) return `${record.type} needs a ${missing[1]} \`${missing[0]}\``;
  if (record.type !== 'task_complete') return undefined;
  const outcome = OUTCOMES[String(record['subtype'])];
  if (!outcome) return `there is no subtype ${JSON.stringify(record['subtype'])}`;
  if (outcome.isError !== record['is_error']) return `is_error ${JSON.stringify(record['is_error'])} contradicts the subtype ${String(record['subtype'])}`;
  const field = outcome.fields.find((name) => typeof record[name] !== 'string');
  return field && `the subtype ${String(record['subtype'])} needs a string \`${field}\``;
};
