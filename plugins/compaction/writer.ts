/** The model that writes a summary: which one it is, what it is asked, and what counts as an answer. */
import { estimateText, isProviderError, readModelRef, type Scope, type SessionFace, type ViewMessage } from '../../kernel/index.ts';
import { conversationText, cut } from './conversation.ts';
import { LIMITS } from './limits.ts';
import { promptOf, SYSTEM, type Task } from './wording.ts';

export interface WriterParts extends Pick<Scope<unknown, 'model'>, 'powers' | 'registries' | 'services' | 'config' | 'clock'> {
  readonly session: SessionFace;
  /** Who writes; undefined: as the configuration has it for summaries. */
  readonly model: string | undefined;
}
export interface Order {
  readonly messages: readonly ViewMessage[];
  readonly previous: string | undefined;
  readonly instructions: string | undefined;
}

/** Tokens of one summary. */
export const summaryTokens = (window: number): number => Math.min(LIMITS.summary, Math.floor(window * LIMITS.summaryShare));

/** Throws when there is no summary. */
export const writeSummary = async (parts: WriterParts, { messages, previous, instructions }: Order, signal: AbortSignal): Promise<string> => {
  const { window, reasons } = writerOf(parts);
  const length = summaryTokens(parts.session.window);
  const maxOutputTokens = length + (reasons ? Math.min(LIMITS.reasoning, Math.floor(window * LIMITS.summaryShare)) : 0);
  const mode = parts.services.find('mode');
  const task: Omit<Task, 'conversation'> = { previous, instructions, mode: mode?.current(), planFile: mode?.planFile(), length };
  const frame = estimateText(SYSTEM) + estimateText(promptOf({ ...task, conversation: '' }));
  let budget = Math.max(0, Math.floor((window - maxOutputTokens) * LIMITS.requestShare) - frame);
  for (let request = 1; ; request++) {
    const conversation = conversationText(messages, budget);
    try {
      return cut(await ask(parts, promptOf({ ...task, conversation }), maxOutputTokens, signal), length * CHARS_PER_TOKEN);
    } catch (error) {
      const pause = request < LIMITS.requests && !signal.aborted ? pauseBefore(error) : undefined;
      if (pause === undefined) throw error;
      if (pause === 0) budget = Math.floor(estimateText(conversation) / 2);
      else await parts.clock.sleep(pause, signal);
    }
  }
};
/** For a model that does not keep to its length. */
const CHARS_PER_TOKEN = 5;

const ask = async ({ powers, model }: WriterParts, prompt: string, maxOutputTokens: number, signal: AbortSignal): Promise<string> => {
  const chosen = model === undefined ? {} : { model };
  const { text, end } = await powers.model.ask({ purpose: 'summary', system: SYSTEM, prompt, maxOutputTokens, ...chosen }, signal);
  if (end === 'calls') throw new Error('the model called a tool where it had to write a summary');
  if (text.trim() === '') throw new Error('the model returned an empty summary');
  return text.trim();
};

interface Writer {
  /** Tokens. */
  readonly window: number;
  readonly reasons: boolean;
}
const writerOf = ({ session, registries, config, model }: WriterParts): Writer => {
  const providers = registries.providers.list();
  const asked = model ?? config.value.models?.summary;
  const active = session.provider ?? '';
  const names = providers.map(({ name }) => name);
  const ref = asked === undefined ? { provider: active, model: session.model } : readModelRef(asked, names, active);
  const { contextWindow = session.window, reasoning } = registries.providers.get(ref.provider)?.info?.(ref.model) ?? {};
  return { window: contextWindow, reasons: reasoning !== undefined && reasoning.levels.length > 0 };
};

const PASSING: ReadonlySet<string> = new Set(['rate', 'overload', 'network', 'stall']);
/** Milliseconds to wait before it is asked again, none where less is to be sent; undefined when that would not help. */
const pauseBefore = (error: unknown): number | undefined => {
  if (!isProviderError(error)) return undefined;
  if (error.kind === 'overflow') return 0;
  const wait = Math.max(LIMITS.leastPauseMs, error.retryAfterMs ?? LIMITS.pauseMs);
  return PASSING.has(error.kind) && wait <= LIMITS.longestPauseMs ? wait : undefined;
};
