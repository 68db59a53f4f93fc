import { messageOf, ToolError } from '../../kernel/index.ts';
import type { Desk } from './place.ts';
import { type Engine, EngineBlocked, EngineMissing } from './query.ts';

/** Searches with ripgrep, or without it where it cannot be started and the options allow, or cannot get past a pipe in the place of a file of rules. */
export const withEngine = async <T>(desk: Desk, search: (engine: Engine) => Promise<T>): Promise<T> => {
  if (desk.engine !== 'walk') {
    try {
      return await search((await import('./ripgrep.ts')).ripgrep(desk));
    } catch (error) {
      // An abort is no missing engine, so it never leads to a second try.
      if (!(error instanceof EngineMissing || error instanceof EngineBlocked)) throw error;
      if (desk.engine === 'ripgrep' && error instanceof EngineMissing)
        throw new ToolError('UNAVAILABLE', `ripgrep cannot be started: ${messageOf(error)}`, {
          fix: 'Set the option `engine` of the plugin search to `auto`.',
        });
    }
  }
  return search((await import('./walk.ts')).walk(desk));
};
