/** The tap of `compact`: finds a cut, has the model write a summary of what lies before it, and adds the files. */
import {
  type Compaction,
  estimateText,
  isProviderError,
  messageOf,
  readModelRef,
  type Scope,
  type SessionFace,
  type TurnContext,
  type ViewMessage,
} from '../../kernel/index.ts';
import { conversationText, cut } from './conversation.ts';
import { fileLists, filesIn, joined, parted } from './files.ts';
import { LIMITS } from './limits.ts';
import { type Split, splitOf } from './split.ts';
import { promptOf, SYSTEM, type Task } from './wording.ts';

export interface SummaryParts extends Pick<Scope<unknown, 'model'>, 'powers' | 'registries' | 'services' | 'config' | 'clock'> {
  readonly session: SessionFace;
  /** Who writes; undefined: as the configuration has it for summaries. */
  readonly model: string | undefined;
}
export type Plan = { readonly cancel: string } | { readonly summary: string; readonly keepFrom: string };

export const NOTHING = 'there is nothing yet that could be summarised: what the newest prompt is about has to stay';

export const summarise = async (parts: SummaryParts, job: Compaction, { signal }: Pick<TurnContext, 'signal'>): Promise<Plan> => {
  const view = parts.session.view();
  const split = splitOf(job, view);
  if (!split) return { cancel: NOTHING };
  const older = olderIn(view, split, job.prompt);
  const previous = job.previous === undefined ? undefined : parted(job.previous);
  try {
    const text = await write(parts, job, older, previous?.text, signal);
    const files = joined(previous?.files ?? { read: [], modified: [] }, filesIn(older, parts.registries.tools.list(), parts.session.cwd));
    const lists = fileLists(files, summaryTokens(parts.session.window));
    const summary = [parted(text).text, lists].filter((part) => part !== '').join('\n\n');
    return { summary, keepFrom: split.keepFrom };
  } catch (error) {
    if (signal.aborted) throw error;
    return { cancel: `no summary could be made: ${messageOf(error)}` };
  }
};

/** All that leaves the view, with results that stand for lost ones; the summary before and the running prompt are dealt with elsewhere. */
const olderIn = (view: readonly ViewMessage[], { keepFrom, dropped }: Split, prompt: string | undefined): readonly ViewMessage[] => {
  const first = view.findIndex(({ entry }) => entry === dropped[0]);
  const end = view.findIndex(({ entry }) => entry === keepFrom);
  return view.slice(Math.max(0, first), end).filter(({ entry }) => entry !== prompt);
};

const summaryTokens = (window: number): number => Math.min(LIMITS.summary, Math.floor(window * LIMITS.summaryShare));

// ---- asking ----

interface Writer {
  /** Tokens. */
  readonly window: number;
  readonly reasons: boolean;
}
const writerOf = ({ session, registries, config, model: own }: SummaryParts): Writer => {
  const asked = own ?? config.value.models?.summary;
  const active = session.provider ?? '';
  const { provider, model } =
    asked === undefined
      ? { provider: active, model: session.model }
      : readModelRef(
          asked,
          registries.providers.list().map(({ name }) => name),
          active,
        );
  const info = registries.providers.get(provider)?.info?.(model);
  return { window: info?.contextWindow ?? session.window, reasons: (info?.reasoning?.levels.length ?? 0) > 0 };
};

const write = async (
  parts: SummaryParts,
  job: Compaction,
  older: readonly ViewMessage[],
  previous: string | undefined,
  signal: AbortSignal,
): Promise<string> => {
  const { session, services, powers, clock, model } = parts;
  const { window, reasons } = writerOf(parts);
  const length = summaryTokens(session.window);
  const maxOutputTokens = length + (reasons ? Math.min(LIMITS.reasoning, Math.floor(window * LIMITS.summaryShare)) : 0);
  const mode = services.find('mode');
  const task: Omit<Task, 'conversation'> = { previous, instructions: job.instructions, mode: mode?.current(), planFile: mode?.planFile(), length };
  const frame = estimateText(SYSTEM) + estimateText(promptOf({ ...task, conversation: '' }));
  let budget = Math.max(0, Math.floor((window - maxOutputTokens) * LIMITS.requestShare) - frame);
  for (let request = 1; ; request++) {
    const conversation = conversationText(older, budget);
    try {
      const prompt = promptOf({ ...task, conversation });
      const reply = await powers.model.ask({ purpose: 'summary', system: SYSTEM, prompt, maxOutputTokens, ...(model === undefined ? {} : { model }) }, signal);
      if (reply.end === 'calls') throw new Error('the model called a tool where it had to write a summary');
      if (reply.text.trim() === '') throw new Error('the model returned an empty summary');
      return cut(reply.text.trim(), length * CHARS_PER_TOKEN);
    } catch (error) {
      const pause = request < LIMITS.requests && !signal.aborted ? pauseBefore(error) : undefined;
      if (pause === undefined) throw error;
      if (pause === 0) budget = Math.floor(estimateText(conversation) / 2);
      else await clock.sleep(pause, signal);
    }
  }
};
/** For a model that does not keep to its length. */
const CHARS_PER_TOKEN = 5;

const PASSING: ReadonlySet<string> = new Set(['rate', 'overload', 'network', 'stall']);
/** Milliseconds to wait before it is asked again; undefined when that would not help. */
const pauseBefore = (error: unknown): number | undefined => {
  if (!isProviderError(error)) return undefined;
  if (error.kind === 'overflow') return 0;
  const wait = error.retryAfterMs ?? LIMITS.pauseMs;
  return PASSING.has(error.kind) && wait <= LIMITS.longestPauseMs ? wait : undefined;
};
