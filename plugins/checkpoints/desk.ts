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

export const createCheckpoints = async (scope: Scope<unknown, 'process'>, marks: Marks): Promise<Checkpoints> => {
  const { session, home, powers, clock } = scope;
  const own = (): readonly Mark[] => marks.value.filter((mark) => mark.session === session.id);
  const points = new Points(home, session.id, () => clock.now());
  const recorder = await Recorder.open({ points, process: powers.process, home, now: () => clock.now() }, own());
  const pointOf = async (turn: number): Promise<string> => {
    const known = own().find((mark) => mark.turn === turn);
    if (known) return known.point;
    const point = scope.ids.next('point');
    await marks.record({ turn, point, session: session.id });
    return point;
  };
  return {
    async begin(call) {
      try {
        return await recorder.begin(call, await pointOf(call.turn));
      } catch (error) {
        scope.warn(`What ${call.tool} changes now cannot be taken back by /undo: ${messageOf(error)}`, 'CHECKPOINT_FAILED');
        return async () => undefined;
      }
    },
    desk: () => ({ session, marks: own(), points, process: powers.process }),
  };
};
