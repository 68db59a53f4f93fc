/** One call: offered, parsed, rewritten, checked; then judged, asked about when need be, run, reviewed. */
import type { CallBlock, ToolErrorCode } from '../data.ts';
import { isCastError, messageOf } from '../errors.ts';
import { canonicalPath } from '../paths.ts';
import type { GatheredAsk } from '../hooks/hook-set.ts';
import { runAs } from '../hooks/running.ts';
import type { Question, StepContext, ToolCall, ToolResult } from '../hooks/subjects.ts';
import type { Tool } from '../plugin.ts';
import type { Session } from '../session/session.ts';
import { checkArguments, parseArguments } from './arguments.ts';
import type { ToolOffer } from './offer.ts';

/** What taps get, and where votes to ask are gathered. */
type Draft = ToolCall & { readonly asks: GatheredAsk[] };

export type Prepared = {
  readonly block: CallBlock;
  /** Arguments as events show them: the object, or the raw text when it was none. */
  readonly shown: unknown;
  readonly overlaps: boolean;
} & ({ readonly refused: ToolResult } | { readonly tool: Tool; readonly from: string; readonly draft: Draft });

export const ABORTED: ToolResult = {
  content: '[ABORTED] The call was stopped before it finished.',
  status: 'aborted',
  error: { code: 'ABORTED', retryable: false },
};

export const prepare = async (session: Session, at: StepContext, block: CallBlock, offer: ToolOffer): Promise<Prepared> => {
  const parsed = parseArguments(block.arguments);
  const shown = 'input' in parsed ? parsed.input : block.arguments;
  const refused = (result: ToolResult): Prepared => ({ block, shown, overlaps: true, refused: result });
  const owned = offer.find(block.tool);
  if (!owned) return refused(unknownTool(offer, block.tool));
  if (!('input' in parsed)) return refused({ content: parsed.problem, status: 'error', error: parsed.error });
  const checked = await checkArguments(owned.item, parsed.input);
  if (!('input' in checked)) return refused({ content: checked.problem, status: 'error', error: checked.error });
  try {
    const first = await draftOf(session, at, block, owned.item, checked.input);
    const changed = await session.hooks.waterfall('call', first, undefined);
    if (changed.input === first.input) return { block, shown, overlaps: overlaps(owned.item, first), tool: owned.item, from: owned.from, draft: first };
    const again = await checkArguments(owned.item, changed.input);
    if (!('input' in again)) return refused({ content: again.problem, status: 'error', error: again.error });
    const draft = await draftOf(session, at, block, owned.item, again.input);
    return { block, shown: again.input, overlaps: overlaps(owned.item, draft), tool: owned.item, from: owned.from, draft };
  } catch (error) {
    return refused(fault(at.signal, error));
  }
};

const overlaps = (tool: Tool, draft: Draft): boolean => draft.effect === 'read' && !tool.exclusive;

const draftOf = async (session: Session, at: StepContext, block: CallBlock, tool: Tool, input: Readonly<Record<string, unknown>>): Promise<Draft> => ({
  ...at,
  id: block.id,
  tool: tool.name,
  effect: tool.effectOf(input as never),
  input,
  cwd: session.cwd,
  paths: await Promise.all(tool.paths(input as never).map((path) => canonicalPath(path, session.cwd))),
  progress: (text) => session.emit('tool.progress', { id: block.id, text }),
  asks: [],
});

/** Never throws but for what must end the turn: a closed guard that nobody can decide about. */
export const run = async (session: Session, prepared: Prepared): Promise<ToolResult> => {
  if ('refused' in prepared) return prepared.refused;
  const { signal } = prepared.draft;
  try {
    return await judgeAndRun(session, prepared.tool, prepared.from, prepared.draft);
  } catch (error) {
    return fault(signal, error);
  }
};

const judgeAndRun = async (session: Session, tool: Tool, from: string, draft: Draft): Promise<ToolResult> => {
  draft.signal.throwIfAborted();
  const vote = (await session.hooks.bail('gate', draft, undefined)) as { deny: string; endsTurn?: boolean; code?: string; by: string } | undefined;
  if (vote) return denied(vote.deny, vote.code, vote.endsTurn);
  const refusal = await askAbout(session, draft);
  if (refusal !== undefined) return denied(refusal);
  if (draft.effect !== 'read') await session.append([{ kind: 'started', data: { call: draft.id, tool: draft.tool } }]);
  const answer = await runAs({ plugin: from, where: 'tool', label: tool.name }, () => tool.run(draft.input as never, draft));
  const result = completed(answer);
  const reviewed = result.status === 'denied' || result.status === 'aborted' ? result : await session.hooks.waterfall('result', result, draft);
  return withNotes(reviewed);
};

