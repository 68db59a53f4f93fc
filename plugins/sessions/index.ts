import { CastError, type Command, definePlugin } from '../../kernel/index.ts';
import { manifest } from './manifest.ts';

/** Where a surface can go to another session: a single run cannot. */
const SURFACES: NonNullable<Command['surfaces']> = ['tui', 'web', 'acp'];

export default definePlugin({
  ...manifest,
  apply({ registries, powers, session }) {
    const summaryOf = (name: string): string => manifest.commands.find((command) => command.name === name)?.summary ?? '';
    const add = (name: string, run: Command['run'], surfaces?: Command['surfaces']): void =>
      void registries.commands.add({ name, summary: summaryOf(name), run: refusingArgs(name, run), ...(surfaces ? { surfaces } : {}) });

    add('new', (_, at) => at.goTo(null), SURFACES);
    add(
      'continue',
      async (_, at) => {
        // One more than is needed: this one may be the newest itself.
        const newest = await powers.sessions.list({ root: session.root, kind: 'conversation', limit: 2 });
        const other = newest.find(({ id }) => id !== session.id);
        if (!other) return 'There is no other session of this project.';
        at.goTo(other.id);
        return `Going on with: ${other.title || other.id}`;
      },
      SURFACES,
    );
    add(
      'fork',
      async (_, at) => {
        const id = await at.fork();
        at.goTo(id);
        return `This is a copy; the session it comes from stays as it was (${session.id}).`;
      },
      SURFACES,
    );
    add('clear', async (_, at) => {
      if (session.view().length === 0) return 'There is nothing to clear.';
      await at.rewind('start');
      return 'The context of the model is empty. What was said is kept, and found by its words.';
    });
  },
});

const refusingArgs =
  (name: string, run: Command['run']): Command['run'] =>
  (args, at) => {
    if (args.trim() !== '') throw new CastError('CLI_USAGE', `/${name} takes no arguments`, { fix: `Give /${name} alone.` });
    return run(args, at);
  };
