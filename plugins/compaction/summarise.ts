/** The tap of `compact`: finds a cut, has the model write a summary of what lies before it, and adds the files. */
import { type Compaction, messageOf, type TurnContext, type ViewMessage } from '../../kernel/index.ts';
import { fileLists, filesIn, joined, parted } from './files.ts';
import { type Split, splitOf } from './split.ts';
import { summaryTokens, type WriterParts, writeSummary } from './writer.ts';

export type Plan = { readonly cancel: string } | { readonly summary: string; readonly keepFrom: string };

export const NOTHING = 'there is nothing yet that could be summarised: what the newest prompt is about has to stay';

/** A failure is an answer and no throw: that would count as a fault of the plugin. */
export const summarise = async (parts: WriterParts, job: Compaction, { signal }: Pick<TurnContext, 'signal'>): Promise<Plan> => {
  const { session, registries } = parts;
  const view = session.view();
  const split = splitOf(job, view);
  if (!split) return { cancel: NOTHING };
  const messages = olderIn(view, split, job.prompt);
  const before = job.previous === undefined ? undefined : parted(job.previous);
  try {
    const text = await writeSummary(parts, { messages, previous: before?.text, instructions: job.instructions }, signal);
    const files = joined(before?.files, filesIn(messages, registries.tools.list(), session.cwd));
    const lists = fileLists(files, summaryTokens(session.window));
    return { summary: [parted(text).text, lists].filter((part) => part !== '').join('\n\n'), keepFrom: split.keepFrom };
  } catch (error) {
    if (signal.aborted) throw error;
    return { cancel: `no summary could be made: ${messageOf(error)}` };
  }
};

/** All that leaves the view, with results that stand for lost ones; the summary before and the newest prompt are dealt with elsewhere. */
const olderIn = (view: readonly ViewMessage[], { keepFrom, dropped }: Split, prompt: string | undefined): readonly ViewMessage[] => {
  const first = view.findIndex(({ entry }) => entry === dropped[0]);
  const end = view.findIndex(({ entry }) => entry === keepFrom);
  return view.slice(Math.max(0, first), end).filter(({ entry }) => entry !== prompt);
};