/** The reason when it may not run; undefined when it may. */
const askAbout = async (session: Session, draft: Draft): Promise<string | undefined> => {
  if (draft.asks.length === 0) return undefined;
  // A remembered yes must cover all that was asked: one wish without a rule, and only this once can be said.
  const known = draft.asks.flatMap((ask) => (ask.rule === undefined ? [] : [ask.rule]));
  const rules = known.length === draft.asks.length ? known : [];
  const choices = [
    { value: 'once', label: 'Yes, this once' },
    ...(rules.length === 0
      ? []
      : [
          { value: 'session', label: `Yes, and ${rules.join(', ')} for this session` },
          { value: 'project', label: `Yes, and ${rules.join(', ')} always in this project` },
        ]),
    { value: 'reject', label: 'No' },
  ];
  const question: Omit<Question, 'id'> = {
    kind: 'tool',
    text: draft.asks.map((ask) => ask.text).join('\n'),
    choices,
    rules,
    call: { id: draft.id, tool: draft.tool, input: draft.input },
  };
  const answer = await session.broker.ask(question, draft);
  if (answer.choice !== 'reject') return undefined;
  const who = answer.by === 'nobody' ? 'It needs a yes from a person, and nobody can be asked here.' : `It was not allowed by ${answer.by}.`;
  return `${question.text}\n${who} Go on without it, or say what you would have done.`;
};

const completed = (answer: string | Partial<ToolResult>): ToolResult => {
  if (typeof answer === 'string') return { content: answer, status: 'ok' };
  if (typeof answer !== 'object' || answer === null || (answer.content !== undefined && typeof answer.content !== 'string')) {
    return { content: 'The tool answered with something that is no result.', status: 'error', error: { code: 'INTERNAL_ERROR', retryable: false } };
  }
  const result = { status: 'ok', ...answer, content: answer.content ?? '' } as const;
  return result.status === 'ok' || result.error
    ? result
    : { ...result, error: { code: result.status === 'aborted' ? 'ABORTED' : inferCode(result.content), retryable: false } };
};

/** Notes come behind the content, so that its truncation cannot take them away. */
const withNotes = (result: ToolResult): ToolResult => {
  if (!result.notes || result.notes.length === 0) return result;
  const lines = result.notes.map((note) => `${note.path}${note.line === undefined ? '' : `:${note.line}`}: ${note.text}`);
  return { ...result, content: `${result.content}\n\n${lines.join('\n')}` };
};

const denied = (reason: string, code: ToolErrorCode = 'PERMISSION_DENIED', endsTurn?: boolean): ToolResult => ({
  content: reason,
  status: 'denied',
  error: { code, retryable: false },
  ...(endsTurn ? { endsTurn } : {}),
});
const unknownTool = (offer: ToolOffer, name: string): ToolResult => {
  const isWithheld = offer.isWithheld(name);
  return {
    content: offer.explain(name),
    status: isWithheld ? 'denied' : 'error',
    error: { code: isWithheld ? 'UNAVAILABLE' : 'INVALID_ARGUMENT', retryable: false },
  };
};

const fault = (signal: AbortSignal, error: unknown): ToolResult => {
  if (isCastError(error) && error.code === 'PLUGIN_QUARANTINED') throw error;
  if (isCastError(error) && (error.code === 'STORE_LEASE_LOST' || error.code === 'STORE_UNAVAILABLE')) throw error;
  if (signal.aborted) return ABORTED;
  const content = messageOf(error);
  // A guard that failed has not allowed anything.
  if (isCastError(error) && error.code === 'HOOK_FAULT') return denied(`${content}. What a faulty guard looks after is refused.`);
  return { content, status: 'error', error: { code: inferCode(content), retryable: false } };
};

const WORDINGS: readonly (readonly [ToolErrorCode, RegExp])[] = [
  ['ABORTED', /\[aborted\]|cancelled|interrupted/i],
  ['TIMEOUT', /time(d )?out/i],
  ['PERMISSION_DENIED', /permission denied|not permitted|blocked by|EACCES|EPERM/i],
  ['NOT_FOUND', /not found|no such|ENOENT/i],
  ['INVALID_ARGUMENT', /required|invalid|must be/i],
  ['UNAVAILABLE', /not available|not configured/i],
  ['CONFLICT', /conflict|already exists/i],
  ['EXTERNAL_ERROR', /fetch|network|ECONN/i],
];
/** For tools that throw or fail without a code of their own. */
const inferCode = (content: string): ToolErrorCode => WORDINGS.find(([, wording]) => wording.test(content))?.[0] ?? 'INTERNAL_ERROR';
