/** Shortening the view: taps say what stays, the kernel sees to it that the cut is lawful. */
import type { Entry, Message } from '../data.ts';
import { CastError } from '../errors.ts';
import type { Compaction, TurnContext } from '../hooks/subjects.ts';
import { offTheClock } from '../hooks/running.ts';
import { type Branch, cutIn, keptFrom, type MessageEntry } from './branch.ts';
import type { Session } from './session.ts';
import { estimateMessage } from '../tokens.ts';
import { isPrompt, masksIn, runningPrompt, textOf, viewOf } from './view.ts';

/** Part of the window that is left after a compaction. */
const TARGET = 0.4;

type Reason = Compaction['reason'];

/** False when every tap declined. Throws HISTORY_BAD_CUT when the plan of a tap is not lawful; the history is untouched then. */
export const compact = async (session: Session, reason: Reason, signal: AbortSignal, instructions?: string): Promise<boolean> => {
  const job = jobOf(session, reason, instructions);
  const turn: TurnContext = { session: session.face, turn: session.turn, signal };
  const plan = await offTheClock(() => session.hooks.bail('compact', job, turn));
  const cancelled = !plan ? 'no plugin had a summary' : 'cancel' in plan ? plan.cancel : plan.summary.trim() === '' ? 'the summary is empty' : undefined;
  if (!plan || 'cancel' in plan || cancelled !== undefined) {
    session.emit('compaction.failed', { reason, why: cancelled ?? '' });
    return false;
  }
  // Here and not from the job: while it was summarised the conversation may have gone another way.
  const illegal = faultOf(session, plan.keepFrom);
  if (illegal) {
    session.emit('compaction.failed', { reason, why: illegal.message });
    throw illegal;
  }
  await shorten(session, job, plan);
  return true;
};
export const compactable = (session: Session): Compaction => jobOf(session, 'command', undefined);

const faultOf = (session: Session, keepFrom: string): CastError | undefined => {
  const { branch } = session.history;
  if (cutsOf(branch, inViewOf(branch.entries)).includes(keepFrom)) return undefined;
  const isKnown = branch.entries.some((entry) => entry.id === keepFrom);
  return new CastError(
    'HISTORY_BAD_CUT',
    isKnown ? `a cut at ${keepFrom} would part a call from its result or split an earlier turn` : `there is no entry ${keepFrom} to cut at`,
    { hook: 'compact', fix: 'Take one of `job.cuts`.' },
  );
};

const shorten = async (session: Session, job: Compaction, { summary, keepFrom }: { readonly summary: string; readonly keepFrom: string }): Promise<void> => {
  const { branch } = session.history;
  const prompt = runningPrompt(branch);
  const isBehindPrompt = prompt !== undefined && indexOf(session, keepFrom) > indexOf(session, prompt.id);
  const data = { summary, keepFrom, reason: job.reason, tokensBefore: job.tokens, tokensAfter: 0, ...(isBehindPrompt ? { prompt: prompt.id } : {}) };
  const draft: Entry = { kind: 'compaction', data, id: '', parent: null, seq: 0, at: 0 };
  const tokensAfter = total(viewOf({ ...branch, entries: [...branch.entries, draft] }));
  const before = new Set(messagesIn(session));
  // What stands in for the prompt has to lie behind the cut as well, for nothing else is read from before it.
  const mask = isBehindPrompt ? masksIn(branch.entries).get(prompt.id) : undefined;
  const [entry] = await session.append([{ kind: 'compaction', data: { ...data, tokensAfter } }, ...(mask ? [{ kind: 'mask', data: mask } as const] : [])]);
  for (const id of messagesIn(session)) before.delete(id);
  session.emit('compacted', { messages: before.size, tokensBefore: job.tokens, tokensAfter, reason: job.reason, entry: entry?.id ?? '' });
};

/** Ids of what is in view, an earlier summary left out. */
const messagesIn = (session: Session): readonly string[] => {
  const summary = cutIn(session.history.entries)?.id;
  return session.view().flatMap(({ entry }) => (entry === summary ? [] : [entry]));
};
const indexOf = (session: Session, id: string): number => session.history.entries.findIndex((entry) => entry.id === id);
const total = (messages: readonly { readonly tokens: number }[]): number => messages.reduce((sum, message) => sum + message.tokens, 0);

/** Messages behind the newest cut. */
const inViewOf = (entries: readonly Entry[]): readonly MessageEntry[] =>
  entries.slice(keptFrom(entries)).filter((entry): entry is MessageEntry => entry.kind === 'message');

/** Older than what is held it may be, and is there all the same. */
const carriedIn = ({ entries, carried }: Branch, id: string | undefined): MessageEntry | undefined =>
  carried?.id === id ? carried : entries.find((entry): entry is MessageEntry => entry.kind === 'message' && entry.id === id);

const jobOf = (session: Session, reason: Reason, instructions: string | undefined): Compaction => {
  const { branch } = session.history;
  const { entries } = branch;
  const previous = cutIn(entries);
  const inView = inViewOf(entries);
  // Carried along by the cut before: it must not be lost with the next one.
  const carried = carriedIn(branch, previous?.data.prompt);
  const all = carried ? [carried, ...inView] : inView;
  const prompt = runningPrompt(branch)?.id;
  // What is masked is out of the view already: it must not come back by way of a summary.
  const seen = new Map(session.view().map((message) => [message.entry, message]));
  return {
    reason,
    ...(instructions === undefined ? {} : { instructions }),
    messages: all.map((entry) => {
      const message = seen.get(entry.id) ?? entry.data;
      return { id: entry.id, by: byOf(entry), tokens: estimateMessage(message), text: described(message), paths: pathsIn(message) };
    }),
    cuts: cutsOf(branch, inView),
    ...(prompt !== undefined && all.some(({ id }) => id === prompt) ? { prompt } : {}),
    tokens: total(session.view()),
    target: Math.floor(session.limits.contextWindow * TARGET),
    ...(previous ? { previous: previous.data.summary } : {}),
  };
};

/** Before a prompt, or before a reply of the running turn: never between a call and its result. */
const cutsOf = (branch: Branch, inView: readonly MessageEntry[]): readonly string[] => {
  // It may have left the view with an earlier cut, and is carried along then.
  const prompt = runningPrompt(branch);
  const begun = new Set<Entry>(prompt ? branch.entries.slice(branch.entries.indexOf(prompt) + 1) : []);
  return inView.slice(1).flatMap((entry) => {
    const isStep = begun.has(entry) && entry.data.role === 'assistant';
    return isPrompt(entry) || isStep ? [entry.id] : [];
  });
};

const byOf = (entry: MessageEntry): 'person' | 'model' | 'tool' | 'kernel' => {
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
