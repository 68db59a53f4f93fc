/** What a session's taps and commands work with, made by the first of them. */
import { messageOf, type Scope, type ToolCall, type ToolResult } from '../../kernel/index.ts';
import type { Desk } from './command.ts';
import type { Mark } from './marks.ts';
import { Points } from './points.ts';
import { Recorder } from './recorder.ts';

type Marks = { readonly value: readonly Mark[]; record(mark: Mark): Promise<void> };

export interface Checkpoints {
  /** Keeps what files are before a call; what it answers keeps what they are behind it. */
  begin(call: ToolCall): Promise<(result: ToolResult | undefined) => Promise<void>>;
  desk(): Desk;
}

interface Shared {
  readonly points: Points;
  readonly recorder: Promise<Recorder>;
}

/** What children change is taken back with the turn of the session that a person sees: all of them write to its points. */
export const createCheckpoints = async (scope: Scope<unknown, 'process'>, marks: Marks): Promise<Checkpoints> => {
  const { session, home, powers, clock, host } = scope;
  const root = session.origin?.rootSession ?? session.id;
  const own = (): readonly Mark[] => marks.value.filter((mark) => mark.session === root);
  const all = host.pool('by root session', () => new Map<string, Shared>());
  const open = (): Shared => {
    const points = new Points(home, root, () => clock.now());
    const made = { points, recorder: Recorder.open({ points, home, now: () => clock.now() }, own()) };
    all.set(root, made);
    if (!session.origin) scope.onDispose(() => void all.delete(root));
    return made;
  };
  const shared = all.get(root) ?? open();
  const { points } = shared;
  const recorder = await shared.recorder;
  const pointOf = async (turn: number): Promise<string> => {
    const known = own().find((mark) => mark.turn === turn);
    if (known) return known.point;
    const point = scope.ids.next('point');
    await marks.record({ turn, point, session: root });
    return point;
  };
  return {
    async begin(call) {
      try {
        return await recorder.begin(call, await pointOf(session.origin?.rootTurn ?? call.turn), powers.process);
      } catch (error) {
        scope.warn(`What ${call.tool} changes now cannot be taken back by /undo: ${messageOf(error)}`, 'CHECKPOINT_FAILED');
        return async () => undefined;
      }
    },
    desk: () => ({ session, marks: own(), points, process: powers.process }),
  };
};
