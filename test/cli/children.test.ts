/** Child sessions in whole processes: a plugin of a project hands work over. */
import { expect, test } from 'vitest';
import { call, say, type Received, type Reply } from '../provider.ts';
import { useCommand } from './command.ts';
import { linesOf, start, type Outcome } from './program.ts';

const { program, respond, project } = useCommand();

const DELEGATE = `import { definePlugin, defineTool, ToolError, z } from 'cast';
export default {
  plugins: {
    delegate: definePlugin({
      capabilities: ['children'],
      activation: ['session'],
      apply({ registries, powers }) {
        registries.tools.add(
          defineTool({
            name: 'task',
            description: 'Hands work to another agent.',
            input: z.object({ prompt: z.string(), maxSteps: z.number().optional() }),
            effect: 'exec',
            run: async (order, { signal }) => {
              const end = await powers.children.run({ ...order, label: 'worker' }, signal);
              if (end.error) throw new ToolError('UNAVAILABLE', end.error.code + ': ' + end.error.message + ' It said: ' + end.text);
              return end.text;
            },
          }),
        );
      },
    }),
  },
};
`;
const promptOf = ({ body }: Received): string => {
  const texts = body.messages.flatMap(({ role, content }) => (role === 'user' && typeof content === 'string' ? [content] : []));
  return texts.findLast((text) => !text.startsWith('<')) ?? '';
};
const resultsOf = ({ body }: Received): readonly string[] => body.messages.flatMap(({ role, content }) => (role === 'tool' ? [String(content)] : []));

/** The person's session hands `child work` over and then says what came of it; `child` answers for the child. */
const run = async (
  child: (request: Received) => Reply,
  format: string,
  input: object = {},
): Promise<{ readonly outcome: Outcome; readonly requests: readonly Received[] }> => {
  const provider = await respond((request) => {
    if (promptOf(request) === 'child work') return child(request);
    return resultsOf(request).length === 0 ? call('task', { prompt: 'child work', ...input }) : say('The parent goes on.');
  });
  const place = project({ 'cast.config.ts': DELEGATE });
  const outcome = await start(['run', '--trust', '--allow', 'task', '--format', format, 'go'], { program: program(), place, provider, limitMs: 60_000 }).done;
  return { outcome, requests: provider.requests };
};
interface Result {
  readonly result: string;
  readonly reason: string;
  readonly usage: { readonly promptTokens: number };
  readonly permissionDenials: readonly unknown[];
}
const resultOf = ({ stdout }: Outcome): Result => JSON.parse(stdout) as Result;

test('B020: one-shot: a command of a child that needs a yes is denied at once, and listed', async () => {
  const child = (request: Received): Reply => (resultsOf(request).length === 0 ? call('bash', { command: 'rm -rf build' }) : say('I may not.'));
  const { outcome, requests } = await run(child, 'json');
  expect(outcome.code, outcome.stderr).toBe(0);
  expect(resultOf(outcome)).toMatchObject({
    result: 'The parent goes on.',
    permissionDenials: [{ tool: 'bash', reason: expect.stringContaining('rm with -r or -f') }],
  });
  expect(resultsOf(requests[2] as Received)[0]).toContain('dangerous pattern (rm with -r or -f)');
  expect(resultsOf(requests.at(-1) as Received)).toEqual(['I may not.']);
});

test('B020: one-shot: the record stream tells the refusal once', async () => {
  const child = (request: Received): Reply => (resultsOf(request).length === 0 ? call('bash', { command: 'rm -rf build' }) : say('I may not.'));
  const { outcome } = await run(child, 'stream-json');
  expect(linesOf(outcome).filter(({ type }) => type === 'permission')).toMatchObject([{ tool: 'bash', answer: 'reject' }]);
});

test.each<[string, (request: Received) => Reply, object, RegExp]>([
  ['its provider fails for ever', () => ({ status: 500, error: 'boom', headers: { 'retry-after-ms': '10' } }), {}, /boom/],
  ['it stops without a word', () => say(''), {}, /EMPTY_REPLY/],
  [
    'it reaches its cap of steps',
    (request) => call('glob', { pattern: `*${resultsOf(request).length}` }, { text: 'Still looking.' }),
    { maxSteps: 2 },
    /TURN_LIMIT: .*Still looking\./,
  ],
])('B021: %s: the result is an error that says so, its usage counts, the parent goes on', async (_, child, input, reason) => {
  const { outcome, requests } = await run(child, 'stream-json', input);
  expect(outcome.code, outcome.stderr).toBe(0);
  const lines = linesOf(outcome);
  expect(lines.filter(({ type }) => type === 'tool_end')).toMatchObject([{ name: 'task', status: 'error', result: expect.stringMatching(reason) }]);
  expect(resultsOf(requests.at(-1) as Received)[0]).toMatch(reason);
  expect(lines.at(-1)).toMatchObject({ type: 'end', reason: 'stop' });
  const told = lines.filter(({ type, subagent }) => type === 'usage' && subagent !== undefined);
  const childs = requests.filter((request) => promptOf(request) === 'child work').length;
  expect(told).toHaveLength(/boom/.test(reason.source) ? 0 : childs);
});

