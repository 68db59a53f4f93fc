/** A session with a person whose model calls what the test says, one call a turn. */
import { createTestSession, say, use, type Beat, type TestSession, type TestSessionOptions } from '../../../kernel/testkit/index.ts';
import { definePlugin, type EventMap } from '../../../kernel/index.ts';
import bash from '../../../plugins/bash/index.ts';
import type { ShellLimits } from '../../../plugins/bash/limits.ts';
import shell from '../../../plugins/shell/index.ts';

export type Ended = EventMap['tool.ended'];
export interface BashSession extends AsyncDisposable {
  readonly session: TestSession;
  /** What comes of one call, with a turn of its own. */
  call(tool: string, input: object): Promise<Ended>;
  /** What the model does next, in place of saying that all is well. */
  plan(...beats: readonly Beat[]): void;
  /** What the model has been told without having asked. */
  notices(): readonly string[];
}

/** `/renew` makes a new generation. */
const renewer = definePlugin({
  name: 'renewer',
  apply: ({ registries }) => void registries.commands.add({ name: 'renew', summary: 'renew', run: (_, at) => at.renew() }),
});

const TURNS = 100;

export const openBash = async (limits: Partial<ShellLimits> = {}, options: TestSessionOptions = {}): Promise<BashSession> => {
  const next: Beat[] = [];
  const beat: Beat = (request, signal) => (next.shift() ?? say('ok'))(request, signal);
  const session = await createTestSession({
    plugins: [shell, bash.with(limits), renewer],
    interactive: true,
    script: Array.from({ length: TURNS }, () => beat),
    ...options,
  });
  return {
    session,
    call: async (tool, input) => {
      next.push(use(tool, input));
      const before = session.events('tool.ended').length;
      await session.run('go');
      const ended = session.events('tool.ended')[before];
      if (!ended) throw new Error('nothing was called');
      return ended;
    },
    plan: (...beats) => void next.push(...beats),
    notices: () => session.events('input.accepted').flatMap(({ origin, text }) => (origin === 'bash' ? [text] : [])),
    [Symbol.asyncDispose]: () => session.close(),
  };
};
