/** Sessions on a Chat Completions server that refuses what strict hosts refuse, and whatever does not fit into its window. */
import { definePlugin, defineTool, jsonSchema, type Plugin } from '../../../kernel/index.ts';
import { createTestSession, type TestSession, type TestSessionOptions } from '../../../kernel/testkit/index.ts';
import compaction from '../../../plugins/compaction/index.ts';
import providers from '../../../plugins/providers/index.ts';
import usage from '../../../plugins/usage/index.ts';
import { type Asked, begin, CALLS, delta, DONE, frame, type Play, refuse, startStrictServer, STOP, toolCall } from '../../cli/providers/strict-server.ts';

export const isSummary = ({ body }: Pick<Asked, 'body'>): boolean => String(body.messages[0]?.content).startsWith('You write the notes');
/** As hosts count: what is estimated is another number. */
export const tokensOf = ({ body }: Pick<Asked, 'body'>): number => Math.ceil(JSON.stringify([body.messages, body['tools'] ?? []]).length / 4);
export const textsOf = ({ body }: Pick<Asked, 'body'>): string =>
  body.messages.map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content ?? ''))).join('\n');

/** What the model does at its request of this number, from 1: calls, a text, or whatever a server may do. */
export type Script = (number: number, asked: Asked) => readonly [tool: string, input: object][] | string | Play;

export interface Stage extends AsyncDisposable {
  readonly session: TestSession;
  readonly asked: readonly Asked[];
  main(): readonly Asked[];
  summaries(): readonly Asked[];
}
export interface StageOptions {
  readonly window: number;
  readonly script: Script;
  /** Default: a short summary. */
  readonly summary?: Play;
  /** Whether the server says how many tokens there were. Default: yes. */
  readonly counts?: boolean;
  readonly plugins?: readonly Plugin[];
  readonly options?: Parameters<(typeof compaction)['with']>[0];
  readonly more?: Partial<TestSessionOptions>;
}

export const SUMMARY = '## Goal\nThe task, as the user put it.\n## Progress\n### Done\nSome steps.';

export const openStage = async ({ window, script, summary, counts = true, plugins = [], options = {}, more = {} }: StageOptions): Promise<Stage> => {
  let [number, calls] = [0, 0];
  const counted = (asked: Asked): string =>
    counts ? frame({ choices: [], usage: { prompt_tokens: tokensOf(asked), completion_tokens: 20, total_tokens: tokensOf(asked) + 20 } }) : '';
  const play: Play = (reply, asked, request) => {
    if (isSummary(asked))
      return (summary ?? ((to) => begin(to).end(delta({ content: SUMMARY }) + delta({}, 'stop') + counted(asked) + DONE)))(reply, asked, request);
    number += 1;
    const said = script(number, asked);
    if (typeof said === 'function') return said(reply, asked, request);
    if (typeof said === 'string') return begin(reply).end(delta({ content: said }) + delta({}, 'stop') + counted(asked) + DONE);
    const wanted = said.map(([tool, input], index) => toolCall(`call_${++calls}`, tool, input, index));
    return begin(reply).end(delta({ tool_calls: wanted }) + delta({}, 'tool_calls') + counted(asked) + DONE);
  };
  const tooLong = (asked: Asked): string | undefined =>
    tokensOf(asked) > window
      ? `This model's maximum context length is ${window} tokens. However, your messages resulted in ${tokensOf(asked)} tokens.`
      : undefined;
  const server = await startStrictServer([play], tooLong);
  const session = await createTestSession({
    plugins: [compaction.with(options), providers, usage, dump, ...plugins] as never,
    config: { provider: 'here', model: 'm', providers: { here: { baseUrl: server.url, key: '' } }, limits: { contextWindow: window } },
    ...more,
  });
  return {
    session,
    asked: server.asked,
    main: () => server.asked.filter((each) => !isSummary(each)),
    summaries: () => server.asked.filter(isSummary),
    [Symbol.asyncDispose]: async () => {
      await session.close();
      await server.close();
    },
  };
};

const dump = definePlugin({
  name: 'dump',
  apply: ({ registries }) =>
    void registries.tools.add(
      defineTool({
        name: 'dump',
        description: 'Answers with this many characters.',
        effect: 'read',
        input: jsonSchema<{ size: number; mark?: string }>({ type: 'object' }),
        run: async ({ size, mark = 'x' }) => `${mark} `.repeat(Math.ceil(size / (mark.length + 1))).slice(0, size),
      }),
    ),
});

export { CALLS, refuse, STOP };
