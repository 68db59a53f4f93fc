/** Runs one batch of calls: exactly one result for each, stored as it comes, given back in the order issued. */
import { untilAborted } from '../abort.ts';
import { isUnfinished } from '../call/arguments.ts';
import type { ToolOffer } from '../call/offer.ts';
import { ABORTED, notRun, resultMessage } from '../call/outcome.ts';
import { prepare, type Prepared } from '../call/prepare.ts';
import { run } from '../call/run.ts';
import type { CallBlock } from '../data.ts';
import { CastError } from '../errors.ts';
import type { StepContext, ToolResult } from '../hooks/subjects.ts';
import { LIMITS } from '../limits.ts';
import type { Session } from '../session/session.ts';

export const dispatch = async (session: Session, at: StepContext, calls: readonly CallBlock[], offer: ToolOffer): Promise<readonly ToolResult[]> => {
  const prepared: Prepared[] = [];
  // One after the other, so that taps see the calls in the order issued, before any of them runs.
  for (const call of calls) prepared.push(await prepare(session, at, call, offer));
  for (const each of prepared) session.emit('tool.started', { id: each.block.id, tool: each.name, input: each.shown });
  const batch: Batch = { results: [], fatal: undefined };
  for (const group of inGroups(prepared)) {
    const finished = await Promise.allSettled(group.map((each) => finish(session, at, each, batch)));
    // Of the store alone: a call's own failure is a result.
    for (const outcome of finished) if (outcome.status === 'rejected') throw outcome.reason;
  }
  // The results say that it moved, so it moves, whatever becomes of the turn.
  await session.applyMove();
  if (batch.fatal !== undefined) throw batch.fatal;
  at.signal.throwIfAborted();
  countCuts(session, calls, batch.results);
  return batch.results;
};

/** Throws CUT_OFF when the model goes on with calls that are too long for a reply. */
const countCuts = ({ tally }: Session, calls: readonly CallBlock[], results: readonly ToolResult[]): void => {
  const cut = results.some(({ status }) => status === 'error') ? calls.find((call) => isUnfinished(call.arguments)) : undefined;
  tally.cutCalls = cut ? tally.cutCalls + 1 : 0;
  if (!cut || tally.cutCalls < LIMITS.cutCalls) return;
  throw new CastError('CUT_OFF', `${tally.cutCalls} replies in a row were cut off in the middle of a call of ${cut.tool}`, {
    fix: 'Raise limits.maxOutputTokens, or ask for the work in smaller parts.',
  });
};

interface Batch {
  readonly results: ToolResult[];
  /** What must end the turn once every call has its result. */
  fatal: unknown;
}

/** Calls that only read and stand side by side overlap; every other call has the workspace to itself. */
const inGroups = (prepared: readonly Prepared[]): readonly (readonly Prepared[])[] => {
  const groups: Prepared[][] = [];
  let open: Prepared[] | undefined;
  for (const each of prepared) {
    if (each.overlaps && open) {
      open.push(each);
      continue;
    }
    const group = [each];
    groups.push(group);
    open = each.overlaps ? group : undefined;
  }
  return groups;
};

const finish = async (session: Session, at: StepContext, prepared: Prepared, batch: Batch): Promise<void> => {
  const startedAt = session.clock.now();
  const result = await resultOf(session, at, prepared, batch);
  batch.results.push(result);
  session.tally.toolCalls += 1;
  const { block, name } = prepared;
  await session.append([{ kind: 'message', data: resultMessage(block, result) }]);
  const { status, content, error, view } = result;
  const durationMs = session.clock.now() - startedAt;
  const denied = status === 'denied' && error?.code === 'PERMISSION_DENIED' ? { denied: content } : {};
  session.emit('tool.ended', { id: block.id, tool: name, status, content, durationMs, ...(error ? { error } : {}), ...(view ? { view } : {}), ...denied });
};

const resultOf = async (session: Session, at: StepContext, prepared: Prepared, batch: Batch): Promise<ToolResult> => {
  if ('refused' in prepared) return prepared.refused;
  if (at.signal.aborted) return ABORTED;
  if (batch.fatal !== undefined) return notRun(batch.fatal);
  try {
    return await withGrace(session, at.signal, run(session, prepared));
  } catch (error) {
    batch.fatal ??= error;
    return notRun(error);
  }
};

/** A tool that ignores the signal cannot hold the turn: after the grace its call counts as aborted and a late result is dropped. */
const withGrace = async (session: Session, signal: AbortSignal, task: Promise<ToolResult>): Promise<ToolResult> => {
  const over = new AbortController();
  const grace = untilAborted(signal, new Promise<never>(() => undefined)).catch(() => session.clock.sleep(LIMITS.graceMs, over.signal));
  try {
    return await Promise.race([task, grace.then(() => ABORTED)]);
  } finally {
    grace.catch(() => undefined);
    // A reason of its own: the built-in one is an error with a stack.
    over.abort(null);
  }
};
