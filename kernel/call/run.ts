/** A call as it runs: judged, asked about when need be, run, reviewed. */
import { CastError, messageOf } from '../errors.ts';
import type { GatheredBegin } from '../hooks/hook-set.ts';
import { runAs } from '../hooks/running.ts';
import type { QuestionDraft, RunningCall, ToolResult } from '../hooks/subjects.ts';
import { LIMITS } from '../limits.ts';
import type { Session } from '../session/session.ts';
import { completed, denied, fault, thrownAnswer, withNotes } from './outcome.ts';
import { redrafted, type Draft, type Prepared, type Ready } from './prepare.ts';

/** Never throws but for what must end the turn. */
export const run = async (session: Session, prepared: Prepared): Promise<ToolResult> => {
  if ('refused' in prepared) return prepared.refused;
  try {
    return await judgeAndRun(session, prepared);
  } catch (error) {
    return fault(prepared.draft.signal, error);
  }
};

const judgeAndRun = async (session: Session, { tool, from, draft }: Ready): Promise<ToolResult> => {
  draft.signal.throwIfAborted();
  const refusal = await judge(session, draft);
  if (refusal) return refusal;
  // Allowed, and told to stop meanwhile: nothing is begun any more.
  draft.signal.throwIfAborted();
  const call: RunningCall = { ...draft, judge: async (input) => judge(session, await redrafted(session, draft, tool, input)) };
  const body = (): Promise<string | Partial<ToolResult>> =>
    runAs({ plugin: from, where: 'tool', label: tool.name }, async () => tool.run(draft.input as never, call)).catch((error: unknown) =>
      thrownAnswer(draft.signal, error),
    );
  const result = await between(session, draft, async () => {
    if (draft.effect !== 'read') await session.append([{ kind: 'started', data: { call: draft.id, tool: draft.tool } }]);
    draft.signal.throwIfAborted();
    return completed(await (session.generation.boundary?.run?.(call, body) ?? body()));
  });
  const isOver = result.status === 'denied' || result.status === 'aborted';
  return withNotes(isOver ? result : await session.hooks.waterfall('result', result, draft));
};

/** The work between what taps wanted done just before the call and what they do when it is over. */
const between = async (session: Session, { begins }: Draft, work: () => Promise<ToolResult>): Promise<ToolResult> => {
  const ends: (() => Promise<void>)[] = [];
  let result: ToolResult | undefined;
  try {
    for (const each of begins) {
      const end = await inTime(session, each, each.begin);
      ends.push(() => inTime(session, each, () => end(result)));
    }
    result = await work();
    return result;
  } finally {
    // What has been done stays done, whatever becomes of its record.
    for (const end of ends.toReversed()) await end().catch((error: unknown) => session.warn(messageOf(error)));
  }
};

/** What a plugin does beside a call must not hold it for ever. */
const inTime = async <T>(session: Session, { plugin, label }: GatheredBegin, work: () => Promise<T>): Promise<T> => {
  const over = new AbortController();
  const late = session.clock.sleep(LIMITS.besideCallMs, over.signal).then(() => {
    throw new CastError('HOOK_FAULT', `${plugin}: ${label} took longer than ${LIMITS.besideCallMs / 1000} s beside a call`, { plugin, hook: 'gate' });
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([runAs({ plugin, where: 'gate', label }, work), late]);
  } finally {
    // A reason of its own: the built-in one is an error with a stack.
    over.abort(null);
  }
};

/** What a call that may not run answers with. */
const judge = async (session: Session, draft: Draft): Promise<ToolResult | undefined> => {
  const vote = (await session.hooks.bail('gate', draft, undefined)) as { deny: string; endsTurn?: boolean; code?: string } | undefined;
  if (vote) return denied(vote.deny, vote.code, vote.endsTurn);
  const refusal = await askAbout(session, draft);
  return refusal === undefined ? undefined : denied(refusal);
};

const ALLOWS: ReadonlySet<string> = new Set(['once', 'session', 'project']);

/** The reason when it may not run; undefined when it may. */
const askAbout = async (session: Session, draft: Draft): Promise<string | undefined> => {
  if (draft.asks.length === 0) return undefined;
  const question = questionAbout(draft);
  const answer = await session.broker.ask(question, draft);
  if (ALLOWS.has(answer.choice)) return undefined;
  const who = answer.by === 'nobody' ? 'It needs a yes from a person, and nobody can be asked here.' : `It was not allowed by ${answer.by}.`;
  return `${question.text}\n${who} Go on without it, or say what you would have done.`;
};

const questionAbout = (draft: Draft): QuestionDraft => {
  // A remembered yes must cover all that was asked: one wish without a rule, and only this once can be said.
  const known = draft.asks.flatMap((ask) => (ask.rule === undefined ? [] : [ask.rule]));
  const rules = known.length === draft.asks.length ? known : [];
  const remembered = [
    { value: 'session', label: `Yes, and ${rules.join(', ')} for this session` },
    { value: 'project', label: `Yes, and ${rules.join(', ')} always in this project` },
  ];
  return {
    kind: 'tool',
    text: draft.asks.map((ask) => ask.text).join('\n'),
    choices: [{ value: 'once', label: 'Yes, this once' }, ...(rules.length === 0 ? [] : remembered), { value: 'reject', label: 'No' }],
    rules,
    call: { id: draft.id, tool: draft.tool, input: draft.input },
  };
};
