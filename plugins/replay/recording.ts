/** A recording: a JSON file with one step for each reply, in the order in which replies of its purpose are asked for; and, of a whole session, all else that came from outside. */
import { readFile, stat } from 'node:fs/promises';
import {
  CastError,
  messageOf,
  type Answer,
  type CastConfig,
  type ChildEnd,
  type Delta,
  type EventMap,
  type Input,
  type ModelInfo,
  type NewEntry,
  type PluginReport,
  type ProviderFailure,
  type Purpose,
  type ToolResult,
} from '../../kernel/index.ts';
import { MAX_BYTES } from './limits.ts';
import type { TraceEvent } from './trace.ts';

export const RECORDING_VERSION = 1;
const PURPOSES: readonly Purpose[] = ['main', 'judge', 'summary', 'title', 'memory', 'hook'];

/** How a reply broke off. `code`: cast's own error, else a provider's of that kind. */
export type Break =
  | {
      readonly type: 'error';
      readonly kind: ProviderFailure;
      readonly message: string;
      readonly status?: number;
      readonly retryAfterMs?: number;
      readonly code?: string;
    }
  /** The turn was told to stop. */
  | { readonly type: 'aborted' };
/** What came, and how long it took to come. */
export type Beat = (Delta | Break) & { readonly afterMs?: number };
export interface Step {
  readonly purpose: Purpose;
  readonly deltas: readonly Beat[];
}

/** A call whose body ran. */
export interface RecordedCall {
  readonly turn: number;
  readonly step: number;
  readonly id: string;
  readonly tool: string;
  readonly afterMs: number;
  /** Absent when the turn was told to stop while it ran. */
  readonly answer?: string | Partial<ToolResult>;
  /** What its body recorded in the session. */
  readonly entries?: readonly NewEntry[];
  /** What models took for it: of child sessions, or asked by the body itself. */
  readonly usage?: readonly EventMap['usage'][];
}
/** A child session that no call asked for. */
export interface RecordedChild {
  readonly label: string;
  readonly prompt: string;
  /** Absent when it was told to stop. */
  readonly end?: ChildEnd;
  readonly usage: readonly EventMap['usage'][];
}
export interface RecordedInput extends Pick<Input, 'text' | 'source' | 'origin' | 'images'> {
  /** Main requests that had been made before. */
  readonly after: number;
  /** It came into a running turn. */
  readonly isRunning: boolean;
}
export interface RecordedSession {
  readonly cast: { readonly plugins: readonly Pick<PluginReport, 'name' | 'version' | 'state'>[] };
  readonly id: string;
  readonly startedAt: number;
  readonly cwd: string;
  readonly root: string;
  /** What was in force, without addresses and secrets. */
  readonly config: CastConfig;
  /** What was known of the models that were asked. */
  readonly models: readonly (ModelInfo & { readonly provider: string })[];
  readonly inputs: readonly RecordedInput[];
  readonly calls: readonly RecordedCall[];
  readonly answers: readonly { readonly text: string; readonly answer: Answer }[];
  /** In the order in which they were begun; absent in older recordings. */
  readonly children?: readonly RecordedChild[];
  readonly trace: readonly TraceEvent[];
}
export interface Recording {
  readonly version: typeof RECORDING_VERSION;
  /** For people. */
  readonly about?: string;
  readonly steps: readonly Step[];
  /** Absent where there are only replies to be played. */
  readonly session?: RecordedSession;
}
/** Of a whole session. */
export type WholeRecording = Recording & { readonly session: RecordedSession };

