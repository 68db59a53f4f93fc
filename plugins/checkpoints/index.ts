import { definePlugin } from '../../kernel/index.ts';
import type { Checkpoints } from './desk.ts';
import { manifest } from './manifest.ts';
import { MARK, type Mark, MAX_MARKS } from './marks.ts';

export default definePlugin({
  ...manifest,
  apply(scope) {
    const marks = scope.state<readonly Mark[], typeof MARK>({
      name: 'points',
      data: MARK,
      initial: [],
      fold: (all, mark) => [...all, mark].slice(-MAX_MARKS),
      ofRoot: true,
    });
    let loading: Promise<Checkpoints> | undefined;
    const load = (): Promise<Checkpoints> => (loading ??= import('./desk.ts').then(({ createCheckpoints }) => createCheckpoints(scope, marks)));

    scope.hooks.gate.tap('what files were', { stage: 'late' }, (call) => {
      const isHarmless = call.effect === 'read' || (call.effect === 'talk' && call.paths.length === 0);
      return isHarmless ? undefined : { begin: async () => (await load()).begin(call) };
    });
    const [{ summary: undoes }, { summary: rewinds }] = manifest.commands;
    scope.registries.commands.add({
      name: 'undo',
      summary: undoes,
      run: async (_, at) => (await import('./command.ts')).undo((await load()).desk(), at),
    });
    scope.registries.commands.add({
      name: 'rewind',
      summary: rewinds,
      args: '[TURN] [conversation|files|both] [preview]',
      run: async (args, at) => (await import('./command.ts')).rewind(args, (await load()).desk(), at),
    });
  },
});
