/** `/undo` and `/rewind`. */
import { CastError, type CommandContext, messageOf, type Powers, type SessionFace, type Sketch } from '../../kernel/index.ts';
import type { Mark } from './marks.ts';
import { LIMITS } from './limits.ts';
import { changedIn, type Plan, planFor } from './plan.ts';
import type { Points } from './points.ts';
import { type Prompt, promptsOf } from './prompts.ts';
import { removeEmpty, restore } from './restore.ts';
import type { Move } from './unwind.ts';
import { conflictText, type Done, doneText, NOTHING_TO_UNDO, type Part, previewText } from './wording.ts';

export interface Desk {
  readonly session: SessionFace;
  /** Of this session and this branch, oldest first. */
  readonly marks: readonly Mark[];
  readonly points: Points;
  readonly process: Powers['process'];
}

export const undo = async (desk: Desk, at: CommandContext): Promise<string> => {
  for await (const prompt of promptsOf(desk.session)) return goBack(prompt, 'both', desk, at);
  return NOTHING_TO_UNDO;
};

export const rewind = async (args: string, desk: Desk, at: CommandContext): Promise<string | Sketch> => {
  const { turn, part, preview } = parse(args);
  if (turn === undefined) return listOf(desk);
  for await (const prompt of promptsOf(desk.session)) {
    if (prompt.turn !== turn) continue;
    return preview ? previewText(prompt, part, await planOf(turn, desk), desk.session.cwd) : goBack(prompt, part, desk, at);
  }
  throw new CastError('CLI_USAGE', `there is no prompt of turn ${turn} on this branch`, { fix: '/rewind alone lists the prompts.' });
};

const USAGE = '/rewind [TURN] [conversation|files|both] [preview]';
const parse = (args: string): { turn?: number; part: Part; preview: boolean } => {
  const [first, ...rest] = args.trim().split(/\s+/).filter(Boolean);
  if (first === undefined) return { part: 'both', preview: false };
  const preview = rest.at(-1) === 'preview';
  const [part = 'both', ...more] = preview ? rest.slice(0, -1) : rest;
  const isPart = part === 'conversation' || part === 'files' || part === 'both';
  if (!/^[1-9]\d{0,8}$/.test(first) || !isPart || more.length > 0)
    throw new CastError('CLI_USAGE', `/rewind does not know ${JSON.stringify(args.trim())}`, { fix: USAGE });
  return { turn: Number(first), part, preview };
};

const planOf = (turn: number, { marks, points, process }: Desk): Promise<Plan> =>
  planFor(
    marks.filter((mark) => mark.turn >= turn),
    points,
    process,
  );

const listOf = async ({ session, marks, points }: Desk): Promise<string | Sketch> => {
  const prompts: Prompt[] = [];
  for await (const prompt of promptsOf(session)) {
    prompts.push(prompt);
    if (prompts.length === LIMITS.prompts) break;
  }
  if (prompts.length === 0) return NOTHING_TO_UNDO;
  const rows = await Promise.all(
    prompts.toReversed().map(async ({ turn, text }) => {
      const mark = marks.find((each) => each.turn === turn);
      const files = mark ? await changedIn(mark.point, points) : 0;
      const line = text.replace(/\s+/g, ' ').trim();
      const shown = line.length > LIMITS.promptChars ? `${line.slice(0, LIMITS.promptChars).replace(/\p{Surrogate}$/u, '')}…` : line;
      return {
        cells: [String(turn), shown, files === 0 ? '' : `${files} ${files === 1 ? 'file' : 'files'}`],
        actions: [
          { label: 'Preview', command: `/rewind ${turn} preview` },
          { label: 'Both', command: `/rewind ${turn}` },
          { label: 'Conversation', command: `/rewind ${turn} conversation` },
          { label: 'Files', command: `/rewind ${turn} files` },
        ],
      };
    }),
  );
  return { kind: 'table', head: ['Turn', 'Prompt', 'Changed'], rows };
};

/** Files first: while they are not back, the conversation still says what was done to them. */
const goBack = async (prompt: Prompt, part: Part, desk: Desk, at: CommandContext): Promise<string> => {
  const plan = part === 'conversation' ? undefined : await planOf(prompt.turn, desk);
  const done = plan && (await move(plan, at, desk));
  at.signal.throwIfAborted();
  const failure = part === 'files' ? undefined : await at.rewind({ turn: prompt.turn }).then(() => undefined, messageOf);
  return doneText({ prompt, part, cwd: desk.session.cwd, ...(done ? { done } : {}), ...(failure === undefined ? {} : { failure }) });
};

const move = async (plan: Plan, at: CommandContext, desk: Desk): Promise<Done> => {
  const conflicts = plan.moves.filter((each) => each.kind === 'conflict');
  const isForced = conflicts.some(({ to }) => to) && (await mayOverwrite(conflicts, at, desk));
  at.signal.throwIfAborted();
  const done: { restored: Move[]; failed: { path: string; why: string }[]; left: Move[] } = { restored: [], failed: [], left: [] };
  for (const each of plan.moves) {
    if (each.kind === 'same') continue;
    if (each.kind === 'conflict' && (!isForced || !each.to)) {
      done.left.push(each);
      continue;
    }
    const why = each.to && (await restore(each.path, each.now, each.to));
    if (why === undefined) done.restored.push(each);
    else done.failed.push({ path: each.path, why });
  }
  await removeEmpty(plan.folders);
  return { ...done, untracked: plan.untracked, gone: plan.gone };
};

const mayOverwrite = async (conflicts: readonly Move[], at: CommandContext, { session }: Desk): Promise<boolean> => {
  const answer = await at.ask({
    text: conflictText(conflicts, session.cwd),
    choices: [
      { value: 'keep', label: 'Leave these files as they are' },
      { value: 'overwrite', label: 'Overwrite them: what is there now is lost' },
    ],
  });
  return answer === 'overwrite';
};
