/** Shortening the view: taps say what stays, the kernel sees to it that the cut is lawful. */
import type { Entry, Message } from '../data.ts';
import { CastError } from '../errors.ts';
import type { Compaction, TurnContext } from '../hooks/subjects.ts';
import { offTheClock } from '../hooks/running.ts';
import type { Branch } from './branch.ts';
import type { Session } from './session.ts';
import { estimateMessage } from '../tokens.ts';
import { isPrompt, masksIn, runningPrompt, textOf, viewOf } from './view.ts';

/** Part of the window that is left after a compaction. */
const TARGET = 0.4;

/** False when every tap declined. Throws HISTORY_BAD_CUT when the plan of a tap is not lawful; the history is untouched then. */
export const compact = async (session: Session, reason: Compaction['reason'], signal: AbortSignal, instructions?: string): Promise<boolean> => {
  const job = jobOf(session, reason, instructions);
  const turn: TurnContext = { session: session.face, turn: session.turn, signal };
  const plan = await offTheClock(() => session.hooks.bail('compact', job, turn));
  if (!plan || 'cancel' in plan) return false;
  if (!job.cuts.includes(plan.keepFrom)) {
    const known = session.history.entries.some((entry) => entry.id === plan.keepFrom);
    throw new CastError(
      'HISTORY_BAD_CUT',
      known ? `a cut at ${plan.keepFrom} would part a call from its result or split an earlier turn` : `there is no entry ${plan.keepFrom} to cut at`,
      { hook: 'compact', fix: 'Take one of `job.cuts`.' },
    );
  }
  const { branch } = session.history;
  const prompt = runningPrompt(branch);
  const isBehindPrompt = prompt !== undefined && indexOf(session, plan.keepFrom) > indexOf(session, prompt.id);
  const data = {
    summary: plan.summary,
    keepFrom: plan.keepFrom,
    reason,
    tokensBefore: job.tokens,
    tokensAfter: 0,
    ...(isBehindPrompt ? { prompt: prompt.id } : {}),
  };
  const draft: Entry = { kind: 'compaction', data, id: '', parent: null, seq: 0, at: 0 };
  const tokensAfter = total(viewOf({ ...branch, entries: [...branch.entries, draft] }));
  const before = session.view().length;
  // What stands in for the prompt has to lie behind the cut as well, for nothing else is read from before it.
  const mask = isBehindPrompt ? masksIn(branch.entries).get(prompt.id) : undefined;
  await session.append([{ kind: 'compaction', data: { ...data, tokensAfter } }, ...(mask ? [{ kind: 'mask', data: mask } as const] : [])]);
  session.emit('compacted', { messages: before - session.view().length + 1, tokensBefore: job.tokens, tokensAfter });
  return true;
};

const indexOf = (session: Session, id: string): number => session.history.entries.findIndex((entry) => entry.id === id);
const total = (messages: readonly { readonly tokens: number }[]): number => messages.reduce((sum, message) => sum + message.tokens, 0);

const jobOf = (session: Session, reason: Compaction['reason'], instructions: string | undefined): Compaction => {
  const { branch } = session.history;
  const { entries } = branch;
  const at = entries.findLastIndex((entry) => entry.kind === 'compaction');
  const earlier = entries[at];
  const previous = earlier?.kind === 'compaction' ? earlier : undefined;
  const from = previous ? entries.findIndex((entry) => entry.id === previous.data.keepFrom) : 0;
  const inView = entries.slice(from).filter((entry) => entry.kind === 'message');
  // What is masked is out of the view already: it must not come back by way of a summary.
  const seen = new Map(session.view().map((message) => [message.entry, message]));
  return {
    reason,
    ...(instructions === undefined ? {} : { instructions }),
    messages: inView.map((entry) => {
      const message = seen.get(entry.id) ?? entry.data;
      return { id: entry.id, by: byOf(entry), tokens: estimateMessage(message), text: described(message), paths: pathsIn(message) };
    }),
    cuts: cutsOf(branch, inView),
    tokens: total(session.view()),
    target: Math.floor(session.limits.contextWindow * TARGET),
    ...(previous ? { previous: previous.data.summary } : {}),
  };
};

/** Before a prompt, or before a reply of the running turn: never between a call and its result. */
const cutsOf = (branch: Branch, inView: readonly Entry[]): readonly string[] => {
  // It may have left the view with an earlier cut, and is carried along then.
  const prompt = runningPrompt(branch);
  const begun = new Set(prompt ? branch.entries.slice(branch.entries.indexOf(prompt) + 1) : []);
  return inView.slice(1).flatMap((entry) => {
    const isStep = begun.has(entry) && entry.kind === 'message' && entry.data.role === 'assistant';
    return isPrompt(entry) || isStep ? [entry.id] : [];
  });
};

const byOf = (entry: Extract<Entry, { kind: 'message' }>): 'person' | 'model' | 'tool' | 'kernel' => {
  if (entry.data.role === 'assistant') return 'model';
  if (entry.data.role === 'tool') return 'tool';
  // A notice of a plugin begins a turn as well, and is no person's word.
  return isPrompt(entry) && entry.data.origin === 'user' ? 'person' : 'kernel';
};
const described = (message: Message): string =>
  message.blocks
    .map((block) => {
      if (block.type === 'call') return `${block.tool}(${block.arguments})`;
      return block.type === 'result' ? block.content : block.type === 'image' ? '[image]' : '';
    })
    .concat(textOf(message))
    .filter((text) => text !== '')
    .join('\n');

const pathsIn = (message: Message): readonly string[] =>
  message.blocks.flatMap((block) => {
    if (block.type !== 'call') return [];
    try {
      const input = JSON.parse(block.arguments) as { path?: unknown; filePath?: unknown };
      return [input.path, input.filePath].filter((path) => typeof path === 'string');
    } catch {
      return [];
    }
  });