test('B021: what a child used is in the totals, and once', async () => {
  const { outcome } = await run(() => say('done'), 'stream-json');
  const used = linesOf(outcome).flatMap(({ type, usage, subagent }) =>
    type === 'usage' ? [{ child: subagent !== undefined, usage: usage as { totalTokens: number } }] : [],
  );
  expect(used.map(({ child }) => child)).toEqual([false, true, false]);
  const { outcome: asJson } = await run(() => say('done'), 'json');
  expect((resultOf(asJson).usage as unknown as { totalTokens: number }).totalTokens).toBe(used.reduce((sum, { usage }) => sum + usage.totalTokens, 0));
  expect(used.every(({ usage }) => usage.totalTokens > 0)).toBe(true);
  const provider = await respond((request) =>
    promptOf(request) === 'child work' ? say('done') : resultsOf(request).length === 0 ? call('task', { prompt: 'child work' }) : say('over'),
  );
  const place = project({ 'cast.config.ts': DELEGATE });
  await start(['run', '--trust', '--allow', 'task', 'go'], { program: program(), place, provider }).done;
  const report = await start(['usage', '--json'], { program: program(), place }).done;
  const { total } = JSON.parse(report.stdout) as { total: { totalTokens: number; subagentTokens: number } };
  const each = used.map(({ usage }) => usage.totalTokens);
  expect(total).toMatchObject({ subagentTokens: each[1], totalTokens: each.reduce((sum, one) => sum + one, 0) });
});

test('an interrupt ends the child with its parent: nothing is sent any more', async () => {
  const provider = await respond((request) => (promptOf(request) === 'child work' ? { hangs: true } : call('task', { prompt: 'child work' })));
  const place = project({ 'cast.config.ts': DELEGATE });
  const running = start(['run', '--trust', '--allow', 'task', '--format', 'stream-json', 'go'], { program: program(), place, provider });
  const end = performance.now() + 15_000;
  while (provider.requests.length < 2 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 20));
  const sentAt = performance.now();
  running.child.kill('SIGINT');
  const outcome = await running.done;
  expect([outcome.code, provider.requests.length]).toEqual([130, 2]);
  expect(performance.now() - sentAt).toBeLessThan(5_000);
  expect(linesOf(outcome).at(-1)).toMatchObject({ type: 'end', reason: 'aborted' });
});

/** Asks a child, and the model itself, at the end of each turn. */
const AT_THE_END = DELEGATE.replace("['children']", "['children', 'model']")
  .replace(
    'apply({ registries, powers }) {',
    `apply({ registries, powers, hooks, session }) {
        let isBehind = false;
        hooks.settle.tap('look back', { budgetMs: 60_000 }, async (end, { signal }) => {
          if (session.parent || isBehind) return;
          isBehind = true;
          const { text } = await powers.children.run({ prompt: 'child work', label: 'behind' }, signal);
          const asked = await powers.model.ask({ purpose: 'summary', prompt: 'in the end' }, signal);
          return { continue: text + ' ' + asked.text };
        });`,
  )
  .replace('const end = await', "await powers.model.ask({ purpose: 'summary', prompt: 'in the body' }, signal);\n              const end = await");

test.each([
  ['handed over by a tool', DELEGATE],
  ['handed over by a tap, with questions to the model here and there', AT_THE_END],
])('a recorded run with work %s is played back without a difference, and nobody is asked', async (_, plugin) => {
  let number = 0;
  const provider = await respond((request) => {
    const prompt = promptOf(request);
    if (prompt === 'child work' || prompt.startsWith('in the')) return say(`${prompt}, number ${(number += 1)}`);
    return resultsOf(request).length === 0 ? call('task', { prompt: 'child work' }) : say('The parent goes on.');
  });
  const place = project({ 'cast.config.ts': plugin });
  const recorded = await start(['record', 'run.json', '--trust', '--allow', 'task', 'go'], { program: program(), place, provider }).done;
  expect(recorded.code, recorded.stderr).toBe(0);
  const asked = provider.requests.length;
  expect(asked).toBe(plugin === DELEGATE ? 3 : 7);
  const played = await start(['replay', '--trust', 'run.json'], { program: program(), place, provider }).done;
  expect([played.code, played.stdout + played.stderr]).toEqual([0, expect.any(String)]);
  expect(provider.requests).toHaveLength(asked);
});
