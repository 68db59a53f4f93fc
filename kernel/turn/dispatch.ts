/** Runs one batch of calls: exactly one result for each, stored as it comes, given back in the order issued. */
import type { ToolOffer } from '../call/offer.ts';
import { ABORTED } from '../call/outcome.ts';
import { prepare, type Prepared } from '../call/prepare.ts';
import { run } from '../call/run.ts';
import type { CallBlock } from '../data.ts';
import type { StepContext, ToolResult } from '../hooks/subjects.ts';
import { LIMITS } from '../limits.ts';
import type { Session } from '../session/session.ts';

export const dispatch = async (session: Session, at: StepContext, calls: readonly CallBlock[], offer: ToolOffer): Promise<readonly ToolResult[]> => {
  const prepared: Prepared[] = [];
  // One after the other, so that taps see the calls in the order issued, before any of them runs.
  for (const call of calls) prepared.push(await prepare(session, at, call, offer));
  for (const each of prepared) session.emit('tool.started', { id: each.block.id, tool: each.block.tool, input: each.shown });
  const results: ToolResult[] = [];
  for (const group of inGroups(prepared)) results.push(...(await Promise.all(group.map((each) => finish(session, at, each)))));
  at.signal.throwIfAborted();
  await session.applyMove(at.signal);
  return results;
};

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

const finish = async (session: Session, at: StepContext, prepared: Prepared): Promise<ToolResult> => {
  const startedAt = session.clock.now();
  const { block } = prepared;
  const result = at.signal.aborted && !('refused' in prepared) ? ABORTED : await withGrace(session, at.signal, run(session, prepared));
  session.tally.toolCalls += 1;
  await session.append([{ kind: 'message', data: messageOf(block, result) }]);
  session.emit('tool.ended', {
    id: block.id,
    tool: block.tool,
    status: result.status,
    content: result.content,
    durationMs: session.clock.now() - startedAt,
    ...(result.error ? { error: result.error } : {}),
    ...(result.status === 'denied' && result.error?.code === 'PERMISSION_DENIED' ? { denied: result.content } : {}),
  });
  return result;
};

const messageOf = (block: CallBlock, result: ToolResult) =>
  ({
    role: 'tool',
    origin: 'kernel',
    blocks: [
      {
        type: 'result',
        id: block.id,
        tool: block.tool,
        content: result.content,
        status: result.status,
        ...(result.error ? { error: result.error } : {}),
        ...(result.details === undefined ? {} : { details: result.details }),
      },
      ...(result.images ?? []).map((image) => ({ type: 'image', image, call: block.id }) as const),
    ],
  }) as const;

/** A tool that ignores the signal cannot hold the turn: after the grace its call counts as aborted and a late result is dropped. */
const withGrace = async (session: Session, signal: AbortSignal, task: Promise<ToolResult>): Promise<ToolResult> => {
  let giveUp: (() => void) | undefined;
  const late = new Promise<ToolResult>((resolve) => {
    giveUp = () => void session.clock.sleep(LIMITS.graceMs).then(() => resolve(ABORTED));
    signal.addEventListener('abort', giveUp, { once: true });
  });
  try {
    return await Promise.race([task, late]);
  } finally {
    if (giveUp) signal.removeEventListener('abort', giveUp);
  }
};
