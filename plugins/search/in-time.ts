import { createContext, Script } from 'node:vm';
import { ToolError } from '../../kernel/index.ts';
import { LIMITS } from './limits.ts';

const caller = new Script('work()');
const room: { work?: () => void } = {};
let context: ReturnType<typeof createContext> | undefined;

export const tooHard = (): ToolError =>
  new ToolError('TIMEOUT', 'The pattern takes too long to match.', { fix: 'Make it simpler: avoid repeated groups that can match the same text.' });

/** Runs a piece of work that regular expressions may draw out, and ends it when it takes too long. */
export const inTime = <T>(work: () => T, refusal: () => ToolError = tooHard): T => {
  context ??= createContext(room);
  let done: { readonly value: T } | undefined;
  room.work = () => {
    done = { value: work() };
  };
  try {
    caller.runInContext(context, { timeout: LIMITS.matchMs });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw refusal();
  } finally {
    delete room.work;
  }
  if (!done) throw refusal();
  return done.value;
};
