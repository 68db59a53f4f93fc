/** Answers that are no success, in words that say what to do. */
import { ToolError } from '../../kernel/index.ts';
import { readCapped } from './body.ts';
import { oneLine } from './cut.ts';
import { asData } from './framing.ts';
import { LIMITS } from './limits.ts';

/** What an answer says about why, where it says so in words. */
export const detailOf = async (response: Response): Promise<string> => {
  const type = response.headers.get('content-type') ?? '';
  if (!/json|text\/plain/.test(type)) {
    await response.body?.cancel().catch(() => undefined);
    return '';
  }
  const { bytes } = await readCapped(response, LIMITS.errorBytes);
  return asData(oneLine(saidIn(bytes.toString('utf8')), LIMITS.detailChars));
};

const saidIn = (text: string): string => {
  try {
    return messageIn(JSON.parse(text)) ?? text;
  } catch {
    return text;
  }
};
/** Each service has it at another place. */
const messageIn = (value: unknown, depth = 0): string | undefined => {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null || depth > 3) return undefined;
  const fields: Readonly<Record<string, unknown>> = { ...value };
  const said = ['detail', 'error', 'message', 'readableMessage'].map((name) => messageIn(fields[name], depth + 1)).find((each) => each);
  const code = typeof fields['code'] === 'string' ? fields['code'] : undefined;
  return said !== undefined && code !== undefined ? `${said} (${code})` : (said ?? code);
};

export const isTransient = (status: number): boolean => status === 408 || status === 429 || status >= 500;

const FAILED = 'fetch failed: ';

/** A request that was not answered. What the caller aborted goes on as it is. */
export const unreached = (error: unknown, what: string, signal: AbortSignal): unknown => {
  if (signal.aborted) return signal.reason;
  if (!(error instanceof TypeError && error.message.startsWith(FAILED))) return error;
  const cause = error.cause instanceof Error && 'code' in error.cause ? error.cause.code : undefined;
  const isUnknown = cause === 'ENOTFOUND';
  const said = error.message.slice(FAILED.length);
  return new ToolError(isUnknown ? 'NOT_FOUND' : 'EXTERNAL_ERROR', `${what} could not be reached: ${said}`, { retryable: !isUnknown });
};
