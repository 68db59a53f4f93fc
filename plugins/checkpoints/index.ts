import { definePlugin, messageOf, type ToolCall } from '../../kernel/index.ts';
import { manifest } from './manifest.ts';
import { MARK, type Mark, MAX_MARKS } from './marks.ts';

export default definePlugin({
  ...manifest,
  apply(scope) {
    const { session, registries, home, powers } = scope;
    const marks = scope.state<readonly Mark[], typeof MARK>({ name: 'points', data: MARK, initial: [], fold: (all, mark) => [...all, mark].slice(-MAX_MARKS) });
    const own = (): readonly Mark[] => marks.value.filter((mark) => mark.session === session.id);
    const load = async () => {
      const [{ Points }, { Recorder }] = await Promise.all([import('./points.ts'), import('./recorder.ts')]);
      const points = new Points(home, session.id, () => scope.clock.now());
      return { points, recorder: await Recorder.open({ points, process: powers.process, home, now: () => scope.clock.now() }, own()) };
    };
    let loading: ReturnType<typeof load> | undefined;
    const parts = (): ReturnType<typeof load> => (loading ??= load());
    const pointOf = async (turn: number): Promise<string> => {
      const known = own().find((mark) => mark.turn === turn);
      if (known) return known.point;
      const point = scope.ids.next('point');
      await marks.record({ turn, point, session: session.id });
      return point;
    };
    const begin = async (call: ToolCall) => {
      try {
        return await (await parts()).recorder.begin(call, await pointOf(call.turn));
      } catch (error) {
        scope.warn(`What ${call.tool} changes now cannot be taken back by /undo: ${messageOf(error)}`, 'CHECKPOINT_FAILED');
        return async () => undefined;
      }
    };

    scope.hooks.gate.tap('what files were', { stage: 'late' }, (call) => {
      const isHarmless = call.effect === 'read' || (call.effect === 'talk' && call.paths.length === 0);
      return isHarmless ? undefined : { begin: () => begin(call) };
    });

    const open = async () => ({ session, marks: own(), points: (await parts()).points, process: powers.process });
    registries.commands.add({
      name: 'undo',
      summary: 'Takes the last prompt back, with what it changed in files',
      run: async (_, at) => (await import('./command.ts')).undo(await open(), at),
    });
    registries.commands.add({
      name: 'rewind',
      summary: 'Goes back to before an earlier prompt: conversation, files or both',
      args: '[TURN] [conversation|files|both] [preview]',
      run: async (args, at) => (await import('./command.ts')).rewind(args, await open(), at),
    });
  },
});
