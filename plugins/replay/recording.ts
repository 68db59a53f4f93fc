/** A recording: a JSON file with one step for each reply, in the order in which replies of its purpose are asked for. */
import { readFile, stat } from 'node:fs/promises';
import { CastError, messageOf, type Delta, type Purpose } from '../../kernel/index.ts';

const RECORDING_VERSION = 1;
const MAX_BYTES = 64 * 1_048_576;
const PURPOSES: readonly Purpose[] = ['main', 'judge', 'summary', 'title', 'memory', 'hook'];

/** A delta, and how long it takes to come. */
export type Beat = Delta & { readonly afterMs?: number };
export interface Step {
  readonly purpose: Purpose;
  readonly deltas: readonly Beat[];
}
export interface Recording {
  readonly version: typeof RECORDING_VERSION;
  /** For people. */
  readonly about?: string;
  readonly steps: readonly Step[];
}

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

const isBag = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null && !Array.isArray(value);

const problemOf = (data: unknown): string | undefined => {
  if (!isBag(data)) return 'a recording is an object';
  if (data['version'] !== RECORDING_VERSION) return `\`version\` must be ${RECORDING_VERSION}`;
  const steps = data['steps'];
  if (!Array.isArray(steps)) return '`steps` must be a list';
  return firstProblem(steps, (step, index) => stepProblem(step, `steps[${index}]`));
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

const firstProblem = (items: readonly unknown[], check: (item: unknown, index: number) => string | undefined): string | undefined => {
  for (const [index, item] of items.entries()) {
    const problem = check(item, index);
    if (problem !== undefined) return problem;
  }
  return undefined;
};