/** Throws REPLAY_INVALID naming the file and what is wrong in it. */
export const readRecording = async (file: string): Promise<Recording> => {
  let data: unknown;
  try {
    if ((await stat(file)).size > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`);
    data = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw new CastError('REPLAY_INVALID', `${file} cannot be read: ${messageOf(error)}`, { cause: error, fix: 'Name a recording.' });
  }
  const problem = problemOf(data);
  if (problem !== undefined) throw new CastError('REPLAY_INVALID', `${file}: ${problem}`, { fix: 'Record it again, or correct the file.' });
  return data as Recording;
};

/** Throws REPLAY_INVALID as well when there is no session in it. */
export const readWholeRecording = async (file: string): Promise<WholeRecording> => {
  const recording = await readRecording(file);
  if (recording.session) return { ...recording, session: recording.session };
  throw new CastError('REPLAY_INVALID', `${file} holds replies only, and no session to compare with`, { fix: 'Record one with `cast record`.' });
};

const isBag = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null && !Array.isArray(value);

const problemOf = (data: unknown): string | undefined => {
  if (!isBag(data)) return 'a recording is an object';
  if (data['version'] !== RECORDING_VERSION) return `\`version\` must be ${RECORDING_VERSION}`;
  const steps = data['steps'];
  if (!Array.isArray(steps)) return '`steps` must be a list';
  const problem = firstProblem(steps, (step, index) => stepProblem(step, `steps[${index}]`));
  return problem ?? (data['session'] === undefined ? undefined : sessionProblem(data['session']));
};

const stepProblem = (step: unknown, at: string): string | undefined => {
  if (!isBag(step)) return `${at} must be an object`;
  if (!PURPOSES.includes(step['purpose'] as Purpose)) return `${at}.purpose must be one of ${PURPOSES.join(', ')}`;
  const deltas = step['deltas'];
  if (!Array.isArray(deltas) || deltas.length === 0) return `${at}.deltas must be a list that is not empty`;
  return firstProblem(deltas, (delta, index) => deltaProblem(delta, `${at}.deltas[${index}]`));
};

const TEXTS: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  reasoning: ['text'],
  call: ['tool', 'arguments'],
  usage: [],
  item: [],
  end: ['reason'],
  error: ['kind', 'message'],
  aborted: [],
};

const deltaProblem = (delta: unknown, at: string): string | undefined => {
  if (!isBag(delta)) return `${at} must be an object`;
  const type = delta['type'];
  const texts = typeof type === 'string' && Object.hasOwn(TEXTS, type) ? TEXTS[type] : undefined;
  if (!texts) return `${at}.type must be one of ${Object.keys(TEXTS).join(', ')}`;
  const missing = texts.find((key) => typeof delta[key] !== 'string');
  if (missing !== undefined) return `${at}.${missing} must be a text`;
  const { afterMs } = delta;
  return afterMs === undefined || (typeof afterMs === 'number' && afterMs >= 0) ? undefined : `${at}.afterMs must be a number of at least 0`;
};

type Kind = 'text' | 'number' | 'object' | 'list' | 'flag';
const KINDS: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  object: isBag,
  list: Array.isArray,
  flag: (value) => typeof value === 'boolean',
};
const membersProblem = (value: unknown, at: string, members: Readonly<Record<string, Kind>>): string | undefined => {
  if (!isBag(value)) return `${at} must be an object`;
  const wrong = Object.entries(members).find(([name, kind]) => !KINDS[kind](value[name]));
  return wrong && `${at}.${wrong[0]} must be a ${wrong[1]}`;
};

const SESSION = {
  cast: 'object',
  id: 'text',
  startedAt: 'number',
  cwd: 'text',
  root: 'text',
  config: 'object',
  models: 'list',
  inputs: 'list',
  calls: 'list',
  answers: 'list',
  trace: 'list',
} as const;
const LISTS: readonly (readonly [list: string, members: Readonly<Record<string, Kind>>])[] = [
  ['models', { provider: 'text', id: 'text' }],
  ['inputs', { text: 'text', source: 'text', origin: 'text', after: 'number', isRunning: 'flag' }],
  ['calls', { turn: 'number', step: 'number', id: 'text', tool: 'text', afterMs: 'number' }],
  ['answers', { text: 'text', answer: 'object' }],
  ['children', { label: 'text', prompt: 'text', usage: 'list' }],
  ['trace', { turn: 'number', step: 'number', hook: 'text', plugin: 'text', label: 'text', digest: 'text', short: 'text' }],
];

const sessionProblem = (session: unknown): string | undefined => {
  const problem = membersProblem(session, 'session', SESSION);
  if (problem !== undefined || !isBag(session)) return problem;
  if (!isBag(session['cast']) || !Array.isArray(session['cast']['plugins'])) return 'session.cast.plugins must be a list';
  return firstProblem(LISTS, ([list, members]) =>
    firstProblem((session[list] ?? []) as readonly unknown[], (item, index) => membersProblem(item, `session.${list}[${index}]`, members)),
  );
};

const firstProblem = <T>(items: readonly T[], check: (item: T, index: number) => string | undefined): string | undefined => {
  for (const [index, item] of items.entries()) {
    const problem = check(item, index);
    if (problem !== undefined) return problem;
  }
  return undefined;
};
