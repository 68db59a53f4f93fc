/** The command with a chain of two real servers. */
import { describe, expect, test } from 'vitest';
import { call, say, type Reply, type TestProvider } from '../provider.ts';
import { useCommand } from './command.ts';
import { linesOf, streamFaults } from './program.ts';

const { provide, project, cast } = useCommand();

const chainOf = (first: TestProvider, second: TestProvider, options: object = {}): Readonly<Record<string, string>> => ({
  '~/settings.json': JSON.stringify({
    provider: 'first',
    model: 'big',
    providers: { first: { baseUrl: first.url }, second: { baseUrl: second.url } },
    fallback: ['second/small'],
    plugins: { fallback: options },
  }),
});

interface Case {
  readonly name: string;
  readonly reply: Reply;
  readonly cause: RegExp;
  readonly options?: object;
}
const QUOTA: Reply = { status: 429, error: 'You exceeded your current quota' };
const LIMITED: Reply = { status: 429, error: 'slow down', headers: { 'retry-after': '86400' } };
const DOWN: Reply = { status: 503, error: 'out of order' };

describe.each<Case>([
  { name: 'the quota is used up', reply: QUOTA, cause: /for 60 min: .*no quota or credit left/ },
  { name: 'it is limited for a day', reply: LIMITED, cause: /for 24 h: .*limits the rate of requests/ },
  { name: 'it is down', reply: DOWN, cause: /for 2 min: .*overloaded or failing \(HTTP 503\)/, options: { patienceMs: 0 } },
])('$name', ({ reply, cause, options }) => {
  test('the second answers, and one line says why', async () => {
    const [first, second] = [await provide(reply), await provide(say('The answer.'))];
    const run = await cast(['run', 'go'], { place: project(chainOf(first, second, options)), env: { CAST_API_KEY: 'k' } });
    expect(run).toMatchObject({ code: 0, stdout: 'The answer.\n' });
    const lines = run.stderr.trimEnd().split('\n');
    expect(lines).toEqual([expect.stringMatching(/^ {2}retry \d at once: second\/small takes over from first\/big/)]);
    expect(lines[0]).toMatch(cause);
    expect([second.requests[0]?.body.model, second.requests.length]).toEqual(['small', 1]);
  });
});

test('in the middle of a turn: the tool runs once, and usage is told by model', async () => {
  const [first, second] = [await provide(call('bash', { command: 'echo once >> log; cat log' }), QUOTA), await provide(say('Done.'))];
  const run = await cast(['run', '--format', 'stream-json', 'go'], { place: project(chainOf(first, second)), env: { CAST_API_KEY: 'k' } });
  expect([run.code, streamFaults(run)]).toEqual([0, []]);
  const lines = linesOf(run);
  expect(lines.filter(({ type }) => type === 'tool_end')).toMatchObject([{ status: 'ok', result: expect.stringMatching(/^once\s*$/) }]);
  expect(lines.filter(({ type }) => type === 'usage')).toMatchObject([
    { provider: 'first', model: 'big', usage: { totalTokens: 110 } },
    { provider: 'second', model: 'small', usage: { totalTokens: 110 } },
  ]);
  expect(lines.filter(({ type }) => type === 'retry')).toHaveLength(1);
  expect(second.requests[0]?.body.messages.map(({ role }) => role)).toEqual(expect.arrayContaining(['assistant', 'tool']));
  expect(lines[0]).toMatchObject({ type: 'session', model: 'big' });
});

test('an unknown provider in the chain is named on standard error', async () => {
  const [first, second] = [await provide(say('ok')), await provide(say('no'))];
  const files = chainOf(first, second)['~/settings.json']?.replace('second/small', 'secnd/small') ?? '';
  const run = await cast(['run', 'go'], { place: project({ '~/settings.json': files }), env: { CAST_API_KEY: 'k' } });
  expect([run.code, run.stdout]).toEqual([0, 'ok\n']);
  expect(run.stderr).toMatch(/^warning: fallback\[0\] \(.*settings\.json\) is left out: there is no provider secnd; known: first, second\./);
});
