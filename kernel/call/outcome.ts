/** Results as the model gets them, whatever a tool, a guard or a fault had to say. */
import type { Block, CallBlock, Message, ToolErrorCode, ToolFailure } from '../data.ts';
import { isCastError, messageOf } from '../errors.ts';
import { result as wrongResult } from '../hooks/outcomes.ts';
import type { ToolResult } from '../hooks/subjects.ts';
import { LIMITS } from '../limits.ts';
import { isToolError } from '../tool-error.ts';
import type { ToolOffer } from './offer.ts';

const STOPPED: ToolFailure = { code: 'ABORTED', retryable: false };
export const ABORTED: ToolResult = { content: '[ABORTED] The call was stopped before it finished.', status: 'aborted', error: STOPPED };

export const denied = (reason: string, code: ToolErrorCode = 'PERMISSION_DENIED', endsTurn?: boolean): ToolResult => ({
  content: reason,
  status: 'denied',
  error: { code, retryable: false },
  ...(endsTurn ? { endsTurn } : {}),
});

export const refused = ({ problem, error }: { readonly problem: string; readonly error: ToolFailure }): ToolResult => ({
  content: problem,
  status: 'error',
  error,
});

export const unknownTool = (offer: ToolOffer, name: string): ToolResult => {
  const isWithheld = offer.isWithheld(name);
  return {
    content: offer.explain(name),
    status: isWithheld ? 'denied' : 'error',
    error: { code: isWithheld ? 'UNAVAILABLE' : 'INVALID_ARGUMENT', retryable: false },
  };
};

/** What a tool threw, as its answer. */
export const thrownAnswer = (signal: AbortSignal, error: unknown): Partial<ToolResult> => (isToolError(error) ? error.result : fault(signal, error));

/** What a tool answered, with what it left out filled in. A view that is none costs only itself. */
export const completed = (answer: string | Partial<ToolResult>): ToolResult => {
  if (typeof answer === 'string') return { content: answer, status: 'ok' };
  if (!isObject(answer)) return noResult('a text or an object is expected');
  const { details, view, ...plain } = present(answer);
  const wrong = wrongResult(plain);
  if (wrong !== undefined) return noResult(wrong);
  const drawn = wrongResult({ view }) === undefined ? view : undefined;
  const result = { status: 'ok', content: '', ...plain, ...storable({ details, view: drawn }) } as const;
  if (result.status === 'ok' || result.error) return result;
  return { ...result, error: result.status === 'aborted' ? STOPPED : inferred(result.content) };
};

/** Tools need not be written in TypeScript. */
const isObject = (answer: unknown): boolean => typeof answer === 'object' && answer !== null && !Array.isArray(answer);
const noResult = (wrong: string): ToolResult => ({
  content: `The tool answered with something that is no result: ${wrong}.`,
  status: 'error',
  error: { code: 'INTERNAL_ERROR', retryable: false },
});

/** What is stored beside the content has to be plain JSON, no longer than a content; what is not is left out. */
const storable = (given: object): Pick<ToolResult, 'details' | 'view'> => Object.fromEntries(Object.entries(given).flatMap(plainPair));
const plainPair = ([key, value]: readonly [string, unknown]): readonly (readonly [string, unknown])[] => {
  try {
    const json = JSON.stringify(value) as string | undefined;
    return json === undefined || json.length > LIMITS.resultBytes ? [] : [[key, JSON.parse(json)]];
  } catch {
    return [];
  }
};

/** For a call whose turn had to end before it was allowed to run. */
export const notRun = (why: unknown): ToolResult => denied(`Not run: ${messageOf(why)}`, isCastError(why) ? why.code : 'INTERNAL_ERROR');

/** As it is stored. */
export const resultMessage = ({ id, tool }: CallBlock, { content, status, error, details, view, images = [] }: ToolResult): Message => ({
  role: 'tool',
  origin: 'kernel',
  blocks: [
    { type: 'result', id, tool, content, status, ...present({ error, details, view }) },
    ...images.map((image): Block => ({ type: 'image', image, call: id })),
  ],
});
const present = <T extends object>(fields: T): { readonly [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: Exclude<T[K], undefined> };

/** Notes come behind the content, so that its truncation cannot take them away. */
export const withNotes = (result: ToolResult): ToolResult => {
  if (!result.notes || result.notes.length === 0) return result;
  const lines = result.notes.map((note) => `${note.path}${note.line === undefined ? '' : `:${note.line}`}: ${note.text}`);
  return { ...result, content: `${result.content}\n\n${lines.join('\n')}` };
};

/** Faults that are no result: nobody may decide about a closed guard, or nothing can be stored any more. */
const FATAL: ReadonlySet<string> = new Set(['PLUGIN_QUARANTINED', 'STORE_LEASE_LOST', 'STORE_UNAVAILABLE']);

export const fault = (signal: AbortSignal, error: unknown): ToolResult => {
  if (isCastError(error) && FATAL.has(error.code)) throw error;
  if (signal.aborted) return ABORTED;
  const content = messageOf(error);
  // A guard that failed has not allowed anything.
  if (isCastError(error) && error.code === 'HOOK_FAULT') return denied(`${content}. What a faulty guard looks after is refused.`);
  return { content, status: 'error', error: inferred(content) };
};

const WORDINGS: readonly (readonly [ToolErrorCode, RegExp])[] = [
  ['ABORTED', /\[aborted\]|cancelled|interrupted/i],
  ['TIMEOUT', /time(d )?out/i],
  ['PERMISSION_DENIED', /permission denied|not permitted|blocked by|EACCES|EPERM/i],
  ['NOT_FOUND', /not found|no such|no background task|ENOENT/i],
  ['INVALID_ARGUMENT', /required|invalid|must be|unknown tool/i],
  ['UNAVAILABLE', /not available|not configured/i],
  ['CONFLICT', /conflict|already exists/i],
  ['EXTERNAL_ERROR', /fetch|network|search error|\bmcp\b|ECONN/i],
];
/** What may go better when it is simply done again. */
const PASSING: ReadonlySet<ToolErrorCode> = new Set(['TIMEOUT', 'EXTERNAL_ERROR']);
/** For tools that throw or fail without a code of their own. */
const inferred = (content: string): ToolFailure => {
  const code = WORDINGS.find(([, wording]) => wording.test(content))?.[0] ?? 'INTERNAL_ERROR';
  return { code, retryable: PASSING.has(code) };
};
